package parquet

// AnswerColumns returns the columns that answers add to rows, each name behind a prefix. With stacks a row is a stack of
// several frames; else it is one frame.
func AnswerColumns(prefix string, stacks bool) *Table {
	line := []Column{
		column("function", "VARCHAR", "", text),
		column("file", "VARCHAR", "", text),
		column("line", "INTEGER", "", integer),
		column("col", "INTEGER", "", integer),
	}
	t := &Table{Name: "answers", Columns: []Column{
		column("function", "VARCHAR", "innermost function, demangled; '': unknown", text),
		column("file", "VARCHAR", "innermost source file", text),
		column("line", "INTEGER", "from 1; 0: unknown", integer),
		column("col", "INTEGER", "from 1; 0: unknown; of a script from 0, in UTF-16 units", integer),
		column("status", "VARCHAR", "found, hole, outside: final; everything else may change once more symbols are there", text),
		{Name: "reason", Type: "VARCHAR", Doc: "why not; NULL: found", kind: text, nullable: true},
		{Name: "group", Type: "VARCHAR", Doc: "hash of the top functions of the application; NULL: not final", kind: text, nullable: true},
	}}
	if stacks {
		t.Columns = append(t.Columns, Column{Name: "chain", Type: "STRUCT(frame, status, function, file, line, col)[]", Doc: "all frames, inlined ones too", list: true,
			fields: append([]Column{column("frame", "INTEGER", "number of the frame in the row, from 0", integer), column("status", "VARCHAR", "", text)}, line...)})
	} else {
		t.Columns = append(t.Columns, Column{Name: "inlines", Type: "STRUCT(function, file, line, col)[]", Doc: "callers that this place was inlined into, from the inside out: each with the place of its call", list: true, fields: line})
	}
	for i := range t.Columns {
		t.Columns[i].Name = prefix + t.Columns[i].Name
	}
	return t
}

// Answer is what is added to a row. Its texts are numbers of the list that Reset was given; 0 is "", or NULL where a
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

// Leaves of AnswerColumns, in their order.
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

// AnswerRows gathers the answers of one row group: its rows become pages as they come. Its memory is used again.
type AnswerRows struct {
	g       *rowGroup
	pager   *pager
	spare   *slice
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

// NewAnswerRows makes an empty one for rows of a table.
func NewAnswerRows(t *Table, stacks bool) *AnswerRows {
	r := &AnswerRows{g: newRowGroup(t), pager: newPager(), stacks: stacks}
	r.spare, r.known = r.g.open.another(), make([][]int32, r.g.columns())
	return r
}

// Reset forgets everything. Answers refer to texts, of which the first must be ""; more may be appended later, by Texts.
func (r *AnswerRows) Reset(texts []string) {
	r.g.open.reset()
	r.g.reset()
	r.Forget()
	r.err = nil
	for i := range r.known {
		clear(r.known[i])
	}
	r.Texts(texts)
}

// Texts puts a longer list in place of that of Reset, which it begins with.
func (r *AnswerRows) Texts(texts []string) {
	r.texts = texts
	for i := range r.known {
		if n := len(texts) - len(r.known[i]); n > 0 {
			r.known[i] = append(r.known[i], make([]int32, n)...)
		}
	}
}

// word is the number of a text in a column.
func (r *AnswerRows) word(leaf int, text uint32) int32 {
	if n := r.known[leaf][text]; n > 0 {
		return n - 1
	}
	d := &r.g.dicts[leaf]
	n := d.add(d.of.add(printable(r.texts[text])))
	r.known[leaf][text] = n + 1
	return n
}

// Answer takes an answer, of which nothing is kept, and gives its number for Row.
func (r *AnswerRows) Answer(a *Answer) int {
	x := numberedAnswer{from: uint32(len(r.list)), reason: noText, group: noText, status: r.word(ansStatus, a.Status)}
	var top Line
	if len(a.Lines) > 0 {
		top = a.Lines[0]
	}
	x.function, x.file = r.word(ansFunction, top.Function), r.word(ansFile, top.File)
	x.line, x.col = lineNumber(top.Line), lineNumber(top.Col)
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
		y := numberedLine{function: r.word(at, l.Function), file: r.word(at+1, l.File), line: lineNumber(l.Line), col: lineNumber(l.Col), frame: l.Frame}
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
func (r *AnswerRows) Row(number int) {
	s := r.g.open
	a, c := &r.answers[number], s.columns
	c[ansFunction].ints = append(c[ansFunction].ints, a.function)
	c[ansFile].ints = append(c[ansFile].ints, a.file)
	c[ansLine].ints = append(c[ansLine].ints, a.line)
	c[ansCol].ints = append(c[ansCol].ints, a.col)
	c[ansStatus].ints = append(c[ansStatus].ints, a.status)
	c[ansReason].ints = append(c[ansReason].ints, a.reason)
	c[ansGroup].ints = append(c[ansGroup].ints, a.group)
	list := r.list[a.from:a.to]
	c = c[ansList:]
	if r.stacks {
		for i := range list {
			c[0].ints = append(c[0].ints, list[i].frame)
			c[1].ints = append(c[1].ints, list[i].status)
		}
		c = c[2:]
	}
	for i := range list {
		c[0].ints = append(c[0].ints, list[i].function)
		c[1].ints = append(c[1].ints, list[i].file)
		c[2].ints = append(c[2].ints, list[i].line)
		c[3].ints = append(c[3].ints, list[i].col)
	}
	s.lengths = append(s.lengths, uint32(len(list)))
	s.list += len(list)
	s.rows++
	r.g.rows++
	if s.full() && r.err == nil {
		r.err = r.flush()
	}
}

// Forget forgets the answers: Row takes the numbers of later ones. The rows stay.
func (r *AnswerRows) Forget() { r.answers, r.list = r.answers[:0], r.list[:0] }

// Once is Answer and Row for an answer that no other row has: it is not kept.
func (r *AnswerRows) Once(a *Answer) {
	r.Row(r.Answer(a))
	r.Forget()
}

// Group returns the row group of all rows, which stays valid until Reset.
func (r *AnswerRows) Group() (*rowGroup, error) {
	if r.err == nil {
		r.err = r.flush()
	}
	return r.g, r.err
}

// flush encodes the rows that no page holds yet.
func (r *AnswerRows) flush() error {
	s := r.g.take(r.spare)
	r.spare = s
	err := r.pager.add(r.g, s)
	s.reset()
	return err
}
