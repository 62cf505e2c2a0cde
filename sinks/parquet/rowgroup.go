package parquet

// A row group is gathered here: its rows a slice at a time, which becomes a page in each column as soon as it is
// full, and the texts that the pages refer to by number.
const (
	groupRows = 500_000
	// groupBytes ends a row group whose rows have long chains or long names before that.
	groupBytes = 7 << 20
	// sortedBytes is that of a file whose rows are ordered, and that is read for long: engines read every footer and dictionary
	// once a query.
	sortedBytes = 24 << 20
	// A slice has at most so many rows, and no more once its lists have so many values.
	sliceRows   = 16 << 10
	sliceValues = 64 << 10
)

// pageShare is how much smaller pages are than what they are made of, roughly: where a row group ends must not depend
// on how far its encoding is.
const pageShare = 4

// values are those of one column in a slice. Texts are numbers of the column's dictionary.
type values struct {
	ints  []int32 // of text and integer
	longs []int64 // of long and moment; of decimal as its bits
	// The least and the greatest text, once the slice is whole, where that helps to find rows.
	low, high []byte
}

// slice is rows that are not encoded yet.
type slice struct {
	rows    int
	lengths []uint32 // of the lists, by row
	list    int      // values of the lists
	columns []values // by leaf
	// elements of lists, where they are gathered whole: in place of the columns of their fields.
	elements []element
}

// element is a caller in the list of a range: the fields as the table has them.
type element [5]int32

// field appends a field of all elements.
func (s *slice) field(to []int32, i int) []int32 {
	from := len(to)
	to = roomier(to, len(s.elements))[:from+len(s.elements)]
	field := to[from:]
	for j := range field {
		field[j] = s.elements[j][i]
	}
	return to
}

// firstRows is how many rows a slice has room for at first, and firstValues how many values of their lists.
const (
	firstRows   = 1 << 10
	firstValues = 4 << 10
)

// widen makes room for four times as many rows in the columns of the open slice that are no lists. What append would leave
// behind is four times what is used.
func (g *rowGroup) widen() {
	s := g.open
	more := min(max(3*s.rows, firstRows), max(sliceRows-s.rows, 1))
	s.lengths = roomier(s.lengths, more)
	for i, l := range g.leaves {
		switch v := &s.columns[i]; {
		case l.list:
		case l.kind == long:
			v.longs = roomier(v.longs, more)
		default:
			v.ints = roomier(v.ints, more)
		}
	}
}

// lengthen makes room for n more elements: four times as many as there are, up to what the lists of a slice mostly have.
func (s *slice) lengthen(n int) {
	if have := len(s.elements); cap(s.elements)-have < n {
		s.elements = roomier(s.elements, max(n, min(max(3*have, firstValues), sliceValues+firstValues-have)))
	}
}

func (s *slice) full() bool { return s.rows >= sliceRows || s.list >= sliceValues }

func (s *slice) bytes() int {
	n := 4*len(s.lengths) + 4*len(element{})*len(s.elements)
	for i := range s.columns {
		n += 4*len(s.columns[i].ints) + 8*len(s.columns[i].longs)
	}
	return n
}

func (s *slice) reset() {
	s.rows, s.list, s.lengths, s.elements = 0, 0, s.lengths[:0], s.elements[:0]
	for i := range s.columns {
		v := &s.columns[i]
		*v = values{ints: v.ints[:0], longs: v.longs[:0]}
	}
}

// chunk is a column of a row group, encoded.
type chunk struct {
	pages     []page
	integers  integers // that the pages of a column of integers refer to by number
	values    int      // those of empty lists too
	nulls     int
	low, high []byte // as pages have them
}

// dictionary appends the dictionary page of the chunk, PLAIN, and tells how many values it has; false: it has none.
func (c *chunk) dictionary(l leaf, texts *dictionary, to []byte) (_ []byte, n int, ok bool) {
	switch l.kind {
	case text:
		return texts.page(to), len(texts.list), true
	case integer:
		return c.integers.page(to), len(c.integers.list), true
	}
	return to, 0, false
}

// rowGroup holds rows of one table, complete ones between calls.
type rowGroup struct {
	table  *Table
	leaves []leaf
	limit  int // of bytes
	rows   int
	open   *slice
	texts  map[string]*texts // by the last part of a column's name
	dicts  []dictionary      // by leaf; of texts
	chunks []chunk           // by leaf; belong to who encodes
	paged  int               // about what their pages take
}

func newRowGroup(t *Table) *rowGroup {
	g := &rowGroup{table: t, limit: groupBytes, leaves: t.leaves(), texts: map[string]*texts{}}
	g.dicts, g.chunks = make([]dictionary, len(g.leaves)), make([]chunk, len(g.leaves))
	for i, l := range g.leaves {
		if l.kind == text {
			name := l.path[len(l.path)-1]
			if g.texts[name] == nil {
				g.texts[name] = newTexts()
			}
			g.dicts[i].of = g.texts[name]
		}
	}
	g.open = newSlice(len(g.leaves))
	return g
}

// another makes an empty group with room for as much as g has, but for its open slice.
func (g *rowGroup) another() *rowGroup {
	n := newRowGroup(g.table)
	n.limit = g.limit
	for name, t := range g.texts {
		n.texts[name] = t.another()
	}
	for i, l := range g.leaves {
		if l.kind == text {
			n.dicts[i] = g.dicts[i].another(n.texts[l.path[len(l.path)-1]])
		}
	}
	return n
}

func newSlice(leaves int) *slice { return &slice{columns: make([]values, leaves)} }

// another makes an empty slice with room for as much as s.
func (s *slice) another() *slice {
	n := &slice{lengths: make([]uint32, 0, cap(s.lengths)), columns: make([]values, len(s.columns)), elements: make([]element, 0, cap(s.elements))}
	for i := range s.columns {
		v := &s.columns[i]
		n.columns[i] = values{ints: make([]int32, 0, cap(v.ints)), longs: make([]int64, 0, cap(v.longs))}
	}
	return n
}

// columns returns how many columns with values the group has: a list of structs has one a field.
func (g *rowGroup) columns() int { return len(g.leaves) }

// bytes is about what the group takes in memory.
func (g *rowGroup) bytes() int {
	n := g.open.bytes() + g.paged
	for _, t := range g.texts {
		n += t.bytes()
	}
	for i := range g.dicts {
		n += 4 * (len(g.dicts[i].list) + len(g.dicts[i].number))
	}
	return n
}

func (g *rowGroup) full() bool { return g.rows >= groupRows || g.bytes() >= g.limit }

// take gives the open slice to be encoded and opens another one. What encodes it needs no text: more of them may
// come meanwhile.
func (g *rowGroup) take(next *slice) *slice {
	s := g.open
	g.open = next
	g.paged += s.bytes() / pageShare
	for i, l := range g.leaves {
		if l.kind == text && ordered(l) {
			s.columns[i].low, s.columns[i].high = g.dicts[i].bounds(s.columns[i].ints)
		}
	}
	return s
}

// written lets go of the group's pages. Its texts stay until reset, which does so too.
func (g *rowGroup) written() {
	for i := range g.chunks {
		c := &g.chunks[i]
		clear(c.pages)
		*c = chunk{pages: c.pages[:0], integers: c.integers}
	}
}

// reset empties the group but for its open slice, once it is written.
func (g *rowGroup) reset() {
	g.written()
	g.rows = 0
	for _, t := range g.texts {
		t.reset()
	}
	for i := range g.dicts {
		g.dicts[i].reset()
	}
	for i := range g.chunks {
		g.chunks[i].integers.reset()
	}
	g.paged = 0
}

// encoder writes row groups to a file of one profile.
type encoder interface {
	// write writes a whole row group, which it keeps no reference to.
	write(g *rowGroup) error
	// close ends the file.
	close() error
}
