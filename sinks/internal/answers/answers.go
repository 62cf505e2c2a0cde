// Package answers holds the columns that tables of stacks get: what they are, and how their values become columns of Parquet
// and of Arrow.
package answers

import "github.com/symlake/symlake/sinks/internal/pqfile"

// Columns returns the columns that answers add to rows, each name behind a prefix. With stacks a row is a stack of
// several frames; else it is one frame.
func Columns(prefix string, stacks bool) *pqfile.Table {
	line := []pqfile.Column{
		pqfile.NewColumn("function", "VARCHAR", "", pqfile.Text),
		pqfile.NewColumn("file", "VARCHAR", "", pqfile.Text),
		pqfile.NewColumn("line", "INTEGER", "", pqfile.Integer),
		pqfile.NewColumn("col", "INTEGER", "", pqfile.Integer),
	}
	t := &pqfile.Table{Name: "answers", Columns: []pqfile.Column{
		pqfile.NewColumn("function", "VARCHAR", "innermost function, demangled; '': unknown", pqfile.Text),
		pqfile.NewColumn("file", "VARCHAR", "innermost source file", pqfile.Text),
		pqfile.NewColumn("line", "INTEGER", "from 1; 0: unknown", pqfile.Integer),
		pqfile.NewColumn("col", "INTEGER", "from 1; 0: unknown; of a script from 0, in UTF-16 units", pqfile.Integer),
		pqfile.NewColumn("status", "VARCHAR", "found, hole, outside: final; everything else may change once more symbols are there", pqfile.Text),
		{Name: "reason", Type: "VARCHAR", Doc: "why not; NULL: found", Kind: pqfile.Text, Nullable: true},
		{Name: "group", Type: "VARCHAR", Doc: "VERSION:HASH of the top functions of the application; NULL: not final", Kind: pqfile.Text, Nullable: true},
	}}
	if stacks {
		t.Columns = append(t.Columns, pqfile.Column{Name: "chain", Type: "STRUCT(frame, status, function, file, line, col)[]", Doc: "all frames, inlined ones too", List: true,
			Fields: append([]pqfile.Column{pqfile.NewColumn("frame", "INTEGER", "number of the frame in the row, from 0", pqfile.Integer), pqfile.NewColumn("status", "VARCHAR", "", pqfile.Text)}, line...)})
	} else {
		t.Columns = append(t.Columns, pqfile.Column{Name: "inlines", Type: "STRUCT(function, file, line, col)[]", Doc: "callers that this place was inlined into, from the inside out: each with the place of its call", List: true, Fields: line})
	}
	for i := range t.Columns {
		t.Columns[i].Name = prefix + t.Columns[i].Name
	}
	return t
}

// Answer is the addition to a row. Its texts are numbers in the list given to Reset; 0 is "", or NULL where a
// column may be.
type Answer struct {
	Status, Reason, Group uint32
	// Lines are the functions, from the inside out: of the frame, or of all frames of a stack.
	Lines []Line
}

// Line is a function of an answer.
type Line struct {
	Function, File uint32
	Line, Col      uint32
	Frame          int32  // of a stack
	Status         uint32 // of a stack
}

// Leaves of Columns, in their order.
const (
	ansFunction = iota
	ansFile
	ansLine
	ansCol
	ansStatus
	ansReason
	ansGroup
	ansList // of frames, or from ansList-2 on of inlines
)

// Rows gathers the answers of one row group: its rows become pages as they come. Its memory is used again.
type Rows struct {
	g       *pqfile.RowGroup
	pager   *pqfile.Pager
	spare   *pqfile.Slice
	stacks  bool
	texts   []string
	known   [][]int32 // by leaf and text: its number in the column, plus 1
	answers []numberedAnswer
	list    []numberedLine // of all answers
	err     error
}

// numberedAnswer is an Answer, its texts by their numbers in the columns.
type numberedAnswer struct {
	function, file, status, reason, group int32
	line, col                             int32
	from, to                              uint32 // of list
}

type numberedLine struct {
	function, file, status int32
	frame, line, col       int32
}

// NewRows makes an empty one for rows of a table.
func NewRows(t *pqfile.Table, stacks bool) *Rows {
	r := &Rows{g: pqfile.NewRowGroup(t), pager: pqfile.NewPager(), stacks: stacks}
	r.spare, r.known = r.g.Open.Another(), make([][]int32, r.g.Columns())
	return r
}

// Reset forgets everything. Answers refer to texts; the first must be "". Texts appends more.
func (r *Rows) Reset(texts []string) {
	r.g.Open.Reset()
	r.g.Reset()
	r.Forget()
	r.err = nil
	for i := range r.known {
		clear(r.known[i])
	}
	r.Texts(texts)
}

// Texts replaces the list of Reset by a longer list, which begins with it.
func (r *Rows) Texts(texts []string) {
	r.texts = texts
	for i := range r.known {
		if n := len(texts) - len(r.known[i]); n > 0 {
			r.known[i] = append(r.known[i], make([]int32, n)...)
		}
	}
}

// word is the number of a text in a column.
func (r *Rows) word(leaf int, text uint32) int32 {
	if n := r.known[leaf][text]; n > 0 {
		return n - 1
	}
	d := &r.g.Dicts[leaf]
	n := d.Add(d.Texts.Add(pqfile.Printable(r.texts[text])))
	r.known[leaf][text] = n + 1
	return n
}

// Answer takes an answer and returns its number for Row. It keeps no reference to a.
func (r *Rows) Answer(a *Answer) int {
	x := numberedAnswer{from: uint32(len(r.list)), reason: pqfile.NoText, group: pqfile.NoText, status: r.word(ansStatus, a.Status)}
	var top Line
	if len(a.Lines) > 0 {
		top = a.Lines[0]
	}
	x.function, x.file = r.word(ansFunction, top.Function), r.word(ansFile, top.File)
	x.line, x.col = pqfile.LineNumber(top.Line), pqfile.LineNumber(top.Col)
	if a.Reason != 0 {
		x.reason = r.word(ansReason, a.Reason)
	}
	if a.Group != 0 {
		x.group = r.word(ansGroup, a.Group)
	}
	rest := a.Lines
	at := ansList // of function
	if r.stacks {
		at += 2
	} else if len(rest) > 0 {
		rest = rest[1:]
	}
	for i := range rest {
		l := &rest[i]
		y := numberedLine{function: r.word(at, l.Function), file: r.word(at+1, l.File), line: pqfile.LineNumber(l.Line), col: pqfile.LineNumber(l.Col), frame: l.Frame}
		if r.stacks {
			y.status = r.word(ansList+1, l.Status)
		}
		r.list = append(r.list, y)
	}
	x.to = uint32(len(r.list))
	r.answers = append(r.answers, x)
	return len(r.answers) - 1
}

// Row appends a row with an answer.
func (r *Rows) Row(number int) {
	s := r.g.Open
	a, c := &r.answers[number], s.Columns
	c[ansFunction].Ints = append(c[ansFunction].Ints, a.function)
	c[ansFile].Ints = append(c[ansFile].Ints, a.file)
	c[ansLine].Ints = append(c[ansLine].Ints, a.line)
	c[ansCol].Ints = append(c[ansCol].Ints, a.col)
	c[ansStatus].Ints = append(c[ansStatus].Ints, a.status)
	c[ansReason].Ints = append(c[ansReason].Ints, a.reason)
	c[ansGroup].Ints = append(c[ansGroup].Ints, a.group)
	list := r.list[a.from:a.to]
	c = c[ansList:]
	if r.stacks {
		for i := range list {
			c[0].Ints = append(c[0].Ints, list[i].frame)
			c[1].Ints = append(c[1].Ints, list[i].status)
		}
		c = c[2:]
	}
	for i := range list {
		c[0].Ints = append(c[0].Ints, list[i].function)
		c[1].Ints = append(c[1].Ints, list[i].file)
		c[2].Ints = append(c[2].Ints, list[i].line)
		c[3].Ints = append(c[3].Ints, list[i].col)
	}
	s.Lengths = append(s.Lengths, uint32(len(list)))
	s.List += len(list)
	s.Rows++
	r.g.Rows++
	if s.Full() && r.err == nil {
		r.err = r.flush()
	}
}

// Forget forgets the answers: Row takes the numbers of later ones. The rows stay.
func (r *Rows) Forget() { r.answers, r.list = r.answers[:0], r.list[:0] }

// Once is Answer and Row for an answer that no other row has: it is not kept.
func (r *Rows) Once(a *Answer) {
	r.Row(r.Answer(a))
	r.Forget()
}

// Group returns the row group of all rows, which stays valid until Reset.
func (r *Rows) Group() (*pqfile.RowGroup, error) {
	if r.err == nil {
		r.err = r.flush()
	}
	return r.g, r.err
}

// flush encodes the rows that no page holds yet.
func (r *Rows) flush() error {
	s := r.g.Take(r.spare)
	r.spare = s
	err := r.pager.Add(r.g, s)
	s.Reset()
	return err
}
