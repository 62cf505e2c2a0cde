package report

import (
	"slices"
	"sort"

	"github.com/symlake/symlake/formats/internal/scan"
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

// renamed is s with the original names of its words in its text, which other
// spans follow; s itself where there are none.
func (s *Report) renamed() *Report {
	words := slices.DeleteFunc(slices.Clone(s.Words), func(w Word) bool { return w.Original == "" || s.inFrame(w.Span) })
	if len(words) == 0 {
		return s
	}
	slices.SortStableFunc(words, func(a, b Word) int { return a.Span[0] - b.Span[0] })
	out := *s
	out.Text, out.Words = make([]byte, 0, len(s.Text)+16*len(words)), nil
	type move struct{ from, by int }
	var moves []move
	done := 0
	for _, w := range words {
		if w.Span[0] < done {
			continue
		}
		out.Text = append(out.Text, s.Text[done:w.Span[0]]...)
		out.Text = append(out.Text, scan.OneLine(w.Original)...)
		done = w.Span[1]
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
