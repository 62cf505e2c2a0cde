package otlp

import (
	"bytes"
	"unicode/utf8"

	"github.com/symlake/symlake/formats/profile/otlp/internal/method"
	"github.com/symlake/symlake/formats/report"
	"github.com/symlake/symlake/formats/symbol"
)

// names are the functions and texts of answers, each once. In the end they have indexes in the tables.
type names struct {
	texts     []string
	textOf    map[string]int32
	functions []function // of texts
	known     map[function]int32

	textAt, functionAt []int32 // indexes in the tables
	newTexts           []int32 // that the tables do not have, in order
	newFunctions       []int32
}

// About what a new text and a new function take.
const (
	newTextBytes     = 96
	newFunctionBytes = 96
	outLineBytes     = 16
)

// text returns the number of a text.
func (t *tables) text(s string) (int32, error) {
	n := &t.names
	if i, known := n.textOf[s]; known {
		return i, nil
	}
	if n.textOf == nil {
		n.textOf = map[string]int32{}
	}
	i := int32(len(n.texts))
	n.texts = append(n.texts, s)
	n.textOf[s] = i
	return i, t.m.take(newTextBytes + len(s))
}

// answered keeps the answer to a place.
func (t *tables) answered(at int32, lines []answerLine) error {
	p := &t.places[at]
	p.first, p.lines, p.found = int32(len(t.out)), int32(len(lines)), len(lines) > 0
	for i := range lines {
		if err := t.add(&lines[i]); err != nil {
			return err
		}
	}
	return nil
}

// add adds a line of an answer.
func (t *tables) add(l *answerLine) (err error) {
	var fn function
	for _, s := range [...]struct {
		text string
		to   *int32
	}{{l.name, &fn.name}, {l.system, &fn.system}, {l.file, &fn.file}} {
		if *s.to, err = t.text(s.text); err != nil {
			return err
		}
	}
	n := &t.names
	at, known := n.known[fn]
	if !known {
		if n.known == nil {
			n.known = map[function]int32{}
		}
		at = int32(len(n.functions))
		n.functions = append(n.functions, fn)
		n.known[fn] = at
		err = t.m.take(newFunctionBytes)
	}
	t.out = append(t.out, outLine{at, l.line, l.column})
	if err == nil {
		err = t.m.take(outLineBytes)
	}
	return err
}

// settle gives the functions and texts of answers their indexes. The tables may have equal ones; others are new.
func (t *tables) settle() {
	n := &t.names
	if len(n.functions) == 0 {
		return
	}
	n.textAt = indexes(len(n.texts))
	if i, known := n.textOf[""]; known {
		n.textAt[i] = 0
	}
	for i := range t.strings {
		s := t.strings[i]
		if at, known := n.textOf[string(t.m.b[s.from:s.to])]; known && n.textAt[at] == none {
			n.textAt[at] = int32(i)
		}
	}
	next := int32(max(len(t.strings), 1))
	for i := range n.textAt {
		if n.textAt[i] == none {
			n.textAt[i] = next
			next++
			n.newTexts = append(n.newTexts, int32(i))
		}
	}
	n.functionAt = indexes(len(n.functions))
	final := make(map[function]int32, len(n.functions))
	for i, fn := range n.functions {
		final[t.final(fn)] = int32(i)
	}
	for i, fn := range t.functions {
		if at, known := final[fn]; known && n.functionAt[at] == none && i > 0 {
			n.functionAt[at] = int32(i)
		}
	}
	next = int32(max(len(t.functions), 1))
	for i := range n.functionAt {
		if n.functionAt[i] == none {
			n.functionAt[i] = next
			next++
			n.newFunctions = append(n.newFunctions, int32(i))
		}
	}
}

// final returns a function of answers with indexes of the tables.
func (t *tables) final(fn function) function {
	at := t.names.textAt
	return function{at[fn.name], at[fn.system], at[fn.file]}
}

func indexes(n int) []int32 {
	all := make([]int32, n)
	for i := range all {
		all[i] = none
	}
	return all
}

// run holds what the messages of an input share: answers, so that each place is asked for once.
type run struct {
	known map[placeKey][]answerLine // none: the place has no answer
	texts map[string]string         // of answers, each once
	left  int64                     // bytes
	room  int64
}

// placeKey names a place in any message.
type placeKey struct {
	image        string // the names of the image, or of the script and its function
	space        symbol.Space
	value, at    uint64
	offset, size uint64
	managed      bool
}

// answerLine is a line of an answer.
type answerLine struct {
	name, system, file string
	line, column       uint32
}

// knownShare of the room is for the answers that messages share, in hundredths.
const knownShare = 15

const (
	knownBytes      = 224
	answerLineBytes = 64
	textBytes       = 64
)

// newRun returns a run with answers of so many bytes at most.
func newRun(room int64) *run {
	r := &run{room: room * knownShare / 100}
	r.empty()
	return r
}

func (r *run) empty() {
	r.known, r.texts, r.left = map[placeKey][]answerLine{}, map[string]string{}, r.room
}

// keep keeps the answer to a place. Answers above the room push out all others: what led to them before is asked for again.
func (r *run) keep(k placeKey, lines []answerLine) {
	if r.left < 0 {
		r.empty()
	}
	r.left -= int64(knownBytes + len(k.image) + answerLineBytes*len(lines))
	for i := range lines {
		l := &lines[i]
		l.name, l.system, l.file = r.text(l.name), r.text(l.system), r.text(l.file)
	}
	r.known[k] = lines
}

// text returns a text that is kept once.
func (r *run) text(s string) string {
	if known, ok := r.texts[s]; ok {
		return known
	}
	r.left -= int64(textBytes + len(s))
	r.texts[s] = s
	return s
}

// linesOf returns the lines of an answer as the profile has them.
func linesOf(f *report.Frame, a *symbol.Answer) []answerLine {
	lines := make([]answerLine, len(a.Frames))
	for i := range a.Frames {
		of := &a.Frames[i]
		l := answerLine{name: valid(of.Readable()), system: valid(of.Linkage), file: valid(of.File), line: of.Line, column: of.Column}
		if f.Script != nil && of.Line > 0 {
			l.column++ // columns of scripts count from 0, of profiles from 1
		}
		if m, managed := f.Detail.(*method.Method); managed {
			l.name, l.system = m.Spell(l.name, i == len(a.Frames)-1), ""
		} else if f.Script != nil {
			l.system = ""
		}
		lines[i] = l
	}
	return lines
}

// valid returns s as UTF-8, which protobuf asks of its strings.
func valid(s string) string {
	if utf8.ValidString(s) {
		return s
	}
	return string(bytes.ToValidUTF8([]byte(s), []byte("\ufffd")))
}
