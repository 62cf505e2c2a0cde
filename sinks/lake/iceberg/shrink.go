package iceberg

import (
	"bytes"
	"cmp"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/symlake/symlake/sinks"
	"github.com/symlake/symlake/sinks/bucket"
	"github.com/symlake/symlake/sinks/internal/pqfile"
)

// shrinking is a data file of a table that loses rows.
type shrinking struct {
	path string
	kind string
	day  []byte // as a manifest bounds it
	date string // as the path has it
	died []Span
	gone bool // no row counts

	// Known of a file that is still there:
	dead  []Span // all rows that do not count
	lost  uint64 // their number
	rows  uint64 // of the file
	bytes int64

	data, deletes *entry // nil: not found, or not looked for
	in, deletesIn *manifest
}

// shrink adds to the plan of a table what dies in its older files. It reads manifests of deletes for the partitions of these files,
// and the dead rows and footers of the files. Where no row of a file counts any more, it reads manifests of data until it has found
// the file. false: the table does not show what the changes say, so all is to be compared.
func (t *Tables) shrink(ctx context.Context, s *shape, p *plan, c *Changes, id int64) (bool, error) {
	files, ok := t.shrinking(s, c)
	if !ok || len(files) == 0 {
		return ok, nil
	}
	if err := t.find(ctx, p.manifests, contentDeletes, files); err != nil {
		return false, err
	}
	whole := map[string]*shrinking{}
	for location, f := range files {
		if !f.gone {
			if ok, err := t.dying(ctx, f); !ok || err != nil {
				return false, err
			}
		}
		if f.gone {
			whole[location] = f
		}
	}
	if err := t.find(ctx, p.manifests, contentData, whole); err != nil {
		return false, err
	}
	for _, location := range slices.Sorted(maps.Keys(files)) {
		f := files[location]
		switch {
		case f.gone && f.data == nil && (f.deletes != nil || f.died != nil):
			return false, nil
		case f.gone && f.data == nil: // no row of it counted before
		default:
			t.shrunk(s, p, location, f, id)
		}
	}
	return true, nil
}

// find finds the entries of files in manifests of a content, the youngest first: what changes is often young.
func (t *Tables) find(ctx context.Context, manifests []*manifest, content int32, files map[string]*shrinking) error {
	for _, m := range slices.Backward(manifests) {
		if m.Content != content || !slices.ContainsFunc(slices.Collect(maps.Values(files)), m.mayHold) {
			continue
		}
		if err := t.fill(ctx, m); err != nil {
			return err
		}
		m.find(files)
	}
	return nil
}

// dying finds which rows of a file count no more. It is gone if that is all of them. false: they do not fit together.
func (t *Tables) dying(ctx context.Context, f *shrinking) (ok bool, err error) {
	var dead []Span
	if f.deletes != nil {
		dead, err = t.deadOf(ctx, &f.deletes.File)
	}
	if err == nil {
		f.rows, f.bytes, err = t.rowsOf(ctx, f.path)
	}
	if errors.Is(err, bucket.ErrNotFound) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	if f.dead, f.lost, ok = union(dead, f.died, f.rows); ok {
		f.gone = f.lost == f.rows
	}
	return ok, nil
}

// rowsOf reads the footer of a data file.
func (t *Tables) rowsOf(ctx context.Context, path string) (rows uint64, size int64, err error) {
	e, _, err := t.o.Bucket.Stat(ctx, path)
	if err != nil {
		return 0, 0, err
	}
	r, err := t.o.Bucket.Open(ctx, e)
	if err != nil {
		return 0, 0, err
	}
	m, err := pqfile.Measure(r, e.Size)
	if err := errors.Join(err, r.Close()); err != nil {
		return 0, 0, fmt.Errorf("read the footer of %s: %w", t.location(path), err)
	}
	return uint64(m.Rows), e.Size, nil
}

// find notes where the entries of files are.
func (m *manifest) find(files map[string]*shrinking) {
	for i := range m.entries {
		e := &m.entries[i]
		switch {
		case e.File.Content == contentData:
			if f := files[e.File.Path]; f != nil {
				f.data, f.in = e, m
			}
		case e.File.References != nil:
			if f := files[*e.File.References]; f != nil {
				f.deletes, f.deletesIn = e, m
			}
		}
	}
}

// shrinking returns the files of a table that lose rows, by location. false: a path is none of a data file.
func (t *Tables) shrinking(s *shape, c *Changes) (map[string]*shrinking, bool) {
	files := map[string]*shrinking{}
	file := func(path string) *shrinking {
		parts := strings.Split(path, "/")
		if parts[0] != s.table.Name {
			return &shrinking{}
		}
		if len(parts) != 4 {
			return nil
		}
		f := files[t.location(path)]
		if f == nil {
			f = &shrinking{path: path, kind: strings.TrimPrefix(parts[1], "kind="), date: strings.TrimPrefix(parts[2], "day=")}
			day, err := time.Parse(time.DateOnly, f.date)
			if err != nil {
				return nil
			}
			f.day = binary.LittleEndian.AppendUint32(nil, uint32(day.Unix()/(24*60*60)))
			files[t.location(path)] = f
		}
		return f
	}
	for _, path := range c.Gone {
		f := file(path)
		if f == nil {
			return nil, false
		}
		f.gone = true
	}
	for path, died := range c.Died {
		f := file(path)
		if f == nil {
			return nil, false
		}
		f.died = died
	}
	return files, true
}

// mayHold reports whether a manifest may have what is not found yet of a file, by the bounds of its partitions.
func (m *manifest) mayHold(f *shrinking) bool {
	switch {
	case m.Content == contentDeletes && f.deletes != nil, m.Content == contentData && f.data != nil:
		return false
	case len(m.Partitions) != 2:
		return true
	}
	kind, day := &m.Partitions[0], &m.Partitions[1]
	within := func(s *summary, v []byte, compare func(a, b []byte) int) bool {
		return s.Low == nil || s.High == nil || compare(v, s.Low) >= 0 && compare(v, s.High) <= 0
	}
	return within(kind, []byte(f.kind), bytes.Compare) && (len(day.Low) != 4 || len(day.High) != 4 || within(day, f.day, compareInts))
}

// shrunk adds to a plan that a file loses rows.
func (t *Tables) shrunk(s *shape, p *plan, location string, f *shrinking, id int64) {
	remove := func(e *entry, m *manifest) {
		e.Status, e.Snapshot = deleted, &id
		m.changed = true
		var of totals
		of.add(&e.File)
		p.kept, p.removed = p.kept.less(of), p.removed.plus(of)
	}
	if f.deletes != nil {
		remove(f.deletes, f.deletesIn)
	}
	if f.gone {
		remove(f.data, f.in)
	} else {
		of := &File{Table: s.table.Name, Path: f.path, Kind: f.kind, Day: f.date, Rows: f.rows, Bytes: f.bytes}
		p.deletes = append(p.deletes, &deletion{of, t.folder(of.Table) + deletesKey(location, f.dead), f.dead, f.lost})
	}
	p.changed = true
}

// union joins dead rows of a file. It returns them as deletesKey wants them: ascending, with no two neighbors, and their number.
// false: a row dies twice, or the file does not have it.
func union(a, b []Span, most uint64) (all []Span, rows uint64, ok bool) {
	spans := slices.Concat(a, b)
	slices.SortFunc(spans, func(a, b Span) int { return cmp.Compare(a.First, b.First) })
	end := uint64(0)
	for _, s := range spans {
		if s.First < end || s.First > most || s.Rows > most-s.First {
			return nil, 0, false
		}
		if n := len(all); n > 0 && s.First == end {
			all[n-1].Rows += s.Rows
		} else {
			all = append(all, s)
		}
		end = s.First + s.Rows
		rows += s.Rows
	}
	return all, rows, true
}

// deadOf reads the file of a data file's dead rows.
func (t *Tables) deadOf(ctx context.Context, f *dataFile) (dead []Span, err error) {
	key, ok := t.key(f.Path)
	if !ok {
		return nil, fmt.Errorf("%s is outside the lake at %s", f.Path, t.at)
	}
	text, err := read(ctx, t.o.Bucket, key, math.MaxInt32)
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", f.Path, err)
	}
	fail := func(err error) ([]Span, error) { return nil, fmt.Errorf("read %s: %w", f.Path, err) }
	r, err := pqfile.OpenRows(ctx, bytes.NewReader(text), int64(len(text)), func() (sinks.LakeKeys, error) { return sinks.LakeKeys{}, pqfile.ErrRows })
	if err != nil {
		return fail(err)
	}
	at := slices.IndexFunc(r.Leaves(), func(l pqfile.Leaf) bool {
		return l.Path == "pos" && l.Kind == pqfile.LeafInt && !l.List
	})
	if at < 0 {
		return fail(fmt.Errorf("%w: it has no column pos", pqfile.ErrRows))
	}
	for g := range r.Groups() {
		err := r.Scan(ctx, g, r.Leaves()[at:at+1], func(_ int, cells []pqfile.Cells) error {
			for _, row := range cells[0].Ints {
				if n := len(dead); n > 0 && row == dead[n-1].First+dead[n-1].Rows {
					dead[n-1].Rows++
				} else {
					dead = append(dead, Span{row, 1})
				}
			}
			return nil
		})
		if err != nil {
			return fail(err)
		}
	}
	return dead, r.Close()
}
