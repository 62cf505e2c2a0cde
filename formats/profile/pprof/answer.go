package pprof

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"io"

	"github.com/symlake/symlake/formats/internal/protobuf"
	"github.com/symlake/symlake/formats/profile"
)

// maxProfiles bounds the profiles of a file: each is reached through those before it.
const maxProfiles = 64

// answer writes a profile with answers, and further profiles behind it.
func answer(ctx context.Context, in *profile.Input, out io.Writer, o *profile.Options) error {
	s := section{in, 0, -1}
	for range maxProfiles {
		behind, err := answerOne(ctx, s, out, o)
		if err != nil || behind == 0 {
			return err
		}
		s.from = behind
	}
	o.Counts.Keep("the file holds more than 64 profiles, and the last stay as they came", place(s.from))
	return copyAll(s, out)
}

// answerOne writes the first profile of a section. It returns where the next one begins; 0: there is none.
func answerOne(ctx context.Context, in section, out io.Writer, o *profile.Options) (behind int64, err error) {
	t, err := readTables(ctx, in, o)
	if err != nil {
		return 0, err
	}
	a := newAsker(t)
	if a == nil {
		return t.behind, copyAll(t.in, out)
	}
	if err := a.run(ctx); err != nil {
		return 0, errors.Join(err, a.records.close())
	}
	return t.behind, errors.Join(a.write(ctx, out), a.records.close())
}

// copyAll writes a profile as it came.
func copyAll(in section, out io.Writer) error {
	r, err := newReader(in)
	if err != nil {
		return err
	}
	_, err = io.Copy(out, r.from)
	return errors.Join(err, r.close())
}

// write writes the profile: its fields, the new functions and strings, and what could not be read.
func (a *asker) write(ctx context.Context, to io.Writer) error {
	out := bufio.NewWriterSize(to, 64<<10)
	return errors.Join(a.writeTo(ctx, out), out.Flush())
}

func (a *asker) writeTo(ctx context.Context, out *bufio.Writer) error {
	if err := a.records.rewind(); err != nil {
		return err
	}
	r, err := newReader(a.in)
	if err != nil {
		return err
	}
	defer r.close()
	var made []byte
	for n := range a.tables.fields {
		if more, err := r.field(); err != nil || !more {
			return cmp.Or(err, errChanged)
		}
		if n&0xffff == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		whole := r.raw
		switch {
		case r.rest > 0:
			if _, err = out.Write(r.raw); err == nil {
				err = copyN(out, r)
			}
			whole = nil
		case r.message(profileMapping):
			whole = a.mappingWith(r, &made)
		case r.message(profileLocation):
			whole, err = a.locationWith(r, &made)
		}
		if err == nil {
			_, err = out.Write(whole)
		}
		if err != nil {
			return err
		}
	}
	for _, b := range [][]byte{a.names.newFunctions, a.names.newStrings} {
		if _, err := out.Write(b); err != nil {
			return err
		}
	}
	return writeRest(out, r)
}

// errChanged: an input is shorter than it was.
var errChanged = errors.New("the profile changed while it was read: symbolicate it again")

// copyN copies the rest of a field that is too long to be read.
func copyN(out io.Writer, r *reader) error {
	n, err := io.CopyN(out, r.from, r.rest)
	if r.rest -= n; errors.Is(err, io.EOF) {
		r.rest, r.fault = 0, faultCut
		return nil
	}
	return err
}

// writeRest writes what stands behind the last whole field.
func writeRest(out io.Writer, r *reader) error {
	if r.fault == "" {
		more, err := r.field()
		if err == nil && more && r.rest == 0 {
			err = errChanged
		}
		if err != nil {
			return err
		}
		if _, err := out.Write(r.raw); err != nil {
			return err
		}
	}
	_, err := io.Copy(out, r.from)
	return err
}

// mappingWith returns a mapping with the flags that answers gave it.
func (a *asker) mappingWith(r *reader, made *[]byte) []byte {
	m, ok := parseMapping(r.bytes())
	at, known := a.byID[m.id]
	if !ok || !known || a.flags[at] == 0 || a.mappings[at] != m {
		return r.raw
	}
	has := byte(0)
	protobuf.Each(r.bytes(), func(f *protobuf.Fields) {
		if f.Number >= mappingFunctions && f.Number <= mappingInlined && f.Value != 0 {
			has |= flag(f.Number, true)
		}
	})
	more := a.flags[at] &^ has
	if more == 0 {
		return r.raw
	}
	b := append((*made)[:0], r.bytes()...)
	for number := uint32(mappingFunctions); number <= mappingInlined; number++ {
		if more&flag(number, true) != 0 {
			b = appendNumber(b, number, 1)
		}
	}
	n := len(b)
	b = appendMessage(b, profileMapping, b)
	*made = b
	return b[n:]
}

// locationWith returns a location with its answers.
func (a *asker) locationWith(r *reader, made *[]byte) ([]byte, error) {
	l, ok := parseLocation(r.bytes())
	if !ok {
		return r.raw, nil
	}
	var err error
	var records []byte // of the parts
	var lines []int    // that each part answers
	a.parts(&l, r.bytes(), func(_ wanted, i int) {
		record, taken := a.records.take()
		records, lines, err = append(records, record...), append(lines, i), errors.Join(err, taken)
	})
	answered := false
	for b := records; len(b) > 0; b = b[size(b):] {
		answered = answered || b[0] != 0
	}
	if !answered || err != nil {
		return r.raw, err
	}
	b := (*made)[:0]
	i := -1
	protobuf.Each(r.bytes(), func(f *protobuf.Fields) {
		if f.Number == locationFolded {
			return // of the answer it is not known
		}
		if f.Number == locationLine && f.Bytes != nil {
			if i++; len(lines) > 0 && lines[0] == i {
				record := records[:size(records)]
				records, lines = records[len(record):], lines[1:]
				if record[0] != 0 {
					b = recordLines(b, record, unknownOf(f.Bytes))
					return
				}
			}
		}
		b = append(b, f.Whole()...)
	})
	if l.lines == 0 {
		b = recordLines(b, records, nil)
	}
	n := len(b)
	b = appendMessage(b, profileLocation, b)
	*made = b
	return b[n:], nil
}

// unknownOf returns the fields of a Line that are not known.
func unknownOf(line []byte) (unknown []byte) {
	protobuf.Each(line, func(f *protobuf.Fields) {
		if f.Number > lineColumn {
			unknown = append(unknown, f.Whole()...)
		}
	})
	return unknown
}
