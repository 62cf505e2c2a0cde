package arrowmeta

import (
	"encoding/binary"
	"fmt"
)

// Type is what values of a field are, by the number that Arrow gives it.
type Type uint8

// The types of Arrow.
const (
	Null            Type = 1
	Int             Type = 2
	Float           Type = 3
	Binary          Type = 4
	UTF8            Type = 5
	Bool            Type = 6
	Decimal         Type = 7
	Date            Type = 8
	Time            Type = 9
	Timestamp       Type = 10
	Interval        Type = 11
	List            Type = 12
	Struct          Type = 13
	Union           Type = 14
	FixedSizeBinary Type = 15
	FixedSizeList   Type = 16
	Map             Type = 17
	Duration        Type = 18
	LargeBinary     Type = 19
	LargeUTF8       Type = 20
	LargeList       Type = 21
	RunEndEncoded   Type = 22
	BinaryView      Type = 23
	UTF8View        Type = 24
	ListView        Type = 25
	LargeListView   Type = 26
)

// Field is a column, or a child of one.
type Field struct {
	Name      string
	Nullable  bool
	Type      Type
	Bits      int  // of Int, Float and Decimal
	Signed    bool // of Int
	Scale     int  // of Decimal
	Size      int  // bytes of FixedSizeBinary, elements of FixedSizeList
	Dense     bool // of Union
	Extension string
	// Dictionary says that the column holds numbers of a dictionary of Type; nil: it holds values.
	Dictionary *Dictionary
	Children   []Field

	at int // of its table
}

// Dictionary says how a column refers to a dictionary.
type Dictionary struct {
	ID     int64
	Bits   int // of the numbers
	Signed bool
}

// Pair is a key with its value.
type Pair struct{ Key, Value string }

// Schema is the schema of a table. It aliases the message.
type Schema struct {
	Fields    []Field
	Meta      []Pair
	BigEndian bool
	// Old unions have a validity bitmap.
	Old bool

	b      []byte
	meta   []int // positions of Meta
	root   table
	schema table
}

const (
	maxFields = 1 << 16
	maxDepth  = 64

	schemaHeader     = 1
	dictionaryHeader = 2
	batchHeader      = 3
)

// version5 is the version of messages since Arrow 1.0.
const version5 = 4

// ParseSchema reads a message, without its frame. The error of a damaged one is ErrMessage.
func ParseSchema(message []byte) (*Schema, error) {
	f := &buffer{b: message}
	s := &Schema{b: message, root: f.root()}
	if kind := s.root.byte(1, 0); kind != schemaHeader {
		return nil, fmt.Errorf("%w: a schema was expected, the message is of kind %d", ErrMessage, kind)
	}
	s.schema = s.root.table(2)
	s.Old = s.root.short(0, 0) < version5
	s.BigEndian = s.schema.short(0, 0) != 0
	left := maxFields
	s.Fields = fields(s.schema, 1, maxDepth, &left)
	s.meta = s.schema.tables(2)
	s.Meta = pairs(f, s.meta)
	if f.bad || left < 0 {
		return nil, fmt.Errorf("%w: the schema of %d bytes contradicts itself, or has more than %d fields", ErrMessage, len(message), maxFields)
	}
	return s, nil
}

func pairs(f *buffer, all []int) (to []Pair) {
	for _, at := range all {
		t := f.table(at)
		to = append(to, Pair{t.text(0), t.text(1)})
	}
	return to
}

// fields reads the fields that a slot of a table lists.
func fields(t table, slot, depth int, left *int) (all []Field) {
	list := t.tables(slot)
	if *left -= len(list); *left < 0 || depth == 0 || t.f.bad {
		t.f.bad = true
		return nil
	}
	for _, at := range list {
		x := t.f.table(at)
		f := Field{at: at, Name: x.text(0), Nullable: x.byte(1, 0) != 0, Type: Type(x.byte(2, 0))}
		f.describe(x.table(3))
		if d := x.table(4); d.at != 0 {
			f.Dictionary = &Dictionary{ID: d.long(0, 0), Bits: 32, Signed: true}
			if index := d.table(1); index.at != 0 {
				f.Dictionary.Bits, f.Dictionary.Signed = int(index.int(0, 0)), index.byte(1, 0) != 0
			}
		}
		f.Children = fields(x, 5, depth-1, left)
		for _, p := range pairs(t.f, x.tables(6)) {
			if p.Key == "ARROW:extension:name" {
				f.Extension = p.Value
			}
		}
		all = append(all, f)
	}
	return all
}

// describe takes what the table of a type says.
func (f *Field) describe(t table) {
	switch f.Type {
	case Int:
		f.Bits, f.Signed = int(t.int(0, 0)), t.byte(1, 0) != 0
	case Float:
		f.Bits = 16 << min(uint16(t.short(0, 0)), 2)
	case Decimal:
		f.Scale, f.Bits = int(t.int(1, 0)), int(t.int(2, 128))
	case FixedSizeBinary, FixedSizeList:
		f.Size = int(t.int(0, 0))
	case Union:
		f.Dense = t.short(0, 0) != 0
	}
}

// Kind says what values of an added column are.
type Kind uint8

// The kinds of added columns.
const (
	Text    Kind = iota // UTF8
	Integer             // Int of 32 bits, signed
)

// Column is a column that Extend adds. With Fields it is a list of structures.
type Column struct {
	Name     string
	Kind     Kind
	Nullable bool
	Fields   []Column
}

// Extend returns the message of a schema with the fields that keep accepts by their number, then the columns added, and with pairs behind its
// metadata, in place of older ones of the same keys.
func (s *Schema) Extend(keep func(i int) bool, added []Column, meta ...Pair) []byte {
	w := &builder{b: make([]byte, 4, len(s.b)+1024+256*len(added))}
	// What stays is linked once the old message has its place.
	type later struct{ from, to int }
	var old []later

	cells := []cell{{0, 2, uint64(uint16(s.root.short(0, 0)))}, {1, 1, schemaHeader}, {2, 4, 0}, {3, 8, 0}}
	custom := s.root.ref(4)
	if custom != 0 {
		cells = append(cells, cell{4, 4, 0})
	}
	at, where := w.table(cells...)
	w.link(0, at)
	if custom != 0 {
		old = append(old, later{where[4], custom})
	}

	cells = []cell{{0, 2, uint64(uint16(s.schema.short(0, 0)))}, {1, 4, 0}}
	keptMeta := s.keptMeta(meta)
	if len(keptMeta)+len(meta) > 0 {
		cells = append(cells, cell{2, 4, 0})
	}
	features := s.schema.ref(3)
	if features != 0 {
		cells = append(cells, cell{3, 4, 0})
	}
	schema, of := w.table(cells...)
	w.link(where[2], schema)
	if features != 0 {
		old = append(old, later{of[len(of)-1], features})
	}

	var kept []int
	for i := range s.Fields {
		if keep(i) {
			kept = append(kept, s.Fields[i].at)
		}
	}
	refs := w.offsets(of[1], len(kept)+len(added))
	for i, at := range kept {
		old = append(old, later{refs[i], at})
	}
	for i := range added {
		w.field(refs[len(kept)+i], &added[i])
	}
	if len(keptMeta)+len(meta) > 0 {
		refs := w.offsets(of[2], len(keptMeta)+len(meta))
		for i, at := range keptMeta {
			old = append(old, later{refs[i], at})
		}
		for i, p := range meta {
			at, where := w.table(cell{0, 4, 0}, cell{1, 4, 0})
			w.link(refs[len(keptMeta)+i], at)
			w.text(where[0], p.Key)
			w.text(where[1], p.Value)
		}
	}
	w.align(8)
	base := len(w.b)
	w.b = append(w.b, s.b...)
	for _, l := range old {
		w.link(l.from, base+l.to)
	}
	return w.b
}

// keptMeta returns the positions of the old pairs that no new one replaces.
func (s *Schema) keptMeta(meta []Pair) (kept []int) {
	for i, old := range s.Meta {
		again := false
		for _, p := range meta {
			again = again || p.Key == old.Key
		}
		if !again {
			kept = append(kept, s.meta[i])
		}
	}
	return kept
}

// field writes a field, to which an offset leads.
func (w *builder) field(from int, c *Column) {
	kind, nullable := UTF8, uint64(0)
	switch {
	case c.Fields != nil:
		kind = List
	case c.Kind == Integer:
		kind = Int
	}
	if c.Nullable {
		nullable = 1
	}
	where := w.fieldOf(from, c.Name, kind, nullable)
	if c.Fields == nil {
		w.offsets(where[4], 0)
		return
	}
	elements := w.offsets(where[4], 1)
	where = w.fieldOf(elements[0], "element", Struct, 0)
	members := w.offsets(where[4], len(c.Fields))
	for i := range c.Fields {
		w.field(members[i], &c.Fields[i])
	}
}

// fieldOf writes a field of a type but for its children, and returns the positions of its cells.
func (w *builder) fieldOf(from int, name string, kind Type, nullable uint64) []int {
	at, where := w.table(cell{0, 4, 0}, cell{1, 1, nullable}, cell{2, 1, uint64(kind)}, cell{3, 4, 0}, cell{5, 4, 0})
	w.link(from, at)
	w.text(where[0], name)
	var cells []cell
	if kind == Int {
		cells = []cell{{0, 4, 32}, {1, 1, 1}}
	}
	at, _ = w.table(cells...)
	w.link(where[3], at)
	return where
}

// Continuation begins each message since Arrow 0.15.
const Continuation = 0xffffffff

// Frame returns a message behind its length, as streams and Parquet files hold it. Message and frame together fill whole
// units of 8 bytes.
func Frame(message []byte) []byte {
	n := (len(message) + 7) / 8 * 8
	b := binary.LittleEndian.AppendUint32(make([]byte, 0, 8+n), Continuation)
	b = append(binary.LittleEndian.AppendUint32(b, uint32(n)), message...)
	return append(b, make([]byte, n-len(message))...)
}

// Unframe returns the message in a frame.
func Unframe(b []byte) ([]byte, error) {
	f := &buffer{b: b}
	at := 4
	n := f.u32(0)
	if n == Continuation {
		n, at = f.u32(4), 8
	}
	if f.bad || uint64(n) > uint64(len(b)-at) {
		return nil, fmt.Errorf("%w: %d bytes, of a message of %d", ErrMessage, len(b), n)
	}
	return b[at : at+int(n)], nil
}
