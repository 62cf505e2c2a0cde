package report

import (
	"bytes"
	"cmp"
	"slices"
	"sort"
)

// inFrame reports whether a frame has taken a part of the text for its own.
func (s *Report) inFrame(span [2]int) bool {
	for t := range s.Threads {
		frames := s.Threads[t].Frames
		i := sort.Search(len(frames), func(i int) bool { return frames[i].Span[1] > span[0] })
		if i < len(frames) && frames[i].Span[0] < span[1] {
			return true
		}
	}
	return false
}

// edit is a part of a text and what stands there instead.
type edit struct {
	span [2]int
	text []byte
}

// wordEdits returns the edits that write words by their original names, as spell spells them.
func (s *Report) wordEdits(spell func(string) string) (edits []edit) {
	for _, w := range s.Words {
		if w.Original != "" && !s.inFrame(w.Span) {
			edits = append(edits, edit{w.Span, []byte(spell(w.Original))})
		}
	}
	return edits
}

// edited is s with edits of its text, which other spans follow; s itself where there are none. Edits within
// others are left out.
func (s *Report) edited(edits []edit) *Report {
	if len(edits) == 0 {
		return s
	}
	slices.SortStableFunc(edits, func(a, b edit) int { return a.span[0] - b.span[0] })
	out := *s
	out.Text, out.Words = make([]byte, 0, len(s.Text)+16*len(edits)), nil
	type move struct{ from, by int }
	var moves []move
	done := 0
	for _, e := range edits {
		if e.span[0] < done {
			continue
		}
		out.Text = append(out.Text, s.Text[done:e.span[0]]...)
		out.Text = append(out.Text, e.text...)
		done = e.span[1]
		moves = append(moves, move{done, len(out.Text) - done})
	}
	out.Text = append(out.Text, s.Text[done:]...)
	moved := func(p int) int {
		i, found := slices.BinarySearchFunc(moves, p, func(m move, p int) int { return m.from - p })
		if !found {
			i--
		}
		if i < 0 {
			return p
		}
		return p + moves[i].by
	}
	out.Threads = slices.Clone(s.Threads)
	for t := range out.Threads {
		out.Threads[t].Frames = slices.Clone(s.Threads[t].Frames)
		for i := range out.Threads[t].Frames {
			f := &out.Threads[t].Frames[i]
			f.Span = [2]int{moved(f.Span[0]), moved(f.Span[1])}
		}
	}
	return &out
}

// classEdit returns the edit that writes the class of the exception that a text began with before, and another one
// after it was answered.
func classEdit(text []byte, class [2]int, before, after []byte) (e edit, ok bool) {
	was, _, _ := bytes.Cut(before, []byte{'\n'})
	is, _, _ := bytes.Cut(after, []byte{'\n'})
	rest, begins := bytes.CutPrefix(was, text[class[0]:class[1]])
	if !begins || class[0] == class[1] {
		return edit{}, false
	}
	if at := bytes.Index(is, []byte(": ")); at >= 0 && bytes.HasPrefix(rest, []byte(": ")) {
		is = is[:at]
	} else if is, ok = bytes.CutSuffix(is, rest); !ok {
		return edit{}, false
	}
	if bytes.IndexByte(is, ' ') >= 0 || bytes.Equal(is, text[class[0]:class[1]]) {
		return edit{}, false
	}
	return edit{class, slices.Clone(is)}, true
}

// lengthEdits returns edits with the ones of the numbers that count bytes which they change. It sorts edits.
func lengthEdits(edits []edit, lengths []Length) []edit {
	lengths = slices.Clone(lengths)
	slices.SortStableFunc(edits, func(a, b edit) int { return cmp.Compare(a.span[0], b.span[0]) })
	slices.SortFunc(lengths, func(a, b Length) int { return cmp.Compare(a.Span[0], b.Span[0]) })
	lengths = slices.Compact(lengths)
	all := slices.Clone(edits)
	type counted struct {
		Length
		more int // bytes that it counts in the edited text
	}
	var open []counted
	end := func(at int) {
		for len(open) > 0 && open[len(open)-1].End <= at {
			l := open[len(open)-1]
			open = open[:len(open)-1]
			if l.more == 0 {
				continue
			}
			number := l.changed(l.more)
			all = append(all, edit{l.Span, number})
			if len(open) > 0 {
				open[len(open)-1].more += l.more + len(number) - (l.Span[1] - l.Span[0])
			}
		}
	}
	for _, e := range edits {
		for len(lengths) > 0 && lengths[0].Span[0] < e.span[0] {
			end(lengths[0].Span[0])
			open = append(open, counted{Length: lengths[0]})
			lengths = lengths[1:]
		}
		end(e.span[0])
		if len(open) > 0 {
			open[len(open)-1].more += len(e.text) - (e.span[1] - e.span[0])
		}
	}
	end(int(^uint(0) >> 1))
	return all
}

// classNames are the strings of JSON around a stack that may be the class of its exception alone.
type classNames struct {
	text   []byte
	recent [][2]int // behind the last stack
	class  []byte   // of the last stack, which has no string yet; nil: none is looked for
	left   int      // strings that may follow the stack
}

const (
	// mostNear is how many strings may stand between a stack and the class of its exception.
	mostNear = 16
	// mostClass is the length of the longest class.
	mostClass = 200
)

// isClass reports whether a string may be a class with its package.
func isClass(raw []byte) bool {
	return len(raw) > 2 && len(raw) <= mostClass && bytes.IndexByte(raw, '.') > 0 && !bytes.ContainsFunc(raw, func(r rune) bool {
		return r < 0x80 && r != '.' && r != '_' && r != '$' && (r < '0' || r > '9') && (r|0x20 < 'a' || r|0x20 > 'z')
	})
}

// met takes a string. It returns true if it is the class of the last stack.
func (c *classNames) met(span [2]int) bool {
	if c.left--; c.left < 0 {
		c.class = nil
	}
	raw := c.text[span[0]:span[1]]
	if !isClass(raw) {
		return false
	}
	if c.class != nil && bytes.Equal(raw, c.class) {
		c.class = nil
		return true
	}
	if len(c.recent) == mostNear {
		c.recent = append(c.recent[:0], c.recent[1:]...)
	}
	c.recent = append(c.recent, span)
	return false
}

// of returns the string that is the class of the exception that a stack begins with. Zero: there is none before the stack.
func (c *classNames) of(stack []byte) (span [2]int) {
	line, _, _ := bytes.Cut(stack, []byte{'\n'})
	class, _, _ := bytes.Cut(line, []byte(": "))
	if c.class = nil; !isClass(class) {
		return span
	}
	for _, span := range slices.Backward(c.recent) {
		if bytes.Equal(c.text[span[0]:span[1]], class) {
			return span
		}
	}
	c.class, c.left = slices.Clone(class), mostNear
	return span
}
