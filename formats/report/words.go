package report

import (
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
