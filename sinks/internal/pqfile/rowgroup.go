package pqfile

import "github.com/symlake/symlake/sinks/internal/textset"

// The bounds of a row group. It gathers rows a slice at a time; a full slice becomes a page in each column.
const (
	groupRows = 500_000
	// groupBytes ends a row group earlier if its rows have long chains or long names.
	groupBytes = 7 << 20
	// sortedBytes and sortedRows take the place of groupBytes and groupRows in a file of ordered rows, which is read for long.
	// Engines read whole columns of a row group for one place, and the footer of each row group: 80,000 rows of ceph-osd are
	// least together. Files are 5 % larger than with groups of three times the size.
	sortedBytes = 10 << 20
	sortedRows  = 90_000
	// worthPart is the part of its bounds, 1/worthPart, that a row group has at least where it ends before the next artifact.
	worthPart = 4
	// A slice ends at so many rows, or once its lists have so many values.
	sliceRows   = 16 << 10
	sliceValues = 64 << 10
)

// pageShare is how many times smaller pages are than their slices, roughly. With it, the end of a row group does not depend
// on how far another goroutine has encoded it.
const pageShare = 4

// values holds the values of one column in a slice. A text is a number of the column's dictionary.
type values struct {
	Ints  []int32 // of text and integer
	Longs []int64 // of long and moment; of decimal as its bits
	// The least and the greatest text, once the slice is whole, where that helps to find rows.
	low, high []byte
}

// Slice holds rows that no page holds yet.
type Slice struct {
	Rows    int
	Lengths []uint32 // of the lists, by row
	List    int      // values of the lists
	Columns []values // by leaf
	// Elements of lists, where they are gathered whole: in place of the columns of their fields.
	Elements []Element
}

// Element is a caller in the list of a range: the fields as the table has them.
type Element [5]int32

// field appends a field of all elements.
func (s *Slice) field(to []int32, i int) []int32 {
	from := len(to)
	to = textset.Roomier(to, len(s.Elements))[:from+len(s.Elements)]
	field := to[from:]
	for j := range field {
		field[j] = s.Elements[j][i]
	}
	return to
}

// firstRows is how many rows a slice has room for at first, and firstValues how many values of their lists.
const (
	firstRows   = 1 << 10
	firstValues = 4 << 10
)

// Room returns for how many more rows the open slice has room, which must not be full. Without room it makes some for four
// times as many rows in all columns, lists excepted. With append alone, the garbage would be four times the memory in use.
func (g *RowGroup) Room() int {
	s := g.Open
	if len(s.Lengths) == cap(s.Lengths) {
		more := min(max(3*s.Rows, firstRows), sliceRows-s.Rows)
		s.Lengths = textset.Roomier(s.Lengths, more)
		for i, l := range g.leaves {
			switch v := &s.Columns[i]; {
			case l.list:
			case l.kind == Long:
				v.Longs = textset.Roomier(v.Longs, more)
			default:
				v.Ints = textset.Roomier(v.Ints, more)
			}
		}
	}
	return min(cap(s.Lengths), sliceRows) - s.Rows
}

// Lengthen makes room for n more elements: four times as many as there are, up to what the lists of a slice mostly have.
func (s *Slice) Lengthen(n int) {
	if have := len(s.Elements); cap(s.Elements)-have < n {
		s.Elements = textset.Roomier(s.Elements, max(n, min(max(3*have, firstValues), sliceValues+firstValues-have)))
	}
}

// Full reports whether the slice has as many rows or list values as it may.
func (s *Slice) Full() bool { return s.Rows >= sliceRows || s.List >= sliceValues }

func (s *Slice) bytes() int {
	n := 4*len(s.Lengths) + 4*len(Element{})*len(s.Elements)
	for i := range s.Columns {
		n += 4*len(s.Columns[i].Ints) + 8*len(s.Columns[i].Longs)
	}
	return n
}

// Reset empties the slice and keeps its memory.
func (s *Slice) Reset() {
	s.Rows, s.List, s.Lengths, s.Elements = 0, 0, s.Lengths[:0], s.Elements[:0]
	for i := range s.Columns {
		v := &s.Columns[i]
		*v = values{Ints: v.Ints[:0], Longs: v.Longs[:0]}
	}
}

// RowGroup gathers rows of one table. Between calls it holds whole rows.
type RowGroup struct {
	table  *Table
	leaves []leaf
	limit  int // of bytes
	most   int // rows
	Rows   int
	Open   *Slice
	texts  map[string]*Texts // by the last part of a column's name
	Dicts  []Dictionary      // by leaf; of texts
	chunks []chunk           // by leaf; the goroutine that encodes owns them
	paged  int               // about what their pages take
}

// NewRowGroup returns an empty row group of t.
func NewRowGroup(t *Table) *RowGroup {
	g := &RowGroup{table: t, limit: groupBytes, most: groupRows, leaves: t.leaves(), texts: map[string]*Texts{}}
	g.Dicts, g.chunks = make([]Dictionary, len(g.leaves)), make([]chunk, len(g.leaves))
	for i, l := range g.leaves {
		if l.kind == Text {
			name := l.path[len(l.path)-1]
			if g.texts[name] == nil {
				g.texts[name] = textset.New()
			}
			g.Dicts[i].Texts = g.texts[name]
		}
	}
	g.Open = newSlice(len(g.leaves))
	return g
}

// Another makes an empty group with room for as much as g has, but for its open slice.
func (g *RowGroup) Another() *RowGroup {
	n := NewRowGroup(g.table)
	n.limit, n.most = g.limit, g.most
	for name, t := range g.texts {
		n.texts[name] = t.Another()
	}
	for i, l := range g.leaves {
		if l.kind == Text {
			n.Dicts[i] = g.Dicts[i].another(n.texts[l.path[len(l.path)-1]])
		}
	}
	return n
}

func newSlice(leaves int) *Slice { return &Slice{Columns: make([]values, leaves)} }

// Another makes an empty slice with room for as much as s.
func (s *Slice) Another() *Slice {
	n := &Slice{Lengths: make([]uint32, 0, cap(s.Lengths)), Columns: make([]values, len(s.Columns)), Elements: make([]Element, 0, cap(s.Elements))}
	for i := range s.Columns {
		v := &s.Columns[i]
		n.Columns[i] = values{Ints: make([]int32, 0, cap(v.Ints)), Longs: make([]int64, 0, cap(v.Longs))}
	}
	return n
}

// Columns returns how many columns with values the group has: a list of structs has one a field.
func (g *RowGroup) Columns() int { return len(g.leaves) }

// Bytes is about what the group takes in memory.
func (g *RowGroup) Bytes() int {
	n := g.Open.bytes() + g.paged
	for _, t := range g.texts {
		n += t.Bytes()
	}
	for i := range g.Dicts {
		n += 4 * (len(g.Dicts[i].list) + len(g.Dicts[i].number))
	}
	return n
}

// Sorted says that the file holds ordered rows: the bounds of its groups are those for readers.
func (g *RowGroup) Sorted() { g.limit, g.most = sortedBytes, sortedRows }

// Full reports whether the group has as many rows or bytes as it may.
func (g *RowGroup) Full() bool { return g.Rows >= g.most || g.Bytes() >= g.limit }

// Worth reports whether the group is large enough to end before the rows of another artifact, so that readers of that one
// pass over it.
func (g *RowGroup) Worth() bool { return g.Rows >= g.most/worthPart || g.Bytes() >= g.limit/worthPart }

// Take gives the open slice to be encoded and opens another one. What encodes it needs no text: more of them may
// come meanwhile.
func (g *RowGroup) Take(next *Slice) *Slice {
	s := g.Open
	g.Open = next
	g.paged += s.bytes() / pageShare
	for i, l := range g.leaves {
		if l.kind == Text && ordered(l) {
			s.Columns[i].low, s.Columns[i].high = g.Dicts[i].bounds(s.Columns[i].Ints)
		}
	}
	return s
}

// Written lets go of the group's pages. Its texts stay until reset, which does so too.
func (g *RowGroup) Written() {
	for i := range g.chunks {
		c := &g.chunks[i]
		clear(c.pages)
		*c = chunk{pages: c.pages[:0], integers: c.integers}
	}
}

// Reset empties the group but for its open slice, once it is written.
func (g *RowGroup) Reset() {
	g.Written()
	g.Rows = 0
	for _, t := range g.texts {
		t.Reset()
	}
	for i := range g.Dicts {
		g.Dicts[i].reset()
	}
	for i := range g.chunks {
		g.chunks[i].integers.reset()
	}
	g.paged = 0
}
