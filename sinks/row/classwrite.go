package row

import (
	"encoding/binary"
	"strings"

	"github.com/symlake/symlake/formats/symbol"
)

// classBytes and fullClasses close a block of classes. A look-up of one class decodes the columns of all that
// share its block: blocks of a quarter take a fifth off a cold trace's time, and 10 % more room.
const (
	classBytes  = 64 << 10
	fullClasses = 4096
)

// blocksPerTrial is how many blocks are coded as the first of them turned out best: classes of a mapping stand in
// an order of chance, so their blocks are alike.
const blocksPerTrial = 16

// maxMembers bounds the members of a class that a reader makes: 36 MiB of them.
const maxMembers = 1 << 18

// classWriter gathers the columns of one block of classes.
type classWriter struct {
	index   textIndex // of the dictionary's strings, and of those that stand in the open block
	methods *methods
	cols    [classColumns][]byte
	bytes   int
	classes int
	starts  [classColumns]int
	fresh   uint32 // strings that stand in the open block
	foreign []string
	lastAt  []uint32 // by method of the open class: line behind the last one in the source
	head    []byte
	out     []byte
	coded   [classColumns]trial // what suited each column in the last block that was tried with both
	blocks  int
}

func newClassWriter(t *Table, picked []sorted) *classWriter {
	shared := make([]string, len(picked))
	for i, p := range picked {
		shared[i] = t.Strings[p.at]
	}
	return &classWriter{index: newTextIndex(shared), methods: newMethods()}
}

func (w *classWriter) reset() {
	for i := range w.cols {
		w.cols[i] = w.cols[i][:0]
	}
	w.bytes, w.classes, w.fresh = 0, 0, 0
	w.index.reset()
}

// open says which position the block speaks from.
func (w *classWriter) open(from uint64) { w.head = binary.AppendUvarint(w.head[:0], from) }

func (w *classWriter) full() bool { return w.bytes >= classBytes || w.classes >= fullClasses }

func (w *classWriter) put(col int, v uint64) {
	if v < 0x80 {
		w.cols[col] = append(w.cols[col], byte(v))
		return
	}
	w.cols[col] = binary.AppendUvarint(w.cols[col], v)
}

// add encodes a class. What it keeps of its strings it clones.
func (w *classWriter) add(c *symbol.Class) {
	fresh := w.fresh
	for i := parted; i < partedEnd; i++ {
		w.starts[i] = len(w.cols[i])
	}
	w.put(colClassLen, uint64(len(c.Name)))
	w.cols[colClassName] = append(w.cols[colClassName], c.Name...)
	flags := uint64(0)
	if c.Synthesized {
		flags |= classSynthesized
	}
	if c.Facts != nil {
		flags |= classFacts
	}
	w.put(colMethod, flags)
	w.put(colMethod, uint64(len(c.Members)))
	w.ref(colRefLo, c.Original)
	w.file(c.Original, c.File)
	if f := c.Facts; f != nil {
		w.signature(f.Version)
		w.put(colRule, uint64(len(f.Packages)))
		for _, p := range f.Packages {
			w.signature(p)
		}
	}
	w.members(c)
	w.put(colFresh, uint64(w.fresh-fresh))
	for i := parted; i < partedEnd; i++ {
		w.put(colPart, uint64(len(w.cols[i])-w.starts[i]))
	}
	w.classes++
	w.bytes = 0
	for i := range w.cols {
		w.bytes += len(w.cols[i])
	}
}

func (w *classWriter) members(c *symbol.Class) {
	w.methods.reset()
	w.lastAt, w.foreign = w.lastAt[:0], w.foreign[:0]
	name := ""
	var before symbol.Lines
	base := uint32(0) // line in the source that a new method is told against
	for i := range c.Members {
		m := &c.Members[i]
		number, isNew := w.methods.find(c.Members, i)
		if isNew {
			w.put(colOp, 0)
			w.method(c, m)
			w.lastAt = append(w.lastAt, base)
		} else {
			w.put(colOp, uint64(len(w.lastAt))-uint64(number))
		}
		shape := m.Lines.Count + 3*m.From.Count
		if len(m.Rules) > 0 {
			shape += 9
		}
		if m.Name != name {
			before = symbol.Lines{}
		}
		w.put(colShape, uint64(shape)*nameCodes+uint64(w.name(m, name, i == 0)))
		name = m.Name
		if m.Lines.Count > 0 {
			switch {
			case m.Lines == before:
				w.put(colMinFirst, 0)
			default:
				w.put(colMinFirst, 1+zigzag(int64(m.Lines.First)-int64(before.Last)-1))
				if m.Lines.Count > 1 {
					w.put(colMinLength, zigzag(int64(m.Lines.Last)-int64(m.Lines.First)))
				}
			}
		}
		before = m.Lines
		if m.From.Count > 0 {
			w.put(colOrigFirst, zigzag(int64(m.From.First)-int64(w.lastAt[number])))
			if m.From.Count > 1 {
				w.put(colOrigLength, zigzag(int64(m.From.Last)-int64(m.From.First)-(int64(m.Lines.Last)-int64(m.Lines.First))))
			}
			w.lastAt[number] = m.From.Last
			if m.Class == "" {
				base = m.From.Last
			}
		}
		if len(m.Rules) > 0 {
			w.rules(m.Rules)
		}
	}
	// Files stand for the foreign classes in the order in which they first occur.
	for _, class := range w.foreign {
		w.file(class, c.FileOf(class))
	}
}

// name codes how a member is called.
func (w *classWriter) name(m *symbol.Member, last string, first bool) int {
	switch {
	case m.Name == last && !first:
		return nameSame
	case m.Name == m.Original:
		return nameOwn
	case isNext(last, m.Name) && !first:
		return nameNext
	}
	w.put(colNewName, uint64(len(m.Name)))
	w.cols[colNewText] = append(w.cols[colNewText], m.Name...)
	return nameNew
}

func (w *classWriter) method(c *symbol.Class, m *symbol.Member) {
	kind := 0
	if m.Field {
		kind |= methodField
	}
	if m.Params != "" {
		kind |= methodParams
	}
	if m.Class != "" {
		kind |= methodForeign
	}
	w.put(colMethod, uint64(kind))
	if m.Class != "" {
		w.ref(colRefLo, m.Class)
		w.meet(m.Class)
	}
	w.ref(colOrigNameLo, m.Original)
	w.ref(colRefLo, m.Type)
	if m.Params != "" {
		w.ref(colRefLo, m.Params)
	}
}

// meet notes a foreign class.
func (w *classWriter) meet(class string) {
	for i := len(w.foreign) - 1; i >= 0; i-- {
		if w.foreign[i] == class {
			return
		}
	}
	w.foreign = append(w.foreign, class)
}

// ref codes a string.
func (w *classWriter) ref(col int, s string) {
	if s == "" {
		w.pair(col, refEmpty)
		return
	}
	switch shared, here := w.index.find(s); {
	case shared > 0:
		w.pair(col, shared-1+refDict)
	case here > 0:
		w.pair(col, refBack)
		w.pair(col, w.fresh-here)
	default:
		w.index.texts[len(w.index.texts)-1] = strings.Clone(s)
		w.pair(col, refFresh)
		w.put(colFreshLength, uint64(len(s)))
		w.cols[colFreshText] = append(w.cols[colFreshText], s...)
		w.fresh++
	}
}

func (w *classWriter) pair(col int, v uint32) {
	w.cols[col] = append(w.cols[col], byte(v))
	w.put(col+1, uint64(v>>8))
}

func (w *classWriter) file(class, file string) {
	code := fileCode(class, file)
	if w.put(colFile, uint64(code)); code == fileOther {
		w.ref(colRefLo, file)
	}
}

// signature codes a string that hardly ever occurs twice.
func (w *classWriter) signature(s string) {
	w.put(colSigLength, uint64(len(s)))
	w.cols[colSigText] = append(w.cols[colSigText], s...)
}

func (w *classWriter) rules(rules []symbol.Rule) {
	w.put(colRule, uint64(len(rules)))
	for i := range rules {
		r := &rules[i]
		kind := uint64(r.Kind) << 1
		if r.Undeclared {
			kind |= 1
		}
		w.put(colRule, kind)
		switch r.Kind {
		case symbol.ResidualSignature:
			w.signature(r.Text)
		default:
			for _, list := range [2][]string{r.Conditions, r.Actions} {
				w.put(colRule, uint64(len(list)))
				for _, s := range list {
					w.ref(colRefLo, s)
				}
			}
			w.ref(colRefLo, r.Text)
			w.put(colRule, uint64(len(r.Positions)))
			line := int64(0)
			outline := uint32(0)
			for _, p := range r.Positions {
				w.put(colRule, uint64(p.Outline-outline))
				w.put(colRule, zigzag(int64(p.Line)-line))
				outline, line = p.Outline, int64(p.Line)
			}
		}
	}
}

// body gives the block; it is valid until the next.
func (w *classWriter) body(c *compressor) []byte {
	b := append(w.out[:0], w.head...)
	b = binary.AppendUvarint(b, uint64(w.classes))
	both := w.blocks%blocksPerTrial == 0
	w.blocks++
	for i := range w.cols {
		try := classCoders[i]
		if try == tryBoth && !both {
			try = w.coded[i]
		}
		at := len(b)
		if b = c.column(b, w.cols[i], try); try == tryBoth {
			w.coded[i] = tryEntropy
			if coderOf(b[at:]) == codeZstd {
				w.coded[i] = tryZstd
			}
		}
	}
	w.out = b
	return b
}
