package report

import (
	"bufio"
	"bytes"
	"cmp"
	"io"
	"slices"
	"strconv"

	"github.com/symlake/symlake/formats/internal/json"
	"github.com/symlake/symlake/formats/internal/scan"
	"github.com/symlake/symlake/formats/symbol"
)

// Print writes s with its answers, [thread][frame], as ndk-stack does. Below a frame's line it writes, for
// each function of the inline chain, innermost first, a line with the function and a line with
// FILE:LINE:COLUMN. Both are as llvm-symbolizer prints them; "??" means unknown. The frame's own line stays
// unchanged. The prefix of a log stands before the answer's lines too.
//
// Print writes only the line of a frame without an answer, or with a status other than Found. Answers may be
// short or nil.
//
// Words are written by their original name, if they have one. Forms with a Print of their own are printed by
// it.
func Print(w io.Writer, s *Report, answers [][]symbol.Answer) error {
	out := bufio.NewWriter(w)
	if s.counted != nil {
		printCounted(out, s, answers)
		return out.Flush()
	}
	printText(out, s, answers)
	return out.Flush()
}

// printCounted writes s with the length of its text as it comes out.
func printCounted(out *bufio.Writer, s *Report, answers [][]symbol.Answer) {
	var text bytes.Buffer
	to := bufio.NewWriter(&text)
	printText(to, s, answers)
	_ = to.Flush() // to memory
	b := text.Bytes()
	if more := len(b) - len(s.Text); more != 0 {
		at := s.counted.Span
		out.Write(b[:at[0]])
		out.Write(s.counted.changed(more))
		b = b[at[1]:]
	}
	out.Write(b)
}

func printText(out *bufio.Writer, s *Report, answers [][]symbol.Answer) {
	s = s.replaced(answers)
	print := printBelow
	if s.Form != nil && s.Form.Print != nil {
		print = s.Form.Print
	}
	print(out, s, answers)
}

// replaced returns s with its strings' reports printed, and the original names of its words, in its text.
// Other spans follow. Of its threads only the threads stay that stand in no string. It returns s itself where nothing changes.
func (s *Report) replaced(answers [][]symbol.Answer) *Report {
	if !s.json {
		return s.edited(s.wordEdits(scan.OneLine))
	}
	if len(s.strings) == 0 {
		return s.edited(s.wordEdits(json.Quote))
	}
	out := *s
	out.strings = nil
	out.Threads, out.Words = s.Threads[:s.own], s.Words[:s.ownWords]
	var edits []edit
	thread, word := s.own, s.ownWords
	for i := range s.strings {
		q := &s.strings[i]
		from := min(thread, len(answers))
		edits = append(edits, q.print(s.Text, answers[from:min(thread+q.threads, len(answers))], s.Words[word:word+q.words])...)
		thread += q.threads
		word += q.words
	}
	edits = append(edits, out.wordEdits(json.Quote)...)
	if len(s.lengths) > 0 {
		edits = lengthEdits(edits, s.lengths)
	}
	return out.edited(edits)
}

// print returns the edits of the text around the string that write the string's reports with their answers, escaped as
// the string was.
func (q *quoted) print(around []byte, answers [][]symbol.Answer, words []Word) []edit {
	var before, after bytes.Buffer
	for _, r := range q.reports {
		before.Write(r.Text)
		for i := range r.Words {
			r.Words[i].Original = words[i].Original
		}
		words = words[len(r.Words):]
		n := min(len(r.Threads), len(answers))
		w := bufio.NewWriter(&after)
		_ = Print(w, r, answers[:n]) // to memory
		_ = w.Flush()
		answers = answers[n:]
	}
	if bytes.Equal(before.Bytes(), after.Bytes()) {
		return nil
	}
	text := after.Bytes()
	if q.name != nil {
		member := append(append([]byte(`, "`), q.name...), `_text": "`...)
		return []edit{{q.span, append(json.StyleOf(nil).Append(member, text), '"')}}
	}
	switch {
	case q.doubled:
		text = bytes.ReplaceAll(text, []byte{'"'}, []byte(`""`))
	case q.list:
		text = json.RequoteList(around[q.span[0]:q.span[1]], before.Bytes(), text)
	case q.levels > 0:
		text = json.Requote(around[q.span[0]:q.span[1]], q.levels, before.Bytes(), text)
	}
	edits := []edit{{q.span, text}}
	if class, ok := classEdit(around, q.class, before.Bytes(), after.Bytes()); ok {
		if q.levels > 0 {
			class.text = []byte(json.Quote(string(class.text)))
		}
		edits = append(edits, class)
	}
	return edits
}

func printBelow(out *bufio.Writer, s *Report, answers [][]symbol.Answer) {
	done := 0
	for t := range s.Threads {
		if t >= len(answers) {
			break
		}
		for i := range s.Threads[t].Frames {
			if i >= len(answers[t]) {
				break
			}
			a := &answers[t][i]
			f := &s.Threads[t].Frames[i]
			if f.Span[0] < done {
				continue // a line of classes that stands above frames of another form
			}
			if own, ok := f.Detail.(FramePrinter); ok {
				done = own.PrintFrame(out, s, f, a, done)
				continue
			}
			if a.Status != symbol.Found || len(a.Frames) == 0 {
				continue
			}
			out.Write(s.Text[done:f.Span[1]])
			done = f.Span[1]
			writeAnswer(out, s.Text, f, a.Frames)
		}
	}
	out.Write(s.Text[done:])
}

// writeAnswer writes an answer's lines. Each begins with the line end of the frame's line, so that a last line
// without a line end stays so.
func writeAnswer(out *bufio.Writer, text []byte, f *Frame, chain []symbol.Frame) {
	before := text[bytes.LastIndexByte(text[:f.Span[0]], '\n')+1 : f.Span[0]]
	var room [64]byte
	start := room[:0]
	if bytes.HasPrefix(text[f.Span[1]:], []byte("\r\n")) {
		start = append(start, '\r')
	}
	start = append(start, '\n')
	before = before[scan.Colors(before):] // the line itself sets it back
	log := scan.LogPrefix(before)
	if log == 0 {
		log = scan.QuoteMarks(before)
	}
	start = append(start, before[:log]...)
	for _, r := range string(before[log:]) {
		if r != '\t' {
			r = ' '
		}
		start = append(start, byte(r))
	}
	for range f.Layout.Indent {
		start = append(start, ' ')
	}
	for i := range chain {
		out.Write(start)
		out.WriteString(scan.OneLine(FunctionName(&chain[i])))
		out.Write(start)
		writeSite(out, &chain[i])
	}
}

// FunctionName returns the name of a function for people, "??" if it is not known.
func FunctionName(f *symbol.Frame) string {
	switch {
	case f.Function != "":
		return f.Function
	case f.Linkage != "":
		return f.Linkage
	}
	return "??"
}

func writeSite(out *bufio.Writer, f *symbol.Frame) {
	file := f.File
	if file == "" {
		file = "??"
	}
	out.WriteString(scan.OneLine(file))
	place := append(out.AvailableBuffer(), ':')
	place = append(strconv.AppendUint(place, uint64(f.Line), 10), ':')
	out.Write(strconv.AppendUint(place, uint64(f.Column), 10))
}

// Each visits the frames that have an answer, in the text's order: callers may stand above what they call.
func Each(s *Report, answers [][]symbol.Answer, visit func(f *Frame, chain []symbol.Frame)) {
	type answered struct {
		frame *Frame
		chain []symbol.Frame
	}
	var all []answered
	EachAnswer(s, answers, func(_ int, f *Frame, a *symbol.Answer) { all = append(all, answered{f, a.Frames}) })
	slices.SortStableFunc(all, func(a, b answered) int { return cmp.Compare(a.frame.Span[0], b.frame.Span[0]) })
	for _, a := range all {
		visit(a.frame, a.chain[min(a.frame.Layout.Above, len(a.chain)-1):])
	}
}

// EachAnswer visits them with their threads' places, in the order of threads.
func EachAnswer(s *Report, answers [][]symbol.Answer, visit func(thread int, f *Frame, a *symbol.Answer)) {
	for t := range s.Threads[:min(len(s.Threads), len(answers))] {
		for i := range s.Threads[t].Frames[:min(len(s.Threads[t].Frames), len(answers[t]))] {
			if a := &answers[t][i]; a.Status == symbol.Found && len(a.Frames) > 0 {
				visit(t, &s.Threads[t].Frames[i], a)
			}
		}
	}
}
