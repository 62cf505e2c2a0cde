package pqfile

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/parquet-go/parquet-go/encoding/thrift"
	"github.com/parquet-go/parquet-go/format"

	"github.com/symlake/symlake/sinks"
)

// answersKey is in the metadata of a file that Extend wrote: which columns were added, parted by commas. They are
// replaced when the file is extended again.
const answersKey = "symlake.answers"

// sourceKey is in the metadata of a file that Extend wrote: what the rows were read from.
const sourceKey = "symlake.source"

// Extension says how a file is written again.
type Extension struct {
	Table   *Table // the columns that are added
	Profile string // of what is written: sinks.LakeSealed or sinks.LakePlain
	Source  string // noted in the file
}

// Extended writes a file with the rows of another one and columns added. One goroutine.
type Extended interface {
	// Group writes the next row group of the old file, with the rows of added beside its rows.
	Group(ctx context.Context, added *RowGroup) error
	// Close ends the file. Without it, what was written is no file.
	Close() error
}

// ErrColumn: a column that would be added is there already, and was not added by Extend.
var ErrColumn = errors.New("the column exists")

// Extend begins to write the rows of f, in their order and row groups, with the columns of a table added. From plain to
// plain, the columns of f are copied byte for byte, whatever they hold; else their values are.
func (f *Rows) Extend(ctx context.Context, w io.Writer, x Extension) (e Extended, err error) {
	defer broken(&err, ErrRows)
	drop, err := f.dropped(x.Table)
	if err != nil {
		return nil, err
	}
	if f.sealed != nil || x.Profile == sinks.LakeSealed {
		return f.extendSealed(ctx, w, x, drop)
	}
	return f.splice(w, x, drop)
}

// top are the names of the columns at the root.
func (f *Rows) top() (names []string) {
	for i := range f.leaves {
		name, _, _ := strings.Cut(f.leaves[i].Path, ".")
		if len(names) == 0 || names[len(names)-1] != name {
			names = append(names, name)
		}
	}
	return names
}

// splice writes a plain file: column chunks of the old one as they are, and new ones beside them.
type splice struct {
	*plain
	f      *Rows
	leaves []leaf // added
	kept   []int  // old columns, by new one
	moved  []moved
	err    error
}

// moved is a column chunk of the old file: its page index and bloom filter stand elsewhere, and follow behind the row groups.
type moved struct {
	group, NewColumn int // new
	old              *format.ColumnChunk
	by               int64
}

func (f *Rows) splice(w io.Writer, x Extension, drop []string) (*splice, error) {
	p, err := NewPlain(w, x.Table, false, NewPager())
	if err != nil {
		return nil, err
	}
	old, ours := f.plain.Metadata(), p.footer
	s := &splice{plain: p, f: f, leaves: x.Table.leaves()}
	p.footer = &format.FileMetaData{Version: max(old.Version, 1), CreatedBy: ours.CreatedBy}
	s.schema(old.Schema, ours.Schema, drop)
	if len(old.ColumnOrders) == len(f.leaves) {
		for range len(s.kept) + len(s.leaves) {
			p.footer.ColumnOrders = append(p.footer.ColumnOrders, format.ColumnOrder{Value: &format.TypeDefinedOrder{}})
		}
	}
	for _, kv := range old.KeyValueMetadata {
		if kv.Key != answersKey && kv.Key != sourceKey {
			p.footer.KeyValueMetadata = append(p.footer.KeyValueMetadata, kv)
		}
	}
	p.footer.KeyValueMetadata = append(p.footer.KeyValueMetadata, format.KeyValue{Key: answersKey, Value: x.Table.names()}, format.KeyValue{Key: sourceKey, Value: x.Source})
	return s, nil
}

// schema is the old one without what is dropped, and the table's columns at its end.
func (s *splice) schema(old, added []format.SchemaElement, drop []string) {
	out := []format.SchemaElement{old[0]}
	children := added[0].NumChildren.V
	leaf, at := 0, 1
	for range old[0].NumChildren.V {
		from, first := at, leaf
		for left := 1; left > 0; left-- {
			if n := int(old[at].NumChildren.V); n > 0 {
				left += n
			} else {
				leaf++
			}
			at++
		}
		if slices.Contains(drop, old[from].Name) {
			continue
		}
		children++
		out = append(out, old[from:at]...)
		for i := first; i < leaf; i++ {
			s.kept = append(s.kept, i)
		}
	}
	out = append(out, added[1:]...)
	out[0].NumChildren.Set(children)
	s.footer.Schema = out
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
	old := &s.f.plain.Metadata().RowGroups[n]
	if int64(g.Rows) != old.NumRows {
		return fmt.Errorf("row group %d has %d rows, and %d answers", n, old.NumRows, g.Rows)
	}
	to := format.RowGroup{NumRows: old.NumRows, Ordinal: int16(n), FileOffset: s.at, SortingColumns: s.sorting(old.SortingColumns)}
	for at, i := range s.kept {
		c := old.Columns[i]
		start, size, err := s.f.extent(&c)
		if err != nil {
			return err
		}
		by := s.at - start
		if err := s.copy(start, size); err != nil {
			return err
		}
		s.moved = append(s.moved, moved{n, at, &old.Columns[i], by})
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
		to.Columns = append(to.Columns, c)
	}
	index := make([]chunkIndex, len(s.kept)+len(s.leaves))
	for i, l := range s.leaves {
		at := len(to.Columns)
		to.Columns = append(to.Columns, format.ColumnChunk{})
		if err := s.NewColumn(l, &g.chunks[i], &g.Dicts[i], &to.Columns[at].MetaData, &index[at]); err != nil {
			return fmt.Errorf("column %s: %w", l, err)
		}
	}
	for i := range to.Columns {
		to.TotalByteSize += to.Columns[i].MetaData.TotalUncompressedSize
		to.TotalCompressedSize += to.Columns[i].MetaData.TotalCompressedSize
	}
	s.footer.NumRows += to.NumRows
	s.footer.RowGroups = append(s.footer.RowGroups, to)
	s.index = append(s.index, index)
	return nil
}

// copy copies bytes of the old file.
func (s *splice) copy(start, n int64) error {
	to := &Counted{W: s.w, N: &s.at}
	k, err := io.CopyBuffer(struct{ io.Writer }{to}, io.NewSectionReader(s.f.r, start, n), make([]byte, min(n+1, 1<<20)))
	if err == nil && k != n {
		err = io.ErrUnexpectedEOF
	}
	return err
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
	return s.plain.Close()
}

// maxIndexBytes is the longest page index or bloom filter that is taken over: longer ones are left out, which costs
// readers time and nothing else.
const maxIndexBytes = 64 << 20

// follow takes over what stands apart from a column chunk: its page index, with the places that its pages have now, and its
// bloom filter.
func (s *splice) follow(x moved) error {
	to, index := &s.footer.RowGroups[x.group].Columns[x.NewColumn], &s.index[x.group][x.NewColumn]
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

// Accepts reports whether the columns of a table can be added: ErrColumn if a name is taken.
func (f *Rows) Accepts(t *Table) error {
	_, err := f.dropped(t)
	return err
}

// dropped are the columns that an earlier Extend added, and that give way now.
func (f *Rows) dropped(t *Table) (drop []string, err error) {
	ours := strings.Split(f.Meta(answersKey), ",")
	for _, name := range f.top() {
		switch {
		case slices.Contains(ours, name):
			drop = append(drop, name)
		case t.has(name):
			return nil, fmt.Errorf("column %q: %w; give --prefix", name, ErrColumn)
		}
	}
	return drop, nil
}
