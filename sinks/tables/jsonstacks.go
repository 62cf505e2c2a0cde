package tables

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"io"

	"github.com/symlake/symlake/sinks/internal/answers"
	"github.com/symlake/symlake/sinks/internal/jsonline"
)

// stacks writes a file of NDJSON with a stack in each row.
func (x *records) stacks(ctx context.Context, a *stackAnswerer, w *output) error {
	f, err := x.lines()
	if err != nil {
		return err
	}
	defer f.Close()
	to, end, err := jsonline.Compressed(w, x.in.to)
	if err != nil {
		return err
	}
	out := bufio.NewWriterSize(to, 1<<20)
	if _, err := out.WriteString(f.Mark); err != nil {
		return err
	}
	var waiting [][]byte // lines of the rows that are not answered yet
	var again jsonRow
	var said []byte
	a.emit = func(answer *answers.Answer) error {
		said = x.out.append(said[:0], answer, a.table.list)
		line := waiting[0]
		waiting = waiting[1:]
		w.note(answer, a.table.list)
		return again.extend(out, line, said, x.j.o.Columns, x.j.o.Prefix)
	}
	var row jsonRow
	for {
		line, err := f.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return err
		}
		if jsonline.Blank(line) {
			continue
		}
		line = bytes.Clone(line)
		waiting = append(waiting, line)
		a.bytes += len(line)
		if err := x.stackRow(a, &row, line); err != nil {
			return err
		}
		if len(a.rows) == 0 && a.table.bytes > batchBytes {
			a.table.reset()
		}
	}
	return errors.Join(a.flush(), out.Flush(), end())
}

// stackRow takes a row.
func (x *records) stackRow(a *stackAnswerer, row *jsonRow, line []byte) error {
	if err := row.parse(line, x.j.o.Columns, x.j.o.Prefix); errors.Is(err, errTaken) {
		return err
	} else if err != nil {
		return a.row(stackRow{invalid: err})
	}
	address, artifact := row.raw(RoleAddress), row.raw(RoleArtifact)
	switch {
	case row.pairs != nil:
		return x.pairs(a, row, jsonline.Elements(row.pairs))
	case len(address) > 0 && address[0] == '[':
		addresses, artifacts := jsonline.Elements(address), [][]byte(nil)
		if len(artifact) > 0 && artifact[0] == '[' {
			if artifacts = jsonline.Elements(artifact); len(artifacts) != len(addresses) {
				return a.row(stackRow{invalid: errors.New("the row has not as many artifacts as addresses")})
			}
		}
		var pairs []pair
		for i, raw := range addresses {
			name := jsonline.Text(artifact)
			if artifacts != nil {
				name = jsonline.Text(artifacts[i])
			}
			if err := x.pair(a, row, name, raw, &pairs); err != nil {
				return err
			}
		}
		return a.pairsEnd(pairs)
	case row.raw(RoleStack) != nil && string(row.raw(RoleStack)) != "null":
		return a.text(row.names(row.text(RoleArtifact)), row.text(RoleStack))
	}
	return a.row(stackRow{invalid: errNoStack})
}

// pairs takes a row with an object for each frame.
func (x *records) pairs(a *stackAnswerer, row *jsonRow, list [][]byte) error {
	names := [2]string{x.member(RoleArtifact), x.member(RoleAddress)}
	var pairs []pair
	for _, raw := range list {
		var values [2][]byte
		s := jsonline.Scanner{B: raw}
		if s.Eat('{') {
			for s.Space(); !s.Eat('}'); s.Space() {
				key := s.Key()
				s.Space()
				s.Eat(':')
				s.Space()
				from := s.At
				s.Value()
				for i, name := range names {
					if key == name {
						values[i] = raw[from:s.At]
					}
				}
				s.Space()
				s.Eat(',')
			}
		}
		if err := x.pair(a, row, jsonline.Text(values[0]), values[1], &pairs); err != nil {
			return err
		}
	}
	return a.pairsEnd(pairs)
}

// member is what a role is called inside a pair.
func (x *records) member(r Role) string {
	all := x.j.o.Columns.names(r)
	_, name := cutLast(all[len(all)-1])
	return name
}

func (x *records) pair(a *stackAnswerer, row *jsonRow, artifact string, address []byte, to *[]pair) error {
	return a.pair(row.names(artifact), func(t *target, frame uint64) (uint32, uint64, error) {
		return a.placer.jsonAddress(t, address, frame)
	}, to)
}
