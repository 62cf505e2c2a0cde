package relabel

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
	"slices"

	"github.com/parquet-go/parquet-go/encoding/thrift"
	"github.com/parquet-go/parquet-go/format"

	"github.com/symlake/symlake/sinks/internal/pqfile"
	"github.com/symlake/symlake/sinks/internal/pqfilter"
)

// Label returns the name of a column, by the path that the file has for it, without the names that only mark a list, and by its
// number there. 0: it has none. false: the column has no name. At the root of the file it is left out then; elsewhere it keeps
// its name.
type Label func(path string, id int) (name string, ok bool)

const (
	magic    = "PAR1"
	tail     = 4 + len(magic) // behind the footer: its length, and the magic
	maxDepth = 64
)

// Notes of engines on the schema.
var notes = []string{"ARROW:schema", "org.apache.spark.sql.parquet.row.metadata"}

// Open returns a file of size bytes with other names of columns, and its new size. The result reads r. pqfile.ErrRows: it is no
// whole Parquet file, or it is encrypted.
func Open(r io.ReaderAt, size int64, label Label) (_ io.ReaderAt, n int64, err error) {
	defer func() {
		if v := recover(); v != nil {
			err = fmt.Errorf("%w: %v", pqfile.ErrRows, v)
		}
	}()
	if err := pqfilter.CheckFooter(r, size); err != nil {
		return nil, 0, fmt.Errorf("%w: %w", pqfile.ErrRows, err)
	}
	end := make([]byte, tail)
	if _, err := r.ReadAt(end, size-int64(tail)); err != nil {
		return nil, 0, err
	}
	if string(end[4:]) != magic {
		return nil, 0, fmt.Errorf("%w: it ends with %q. symlake does not read encrypted files of a table with column mapping", pqfile.ErrRows, end[4:])
	}
	length := int64(binary.LittleEndian.Uint32(end))
	rows := size - int64(tail) - length
	text := make([]byte, length)
	if _, err := r.ReadAt(text, rows); err != nil {
		return nil, 0, err
	}
	f := new(format.FileMetaData)
	if err := thrift.Unmarshal(new(thrift.CompactProtocol), text, f); err != nil {
		return nil, 0, fmt.Errorf("%w: %w", pqfile.ErrRows, err)
	}
	if err := relabel(f, label); err != nil {
		return nil, 0, err
	}
	footer, err := thrift.Marshal(new(thrift.CompactProtocol), f)
	if err != nil {
		return nil, 0, err
	}
	footer = binary.LittleEndian.AppendUint32(footer, uint32(len(footer)))
	footer = append(footer, magic...)
	return &file{r, rows, footer}, rows + int64(len(footer)), nil
}

// file is the rows of another file with a footer behind them.
type file struct {
	r      io.ReaderAt
	rows   int64
	footer []byte
}

// ReadAt implements io.ReaderAt.
func (f *file) ReadAt(b []byte, at int64) (n int, err error) {
	if at < f.rows {
		n, err = f.r.ReadAt(b[:min(int64(len(b)), f.rows-at)], at)
		if n == len(b) {
			return n, nil
		}
		if int64(n) < f.rows-at {
			return n, err
		}
	}
	more, err := bytes.NewReader(f.footer).ReadAt(b[n:], at+int64(n)-f.rows)
	return n + more, err
}

// leaf is a column with values: where it stands in its file now, and its new path.
type leaf struct {
	index int
	path  []string
}

// tree walks the schema of a file.
type tree struct {
	old    []format.SchemaElement
	label  Label
	at     int
	leaves int
	new    []format.SchemaElement
	kept   []leaf
}

var errTree = fmt.Errorf("%w: its schema is no tree", pqfile.ErrRows)

// relabel changes a footer.
func relabel(f *format.FileMetaData, label Label) error {
	if len(f.Schema) == 0 {
		return errTree
	}
	t := &tree{old: f.Schema, label: label, at: 1, new: []format.SchemaElement{f.Schema[0]}}
	children := int32(0)
	for range f.Schema[0].NumChildren.V {
		kept, err := t.column(nil, nil, false)
		if err != nil {
			return err
		}
		if kept {
			children++
		}
	}
	if t.at != len(t.old) {
		return errTree
	}
	t.new[0].NumChildren.Set(children)
	f.Schema = t.new
	for g := range f.RowGroups {
		if err := t.group(&f.RowGroups[g]); err != nil {
			return fmt.Errorf("row group %d: %w", g, err)
		}
	}
	if len(f.ColumnOrders) == t.leaves {
		var orders []format.ColumnOrder
		for _, l := range t.kept {
			orders = append(orders, f.ColumnOrders[l.index])
		}
		f.ColumnOrders = orders
	}
	f.KeyValueMetadata = slices.DeleteFunc(f.KeyValueMetadata, func(kv format.KeyValue) bool { return slices.Contains(notes, kv.Key) })
	return nil
}

// column takes the next column and those within it. before and now are the old and the new path above it. dropped: it is
// within a column that is left out.
func (t *tree) column(before, now []string, dropped bool) (kept bool, err error) {
	if t.at >= len(t.old) || len(before) >= maxDepth {
		return false, errTree
	}
	e := t.old[t.at]
	t.at++
	before = append(before[:len(before):len(before)], e.Name)
	list := pqfile.ShortPath(before[:max(0, len(before)-2)])
	if path := pqfile.ShortPath(before); path != list { // an element has the path of its list
		name, ok := t.label(path, int(e.FieldID))
		if ok {
			e.Name = name
		}
		dropped = dropped || !ok && len(before) == 1
	}
	now = append(now[:len(now):len(now)], e.Name)
	if !dropped {
		t.new = append(t.new, e)
	}
	if n := e.NumChildren.V; e.NumChildren.Valid && n > 0 {
		for range n {
			if _, err := t.column(before, now, dropped); err != nil {
				return false, err
			}
		}
		return !dropped, nil
	}
	if !dropped {
		t.kept = append(t.kept, leaf{t.leaves, now})
	}
	t.leaves++
	return !dropped, nil
}

// group changes a row group.
func (t *tree) group(g *format.RowGroup) error {
	if len(g.Columns) != t.leaves {
		return fmt.Errorf("%w: it has %d columns of %d", pqfile.ErrRows, len(g.Columns), t.leaves)
	}
	columns := make([]format.ColumnChunk, len(t.kept))
	to := map[int32]int32{}
	for i, l := range t.kept {
		columns[i] = g.Columns[l.index]
		columns[i].MetaData.PathInSchema = l.path
		to[int32(l.index)] = int32(i)
	}
	g.Columns = columns
	var sorted []format.SortingColumn
	for _, c := range g.SortingColumns {
		i, ok := to[c.ColumnIdx]
		if !ok {
			break
		}
		c.ColumnIdx = i
		sorted = append(sorted, c)
	}
	g.SortingColumns = sorted
	return nil
}
