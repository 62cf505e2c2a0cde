package pqfile

import (
	"context"
	"fmt"
	"io"
	"slices"

	"github.com/parquet-go/parquet-go/encoding/thrift"
	"github.com/parquet-go/parquet-go/format"
)

// splice writes a plain file: column chunks of the old one as they are, and new ones beside them.
type splice struct {
	*Writer
	f      *Rows
	leaves []leaf // added
	kept   []int  // old columns, by new one
	moved  []moved
	err    error
}

// moved is a column chunk of the old file. Its page index and Bloom filter stand elsewhere, and follow behind the row groups.
type moved struct {
	group, column int // new
	old           *format.ColumnChunk
	by            int64
}

func (f *Rows) splice(w io.Writer, x Extension, drop []string) (*splice, error) {
	p, err := NewWriter(w, x.Table, nil, false, NewPager())
	if err != nil {
		return nil, err
	}
	s := &splice{Writer: p, f: f, leaves: x.Table.leaves()}
	s.kept = f.schema(p, x, drop)
	if len(f.footer.ColumnOrders) == len(f.leaves) {
		p.orderColumns(len(s.kept) + len(s.leaves))
	}
	return s, nil
}

// Group implements Extended.
func (s *splice) Group(ctx context.Context, added *RowGroup) error {
	if s.err == nil {
		s.err = ctx.Err()
	}
	if s.err == nil {
		s.err = s.group(added)
	}
	return s.err
}

func (s *splice) group(g *RowGroup) error {
	n := len(s.footer.RowGroups)
	old := &s.f.footer.RowGroups[n]
	if int64(g.Rows) != old.NumRows {
		return fmt.Errorf("row group %d has %d rows, and %d answers", n, old.NumRows, g.Rows)
	}
	to, err := s.begin(g.Rows, len(s.kept)+len(s.leaves))
	if err != nil {
		return err
	}
	to.meta.SortingColumns = s.sorting(old.SortingColumns)
	for at, i := range s.kept {
		if err := s.keep(to, at, &old.Columns[i]); err != nil {
			return err
		}
	}
	for i, l := range s.leaves {
		if err := s.column(to, len(s.kept)+i, l, &g.chunks[i], &g.Dicts[i]); err != nil {
			return fmt.Errorf("column %s: %w", l, err)
		}
	}
	s.end(to)
	return nil
}

// keep copies a column chunk of the old file, which becomes column at of a row group.
func (s *splice) keep(to *writing, at int, old *format.ColumnChunk) error {
	c := *old
	start, size, err := s.f.extent(&c)
	if err != nil {
		return err
	}
	by := s.at - start
	if err := s.copy(start, size); err != nil {
		return err
	}
	s.moved = append(s.moved, moved{to.number, at, old, by})

	c.FileOffset, c.OffsetIndexOffset, c.OffsetIndexLength, c.ColumnIndexOffset, c.ColumnIndexLength = 0, 0, 0, 0, 0
	m := &c.MetaData
	m.DataPageOffset += by
	if m.DictionaryPageOffset > 0 {
		m.DictionaryPageOffset += by
	}
	if m.IndexPageOffset > 0 {
		m.IndexPageOffset += by
	}
	m.BloomFilterOffset, m.BloomFilterLength = 0, 0
	to.meta.Columns[at] = c
	return nil
}

// copy copies bytes of the old file.
func (s *splice) copy(start, n int64) error {
	room := make([]byte, min(n, 1<<20))
	for n > 0 {
		b := room[:min(n, int64(len(room)))]
		if k, err := s.f.r.ReadAt(b, start); k < len(b) {
			return err
		}
		if err := s.put(b); err != nil {
			return err
		}
		start, n = start+int64(len(b)), n-int64(len(b))
	}
	return nil
}

// sorting is by which columns rows ascend, as far as they are kept.
func (s *splice) sorting(old []format.SortingColumn) (kept []format.SortingColumn) {
	for _, c := range old {
		at := slices.Index(s.kept, int(c.ColumnIdx))
		if at < 0 {
			break
		}
		c.ColumnIdx = int32(at)
		kept = append(kept, c)
	}
	return kept
}

// Close implements Extended.
func (s *splice) Close() error {
	if s.err != nil {
		return s.err
	}
	if n, want := len(s.footer.RowGroups), len(s.f.groups); n != want {
		return fmt.Errorf("%d row groups of %d were written", n, want)
	}
	for _, x := range s.moved {
		if err := s.follow(x); err != nil {
			return err
		}
	}
	return s.Writer.Close()
}

// maxIndexBytes is the longest page index or bloom filter that is taken over: longer ones are left out, which costs
// readers time and nothing else.
const maxIndexBytes = 64 << 20

// follow takes over what stands apart from a column chunk: its page index, with the places that its pages have now, and its
// bloom filter.
func (s *splice) follow(x moved) error {
	to, index := &s.footer.RowGroups[x.group].Columns[x.column], &s.index[x.group][x.column]
	if offsets := new(format.OffsetIndex); s.read(x.old.OffsetIndexOffset, int64(x.old.OffsetIndexLength), offsets) {
		for i := range offsets.PageLocations {
			offsets.PageLocations[i].Offset += x.by
		}
		index.offsets = *offsets
		if bounds := new(format.ColumnIndex); s.read(x.old.ColumnIndexOffset, int64(x.old.ColumnIndexLength), bounds) {
			index.bounds = bounds
		}
	}
	at, n := x.old.MetaData.BloomFilterOffset, int64(x.old.MetaData.BloomFilterLength)
	if n <= 0 || n > maxIndexBytes || at <= 0 || at > s.f.size-n {
		return nil
	}
	to.MetaData.BloomFilterOffset, to.MetaData.BloomFilterLength = s.at, int32(n)
	return s.copy(at, n)
}

// read reads a structure of the old file, if there is one.
func (s *splice) read(at, n int64, to any) bool {
	if n <= 0 || n > maxIndexBytes || at <= 0 || at > s.f.size-n {
		return false
	}
	text := make([]byte, n)
	if _, err := s.f.r.ReadAt(text, at); err != nil {
		return false
	}
	return thrift.Unmarshal(new(thrift.CompactProtocol), text, to) == nil
}
