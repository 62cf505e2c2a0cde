package pqfile

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"

	"github.com/apache/arrow/go/v17/parquet/file"
	pq "github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/deprecated"
	"github.com/parquet-go/parquet-go/encoding/thrift"
	"github.com/parquet-go/parquet-go/format"

	"github.com/symlake/symlake/sinks"
)

// ErrRows says that a file is no readable Parquet file, or contradicts its footer. It is the file's fault.
var ErrRows = errors.New("no whole Parquet file")

// Rows is a Parquet file of rows that others made. Scan reads it by column, Extend writes it again with columns added.
// parquet-go reads plain files and Arrow sealed ones, which must be sealed under the master keys of the lake. Rows is for one
// goroutine at a time, but row groups may be scanned at once.
type Rows struct {
	r      io.ReaderAt
	size   int64
	keys   func() (sinks.LakeKeys, error)
	plain  *pq.File     // nil: sealed
	sealed *file.Reader // nil: plain; for one goroutine
	lent   readers      // for scans
	footer *format.FileMetaData
	leaves []Leaf
	groups []int64
	gone   [][]uint32 // rows that are left out, by row group; nil: none
	meta   map[string]string
}

// Leaf is a column that holds values.
type Leaf struct {
	// Path has the names from the root, parted by dots, without the names that only mark a list:
	// frames.address for a list of structures.
	Path string
	Kind LeafKind
	List bool // a row has any number of values; false: one or none
	ID   int  // number of the column, as Iceberg gives it; 0: none
	// Index is the number of the column in Leaves.
	Index int

	def       int // definition level of a value
	element   int // in a list: of an element
	unsigned  bool
	repeated  int  // maximum repetition level
	fixed     bool // bytes of a fixed length, read as hex
	fixedUUID bool
}

// LeafKind is what Scan makes of a column's values.
type LeafKind uint8

// The kinds of leaves.
const (
	LeafOther LeafKind = iota // can be copied, not read
	LeafText
	LeafInt
)

// MaxGroupRows is the most rows that a row group may have: its answers are held at once.
const MaxGroupRows = 1 << 26

// OpenRows opens a file of size bytes. keys gives the keys of the lake; OpenRows calls it for sealed files only. A fault of the
// file is ErrRows.
func OpenRows(ctx context.Context, r io.ReaderAt, size int64, keys func() (sinks.LakeKeys, error)) (f *Rows, err error) {
	defer broken(&err, ErrRows)
	f = &Rows{r: r, size: size, keys: keys, meta: map[string]string{}}
	if size < 12 {
		return nil, fmt.Errorf("%w: %d bytes", ErrRows, size)
	}
	head, tail, err := ends(r, size)
	if err != nil {
		return nil, err
	}
	switch profileOf(head, tail) {
	case sinks.LakePlain:
		err = f.openPlain()
	case sinks.LakeSealed:
		err = f.openSealed(ctx)
	default:
		err = fmt.Errorf("%w: it begins with %q and ends with %q", ErrRows, head, tail)
	}
	if err != nil {
		return nil, err
	}
	for g, n := range f.groups {
		if n < 0 || n > MaxGroupRows {
			return nil, fmt.Errorf("%w: row group %d has %d rows, above %d", ErrRows, g, n, MaxGroupRows)
		}
	}
	return f, nil
}

func (f *Rows) openPlain() error {
	p, err := openFile(f.r, f.size, pq.SkipPageIndex(true), pq.SkipBloomFilters(true))
	if err != nil {
		return fmt.Errorf("%w: %w", ErrRows, err)
	}
	f.plain = p
	f.footer = p.Metadata()
	if err := f.describe(); err != nil {
		return err
	}
	for i := range f.footer.RowGroups {
		g := &f.footer.RowGroups[i]
		if len(g.Columns) != len(f.leaves) {
			return fmt.Errorf("%w: row group %d has %d columns of %d", ErrRows, i, len(g.Columns), len(f.leaves))
		}
		for c := range g.Columns {
			if _, _, err := f.extent(&g.Columns[c]); err != nil {
				return fmt.Errorf("row group %d, column %s: %w", i, f.leaves[c].Path, err)
			}
		}
		f.groups = append(f.groups, g.NumRows)
	}
	return nil
}

// extent returns where the pages of a column chunk lie, and checks that they lie in the file.
func (f *Rows) extent(c *format.ColumnChunk) (start, n int64, err error) {
	m := &c.MetaData
	start, n = m.DataPageOffset, m.TotalCompressedSize
	if m.NumValues == 0 && c.FilePath == "" && n >= 0 && n <= f.size {
		return 4, 0, nil // writers may leave out the pages, or the place
	}
	if d := m.DictionaryPageOffset; d > 0 && d < start {
		start = d
	}
	if c.FilePath != "" || start < 4 || n < 0 || start > f.size-n {
		return 0, 0, fmt.Errorf("%w: a column chunk of %d bytes at %d of %d %s", ErrRows, n, start, f.size, c.FilePath)
	}
	return start, n, nil
}

// leavesOf returns the leaves of a schema, which a footer lists depth first.
func leavesOf(all []format.SchemaElement) (leaves []Leaf, err error) {
	bad := fmt.Errorf("%w: its schema is no tree", ErrRows)
	at := 0
	var walk func(path []string, def, rep, element, depth int) error
	walk = func(path []string, def, rep, element, depth int) error {
		if at >= len(all) || depth > 64 {
			return bad
		}
		e := &all[at]
		at++
		if depth > 0 {
			switch e.RepetitionType.V {
			case format.Optional:
				def++
			case format.Repeated:
				def, rep = def+1, rep+1
				element = def
			}
			path = append(path[:len(path):len(path)], e.Name)
		}
		if n := int(e.NumChildren.V); e.NumChildren.Valid && (n > 0 || depth == 0) {
			for range n {
				if err := walk(path, def, rep, element, depth+1); err != nil {
					return err
				}
			}
			return nil
		}
		l := Leaf{Path: ShortPath(path), List: rep > 0, ID: int(e.FieldID), Index: len(leaves), def: def, element: element, repeated: rep}
		l.classify(e)
		leaves = append(leaves, l)
		return nil
	}
	if err := walk(nil, 0, 0, 0, 0); err != nil {
		return nil, err
	}
	if at != len(all) {
		return nil, bad
	}
	return leaves, nil
}

func (l *Leaf) classify(e *format.SchemaElement) {
	logical := e.LogicalType.Value
	_, isDecimal := logical.(*format.DecimalType)
	isDecimal = isDecimal || e.ConvertedType.Valid && e.ConvertedType.V == deprecated.Decimal
	switch {
	case l.repeated > 1:
	case isDecimal && e.Scale.V != 0:
	case e.Type.V == format.ByteArray && !isDecimal:
		l.Kind = LeafText
	case e.Type.V == format.ByteArray || e.Type.V == format.FixedLenByteArray && isDecimal:
		l.Kind = LeafInt
	case e.Type.V == format.FixedLenByteArray:
		_, isUUID := logical.(*format.UUIDType)
		l.Kind, l.fixed, l.fixedUUID = LeafText, true, isUUID
	case e.Type.V == format.Float || e.Type.V == format.Double:
		l.Kind = LeafInt // pandas makes doubles of whole numbers with gaps
	case e.Type.V == format.Int32 || e.Type.V == format.Int64:
		l.Kind = LeafInt
		if t, ok := logical.(*format.IntType); ok {
			l.unsigned = !t.IsSigned
		} else if e.ConvertedType.Valid {
			l.unsigned = e.ConvertedType.V == deprecated.Uint32
		}
	}
}

// ShortPath leaves out the two names that only say that there is a list.
func ShortPath(path []string) string {
	var short []string
	for i := 0; i < len(path); i++ {
		short = append(short, path[i])
		if i+2 < len(path) && (path[i+1] == "list" || path[i+1] == "bag" || path[i+1] == "array") && (path[i+2] == "element" || path[i+2] == "item" || path[i+2] == "array_element") {
			i += 2
		}
	}
	return strings.Join(short, ".")
}

func (f *Rows) openSealed(ctx context.Context) error {
	keys, err := f.keys()
	if err != nil {
		return fmt.Errorf("a sealed file: %w", err)
	}
	f.lent.open = func(ctx context.Context) (*file.Reader, error) {
		r, err := openSealed(ctx, keys, f.r, f.size, "")
		if errors.Is(err, ErrDamaged) {
			return nil, fmt.Errorf("%w: %w", ErrRows, err)
		}
		return r, err
	}
	r, err := f.lent.open(ctx)
	if err != nil {
		return err
	}
	f.sealed = r
	text, err := r.MetaData().Serialize(ctx)
	if err != nil {
		return fmt.Errorf("%w: %w", ErrRows, err)
	}
	f.footer = new(format.FileMetaData)
	if err := thrift.Unmarshal(new(thrift.CompactProtocol), text, f.footer); err != nil {
		return fmt.Errorf("%w: %w", ErrRows, err)
	}
	for g := range r.NumRowGroups() {
		f.groups = append(f.groups, r.RowGroup(g).NumRows())
	}
	return f.describe()
}

// describe takes metadata and columns from the footer.
func (f *Rows) describe() (err error) {
	for _, kv := range f.footer.KeyValueMetadata {
		f.meta[kv.Key] = kv.Value
	}
	f.leaves, err = leavesOf(f.footer.Schema)
	return err
}

// Profile returns sinks.LakeSealed or sinks.LakePlain.
func (f *Rows) Profile() string {
	if f.sealed != nil {
		return sinks.LakeSealed
	}
	return sinks.LakePlain
}

// Groups returns the number of rows of each row group. The caller must not change it.
func (f *Rows) Groups() []int64 { return f.groups }

// Plain returns the open file, without rows dropped; nil: it is sealed.
func (f *Rows) Plain() *pq.File { return f.plain }

// Leaves returns the columns that hold values. The caller must not change them.
func (f *Rows) Leaves() []Leaf { return f.leaves }

// HasIDs reports whether a column has a number, as Iceberg gives it.
func (f *Rows) HasIDs() bool {
	return slices.ContainsFunc(f.footer.Schema, func(e format.SchemaElement) bool { return e.FieldID != 0 })
}

// Meta returns a value of the file's metadata; "" if there is none.
func (f *Rows) Meta(key string) string { return f.meta[key] }

// Close closes the readers. No Scan may be under way.
func (f *Rows) Close() error {
	if f.sealed == nil {
		return nil
	}
	err := f.sealed.Close()
	for _, r := range f.lent.idle {
		err = errors.Join(err, r.Close())
	}
	return err
}

// readers are readers of one sealed file: the library decrypts with one state a reader, so each row group that is
// read beside others takes one of its own.
type readers struct {
	open func(ctx context.Context) (*file.Reader, error)
	mu   sync.Mutex
	idle []*file.Reader // guarded by mu
}

// take lends a reader to the caller alone, until give.
func (l *readers) take(ctx context.Context) (*file.Reader, error) {
	l.mu.Lock()
	if n := len(l.idle); n > 0 {
		r := l.idle[n-1]
		l.idle = l.idle[:n-1]
		l.mu.Unlock()
		return r, nil
	}
	l.mu.Unlock()
	return l.open(ctx)
}

func (l *readers) give(r *file.Reader) {
	l.mu.Lock()
	l.idle = append(l.idle, r)
	l.mu.Unlock()
}
