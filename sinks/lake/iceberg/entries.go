package iceberg

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"

	"golang.org/x/sync/errgroup"

	"github.com/symlake/symlake/sinks/bucket"
	"github.com/symlake/symlake/sinks/internal/pqfile"
)

// readers is how many footers are read at once.
const readers = 8

// entries reads the footers of the fresh files of a plan and returns their entries.
func (t *Tables) entries(ctx context.Context, s *shape, p *plan, id int64) ([]entry, error) {
	all := make([]entry, len(p.fresh))
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(readers)
	for i, f := range p.fresh {
		g.Go(func() (err error) {
			all[i], err = t.entry(ctx, s, f, id)
			return err
		})
	}
	return all, g.Wait()
}

func (t *Tables) entry(ctx context.Context, s *shape, f *File, id int64) (e entry, err error) {
	m, err := t.measure(ctx, f)
	if err != nil {
		return e, fmt.Errorf("read the footer of %s: %w", t.location(f.Path), err)
	}
	e = entry{Status: added, Snapshot: &id, File: dataFile{Content: contentData, Path: t.location(f.Path), Format: "PARQUET", Rows: m.Rows, Bytes: f.Bytes, Splits: m.Splits}}
	if e.File.Partition, err = newPartition(f.Kind, f.Day); err != nil {
		return e, fmt.Errorf("file %s: %w", f.Path, err)
	}
	if m.Sorted {
		n := int32(sortOrder)
		e.File.Order = &n
	}
	for _, c := range m.Columns {
		leaf, ok := s.leaves[c.Path]
		if !ok {
			continue
		}
		n := int32(leaf)
		e.File.Sizes = append(e.File.Sizes, keyLong{n, c.Bytes})
		if c.Values != m.Rows {
			continue // of a list
		}
		e.File.Values = append(e.File.Values, keyLong{n, c.Values})
		e.File.Nulls = append(e.File.Nulls, keyLong{n, c.Nulls})
		if c.Low != nil && slices.Contains(bounded, c.Path) {
			e.File.Low = append(e.File.Low, keyBytes{n, c.Low})
			e.File.High = append(e.File.High, keyBytes{n, c.High})
		}
	}
	return e, nil
}

// bounded are the columns that have bounds in manifests, where they help to leave files alone.
var bounded = []string{"artifact", "load", "range_start", "range_end", "loaded_at"}

func (t *Tables) measure(ctx context.Context, f *File) (*pqfile.Measured, error) {
	there, _, err := t.o.Bucket.Stat(ctx, f.Path)
	if err != nil {
		return nil, err
	}
	if there.Size != f.Bytes {
		return nil, fmt.Errorf("it has %d bytes, the log says %d", there.Size, f.Bytes)
	}
	r, err := t.o.Bucket.Open(ctx, there)
	if err != nil {
		return nil, err
	}
	m, err := pqfile.Measure(r, there.Size)
	if err := errors.Join(err, r.Close()); err != nil {
		return nil, err
	}
	if uint64(m.Rows) != f.Rows {
		return nil, fmt.Errorf("it has %d rows, the log says %d", m.Rows, f.Rows)
	}
	return m, nil
}

// deletions writes the files of dead rows of a plan and returns their entries.
func (t *Tables) deletions(ctx context.Context, p *plan, id int64) ([]entry, error) {
	all := make([]entry, len(p.deletes))
	for i, d := range p.deletes {
		location := t.location(d.of.Path)
		text, err := positions(location, d.dead)
		if err != nil {
			return nil, fmt.Errorf("write which rows of %s do not count: %w", location, err)
		}
		err = t.create(ctx, d.key, text)
		if errors.Is(err, bucket.ErrChanged) {
			// An earlier attempt wrote the same rows.
			there, _, serr := t.o.Bucket.Stat(ctx, d.key)
			if serr == nil && there.Size != int64(len(text)) {
				serr = fmt.Errorf("it has %d bytes, not %d", there.Size, len(text))
			}
			err = serr
		}
		if err != nil {
			return nil, fmt.Errorf("write %s: %w", t.location(d.key), err)
		}
		e := entry{Status: added, Snapshot: &id, File: dataFile{Content: contentDeletes, Path: t.location(d.key), Format: "PARQUET", Rows: int64(d.rows), Bytes: int64(len(text)), References: &location}}
		if e.File.Partition, err = newPartition(d.of.Kind, d.of.Day); err != nil {
			return nil, fmt.Errorf("file %s: %w", d.of.Path, err)
		}
		first, last := d.dead[0], d.dead[len(d.dead)-1]
		e.File.Low = []keyBytes{{pathField, []byte(location)}, {positionField, binary.LittleEndian.AppendUint64(nil, first.First)}}
		e.File.High = []keyBytes{{pathField, []byte(location)}, {positionField, binary.LittleEndian.AppendUint64(nil, last.First+last.Rows-1)}}
		all[i] = e
	}
	return all, nil
}

// positions returns a position delete file of the rows of one file.
func positions(location string, dead []Span) ([]byte, error) {
	var b bytes.Buffer
	table, pager := deletesTable(), pqfile.NewPager()
	w, err := pqfile.NewWriter(&b, table, nil, true, pager)
	if err != nil {
		return nil, err
	}
	g := pqfile.NewRowGroup(table)
	page := func() error {
		s := g.Take(g.Open.Another())
		return pager.Add(g, s)
	}
	flush := func() error {
		if g.Open.Rows > 0 {
			if err := page(); err != nil {
				return err
			}
		}
		if g.Rows == 0 {
			return nil
		}
		err := w.Write(g)
		g.Reset()
		return err
	}
	var path int32 // its number in the row group
	for _, span := range dead {
		for at := span.First; at < span.First+span.Rows; at++ {
			s := g.Open
			if g.Rows == 0 {
				path = g.Dicts[0].Add(g.Dicts[0].Texts.Add(location))
			}
			s.Columns[0].Ints = append(s.Columns[0].Ints, path)
			s.Columns[1].Longs = append(s.Columns[1].Longs, int64(at))
			s.Rows++
			g.Rows++
			if s.Full() {
				if err := page(); err != nil {
					return nil, err
				}
				if g.Full() {
					if err := flush(); err != nil {
						return nil, err
					}
				}
			}
		}
	}
	if err := flush(); err != nil {
		return nil, err
	}
	err = w.Close()
	return b.Bytes(), err
}
