package row

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"unsafe"

	"github.com/symlake/symlake/formats/symbol"
)

// classBlock is an opened row of classes: its columns, and where each class begins in them. Classes are
// made when they are asked for. Safe for concurrent use.
type classBlock struct {
	dict   *dictionary
	cols   [classColumns][]byte
	names  []string
	starts []classStart
	ends   []uint32 // by string that stands here: where it ends in their text
}

// classStart is where a class's share of the columns begins. There is one more than classes.
type classStart struct {
	at    [partedEnd - parted]uint32
	fresh uint32
}

func decodeClasses(d *decompressor, dict *dictionary, body []byte, last uint64) (*Block, error) {
	from, n := binary.Uvarint(body)
	if n <= 0 || from > last {
		return nil, fmt.Errorf("%w: want where the block begins", errColumn)
	}
	body = body[n:]
	classes, n := binary.Uvarint(body)
	if n <= 0 || classes > fullClasses {
		return nil, fmt.Errorf("%w: want how many classes there are", errColumn)
	}
	body = body[n:]
	c := &classBlock{dict: dict}
	d.budget = maxBodyBytes
	size, err := columnBytes(body, classColumns, d.budget)
	if err != nil {
		return nil, err
	}
	room := make([]byte, 0, size)
	for i := range c.cols {
		raw, rest, err := d.column(room[len(room):], body)
		if err != nil {
			return nil, fmt.Errorf("column %d: %w", i, err)
		}
		c.cols[i], body = raw[:len(raw):len(raw)], rest
		room = room[:len(room)+len(raw)]
	}
	if len(body) > 0 {
		return nil, fmt.Errorf("%w: %d bytes after the last column", errColumn, len(body))
	}
	if int(classes) > len(c.cols[colClassLen]) {
		return nil, fmt.Errorf("%w: want %d classes", errColumn, classes)
	}
	if err := c.index(int(classes)); err != nil {
		return nil, err
	}
	b := &Block{from: from, last: last, base: from, end: from, classes: c}
	b.bytes = c.size() + int64(unsafe.Sizeof(*b)+unsafe.Sizeof(*c))
	return b, nil
}

// index finds where each class begins.
func (c *classBlock) index(classes int) (err error) {
	if c.names, err = cut(make([]string, 0, classes), classes, reader{b: c.cols[colClassLen]}, c.cols[colClassName]); err != nil {
		return err
	}
	part, fresh := reader{b: c.cols[colPart]}, reader{b: c.cols[colFresh]}
	c.starts = make([]classStart, classes+1)
	for i := range classes {
		for k := range c.starts[i].at {
			at := uint64(c.starts[i].at[k]) + part.next()
			if at > uint64(len(c.cols[parted+k])) {
				return fmt.Errorf("%w: want the parts of class %d", errColumn, i)
			}
			c.starts[i+1].at[k] = uint32(at)
		}
		f := uint64(c.starts[i].fresh) + fresh.next()
		if f > uint64(len(c.cols[colFreshLength])) {
			return fmt.Errorf("%w: want the strings of class %d", errColumn, i)
		}
		c.starts[i+1].fresh = uint32(f)
	}
	end := &c.starts[classes]
	for k := range end.at {
		if int(end.at[k]) != len(c.cols[parted+k]) {
			return fmt.Errorf("%w: column %d is not used up", errColumn, parted+k)
		}
	}
	if !part.done() || !fresh.done() {
		return fmt.Errorf("%w: more parts than classes", errColumn)
	}
	lengths, text := reader{b: c.cols[colFreshLength]}, uint64(0)
	c.ends = make([]uint32, end.fresh)
	for i := range c.ends {
		if text += lengths.next(); lengths.bad || text > uint64(len(c.cols[colFreshText])) {
			return fmt.Errorf("%w: want the length of a string", errColumn)
		}
		c.ends[i] = uint32(text)
	}
	if !lengths.done() || text != uint64(len(c.cols[colFreshText])) {
		return fmt.Errorf("%w: strings and their lengths differ", errColumn)
	}
	return nil
}

// upTo is where string i of those that stand here begins in their text.
func (c *classBlock) upTo(i uint32) uint32 {
	if i == 0 {
		return 0
	}
	return c.ends[i-1]
}

func (c *classBlock) size() int64 {
	n := int64(len(c.starts))*int64(unsafe.Sizeof(classStart{})) + int64(len(c.names))*int64(stringBytes) + int64(len(c.ends))*4
	for i := range c.cols {
		n += int64(cap(c.cols[i]))
	}
	return n + int64(len(c.cols[colClassName]))
}

// Classes is how many classes the block holds.
func (b *Block) Classes() int {
	if b.classes == nil {
		return 0
	}
	return len(b.classes.names)
}

// ClassName is the name of class i in the program.
func (b *Block) ClassName(i int) string { return b.classes.names[i] }

// Class gives a class by its name in the program, made anew; nil: the block does not hold it. The error is
// ErrUnauthentic, of bytes that passed their seal: it takes a broken writer or broken memory.
func (b *Block) Class(name string) (*symbol.Class, error) {
	if b.classes == nil {
		return nil, nil
	}
	for i, n := range b.classes.names {
		if n == name {
			return b.ClassAt(i)
		}
	}
	return nil, nil
}

// ClassAt gives class i, made anew.
func (b *Block) ClassAt(i int) (*symbol.Class, error) {
	r := classReader{block: b.classes, first: b.classes.starts[i].fresh, fresh: b.classes.starts[i].fresh, most: b.classes.starts[i+1].fresh}
	from, to := &b.classes.starts[i], &b.classes.starts[i+1]
	for k := range r.col {
		r.col[k].b = b.classes.cols[parted+k][from.at[k]:to.at[k]]
	}
	// The class shall not keep its block: its share of the text is copied, in one piece each.
	for _, k := range [2]int{colNewText - parted, colSigText - parted} {
		r.col[k].b = slices.Clone(r.col[k].b)
	}
	r.own = string(b.classes.cols[colFreshText][b.classes.upTo(from.fresh):b.classes.upTo(to.fresh)])
	c, err := r.class(b.classes.names[i])
	if err != nil {
		return nil, fmt.Errorf("%w: class %d of a block: %w", ErrUnauthentic, i, err)
	}
	return c, nil
}

// classReader makes one class.
type classReader struct {
	block  *classBlock // nil: packed has the strings
	packed *packedClass
	table  *Table
	col    [partedEnd - parted]reader
	first  uint32 // the first string that stands here for it
	fresh  uint32 // the next one
	most   uint32 // the first one of the next class
	own    string // those from first to most, one behind the other
	bad    bool

	methods []*symbol.Method // as they first occur
	room    []symbol.Method  // for the others
	rule    []symbol.Rule    // room for those of members
	lastAt  []uint32
	foreign []string
}

func (r *classReader) next(col int) uint64 { return r.col[col-parted].next() }

// count is a number of things of which each takes a byte of some column at least, so never more than there are bytes.
func (r *classReader) count(col int, most int) int {
	n := r.next(col)
	if n > uint64(most) {
		r.bad = true
		return 0
	}
	return int(n)
}

func (r *classReader) left(col int) int { return len(r.col[col-parted].b) - r.col[col-parted].at }

var errClass = errors.New("its columns do not make a class")

func (r *classReader) class(name string) (*symbol.Class, error) {
	c := &symbol.Class{Name: name}
	flags := r.next(colMethod)
	c.Synthesized = flags&classSynthesized != 0
	members := r.count(colMethod, min(r.left(colShape), maxMembers))
	c.Original = r.ref(colRefLo)
	c.File = r.file(c.Original)
	if flags&classFacts != 0 {
		c.Facts = &symbol.Facts{Version: r.signature()}
		for range r.count(colRule, r.left(colSigLength)) {
			c.Facts.Packages = append(c.Facts.Packages, r.signature())
		}
	}
	if members > 0 {
		r.members(c, members)
	}
	for _, class := range r.foreign {
		if f := r.file(class); f != "" {
			c.Files = append(c.Files, symbol.ClassFile{Class: class, File: f})
		}
	}
	sortFiles(c.Files)
	for i := range r.col {
		r.bad = r.bad || !r.col[i].done()
	}
	if r.bad || r.fresh != r.most {
		return nil, errClass
	}
	return c, nil
}

func (r *classReader) members(c *symbol.Class, n int) {
	c.Members = make([]symbol.Member, n)
	most := min(n, bytes.Count(r.col[colOp-parted].b, []byte{0})) // a new method is a 0
	r.room, r.methods, r.lastAt = make([]symbol.Method, most), make([]*symbol.Method, 0, most), make([]uint32, 0, most)
	ruled := 0
	for _, shape := range r.col[colShape-parted].b {
		if shape >= shapeRules*nameCodes {
			ruled++
		}
	}
	r.rule = make([]symbol.Rule, ruled) // most have one
	name := ""
	var before symbol.Lines
	base := uint32(0)
	for i := range c.Members {
		m := &c.Members[i]
		number := len(r.methods)
		if op := r.next(colOp); op == 0 && len(r.room) > 0 { // none is left: the column has ended
			r.methods, r.lastAt = append(r.methods, r.method()), append(r.lastAt, base)
		} else if 0 < op && op <= uint64(number) {
			number -= int(op)
		} else {
			r.bad = true
		}
		if r.bad {
			return
		}
		m.Method = r.methods[number]
		code := r.next(colShape)
		shape := code / nameCodes
		if shape >= 2*shapeRules {
			r.bad = true
			return
		}
		last := name
		switch code % nameCodes {
		case nameNew:
			name = r.cut(colNewName, colNewText)
		case nameOwn:
			name = m.Original
		case nameNext:
			name = nextName(name)
		}
		if name != last {
			before = symbol.Lines{}
		}
		m.Name = name
		m.Lines = r.lines(before, uint8(shape%3))
		before = m.Lines
		m.From = symbol.Lines{Count: uint8(shape / 3 % 3)}
		if m.From.Count > 0 {
			m.From.First = uint32(int64(r.lastAt[number]) + unzigzag(r.next(colOrigFirst)))
			m.From.Last = m.From.First
			if m.From.Count > 1 {
				m.From.Last = uint32(int64(m.From.First) + int64(m.Lines.Last) - int64(m.Lines.First) + unzigzag(r.next(colOrigLength)))
			}
			if r.lastAt[number] = m.From.Last; m.Class == "" {
				base = m.From.Last
			}
		}
		if shape >= shapeRules {
			m.Rules = r.rules()
		}
	}
}

func (r *classReader) lines(before symbol.Lines, count uint8) symbol.Lines {
	if count == 0 {
		return symbol.Lines{}
	}
	v := r.next(colMinFirst)
	if v == 0 {
		return before
	}
	l := symbol.Lines{First: uint32(int64(before.Last) + 1 + unzigzag(v-1)), Count: count}
	l.Last = l.First
	if count > 1 {
		l.Last = uint32(int64(l.First) + unzigzag(r.next(colMinLength)))
	}
	return l
}

func (r *classReader) method() *symbol.Method {
	m := &r.room[0]
	r.room = r.room[1:]
	kind := r.next(colMethod)
	m.Field = kind&methodField != 0
	if kind&methodForeign != 0 {
		m.Class = r.ref(colRefLo)
		r.meet(m.Class)
	}
	m.Original = r.ref(colOrigNameLo)
	m.Type = r.ref(colRefLo)
	if kind&methodParams != 0 {
		m.Params = r.ref(colRefLo)
	}
	return m
}

func (r *classReader) meet(class string) {
	for i := len(r.foreign) - 1; i >= 0; i-- {
		if r.foreign[i] == class {
			return
		}
	}
	r.foreign = append(r.foreign, class)
}

func (r *classReader) file(class string) string {
	code := r.next(colFile)
	if code == fileOther {
		return r.ref(colRefLo)
	}
	return guessFile(class, int(min(code, fileOther)))
}

func (r *classReader) signature() string { return r.cut(colSigLength, colSigText) }

// cut gives a string whose length and text stand in two columns.
func (r *classReader) cut(length, text int) string {
	n := r.next(length)
	t := &r.col[text-parted]
	if n > uint64(len(t.b)-t.at) {
		r.bad = true
		return ""
	}
	t.at += int(n)
	return stringOf(t.b[t.at-int(n) : t.at]) // the columns stay as they are
}

func (r *classReader) rules() []symbol.Rule {
	n := r.count(colRule, r.left(colRule))
	var rules []symbol.Rule
	if n <= len(r.rule) {
		rules, r.rule = r.rule[:n:n], r.rule[n:]
	} else {
		rules = make([]symbol.Rule, n)
	}
	for i := range rules {
		d := &rules[i]
		kind := r.next(colRule)
		d.Kind, d.Undeclared = symbol.RuleKind(kind>>1), kind&1 != 0
		if d.Kind == symbol.ResidualSignature {
			d.Text = r.signature()
			continue
		}
		for _, list := range [2]*[]string{&d.Conditions, &d.Actions} {
			for range r.count(colRule, r.strings()) {
				*list = append(*list, r.ref(colRefLo))
			}
		}
		d.Text = r.ref(colRefLo)
		n := r.count(colRule, r.left(colRule)/2)
		line := int64(0)
		outline := uint32(0)
		for range n {
			outline += uint32(r.next(colRule))
			line += unzigzag(r.next(colRule))
			d.Positions = append(d.Positions, symbol.OutlinePosition{Outline: outline, Line: uint32(line)})
		}
	}
	return rules
}
