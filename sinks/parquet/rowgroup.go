package parquet

// A row group is gathered here, by column, and written when it is full: a writer of
// Parquet has to have a whole column of it before the next one begins.
const (
	// groupRows is 30 % smaller in the file than 122,880: names come again and again.
	groupRows = 500_000
	// groupBytes ends a row group whose rows have long chains or long names before that.
	groupBytes = 44 << 20
)

// vector is a column of a row group. Texts are numbers of words.
type vector struct {
	numbers []uint32 // of text
	ints    []int32  // of integer
	longs   []int64  // of long and moment; of decimal as its bits
	words   *words
	// alike, for a text: the numbers of words of another column, each of which has one word of
	// this column. The vector has no numbers of its own then.
	alike *vector
	to    []uint32
}

func (v *vector) number(i int) uint32 {
	if v.alike != nil {
		return v.to[v.alike.numbers[i]]
	}
	return v.numbers[i]
}

// len is the number of values.
func (v *vector) len() int {
	if v.alike != nil {
		return len(v.alike.numbers)
	}
	return len(v.numbers) + len(v.ints) + len(v.longs)
}

// rowGroup holds rows of one table, complete ones between calls.
type rowGroup struct {
	table   *Table
	rows    int
	vectors []vector // by leaf
	lengths []uint32 // of the lists, by row; nil: the table has none
	list    bool
}

func newRowGroup(t *Table) *rowGroup {
	g := &rowGroup{table: t}
	for _, l := range t.leaves() {
		v := vector{}
		if l.kind == text {
			v.words = newWords()
		}
		g.vectors = append(g.vectors, v)
		g.list = g.list || l.list
	}
	return g
}

// bytes is about what the group takes in memory.
func (g *rowGroup) bytes() int {
	n := len(g.lengths) * 4
	for i := range g.vectors {
		v := &g.vectors[i]
		n += len(v.numbers)*4 + len(v.ints)*4 + len(v.longs)*8 + len(v.to)*4
		if v.words != nil {
			n += v.words.bytes
		}
	}
	return n
}

func (g *rowGroup) reset() {
	g.rows, g.lengths = 0, g.lengths[:0]
	for i := range g.vectors {
		v := &g.vectors[i]
		v.numbers, v.ints, v.longs, v.to = v.numbers[:0], v.ints[:0], v.longs[:0], v.to[:0]
		if v.words != nil {
			v.words.reset()
		}
	}
}

// put appends a row: string, int32, int64 or uint64 a column, []string a list. It is for
// tables of few rows.
func (g *rowGroup) put(values ...any) {
	for i, x := range values {
		v := &g.vectors[i]
		switch x := x.(type) {
		case string:
			v.numbers = append(v.numbers, v.words.add(printable(x)))
		case int32:
			v.ints = append(v.ints, x)
		case int64:
			v.longs = append(v.longs, x)
		case uint64:
			v.longs = append(v.longs, int64(x))
		case []string:
			for _, s := range x {
				v.numbers = append(v.numbers, v.words.add(printable(s)))
			}
			g.lengths = append(g.lengths, uint32(len(x)))
		}
	}
	g.rows++
}

// encoder writes row groups to a file of one profile.
type encoder interface {
	// write writes a whole row group, which it keeps no reference to.
	write(g *rowGroup) error
	// close ends the file.
	close() error
}
