package report

import (
	"bytes"
	"slices"
	"sort"

	"github.com/symlake/symlake/formats/internal/scan"
)

// Word is a name in the text around frames that Dart's compiler may have
// replaced: that of an exception's class, or of what its message speaks of.
type Word struct {
	Span     [2]int // in Report.Text
	Name     string // as printed
	Original string // "": as printed. Who knows the names fills it in; Print writes it
}

// quotes begin what Dart's own messages put in quotes: a type, or a member.
var quotes = [][]byte{[]byte("Instance of '"), []byte("type '"), []byte("Class '"), []byte("method '"), []byte("getter '"),
	[]byte("setter '"), []byte("constructor '"), []byte("field '"), []byte("Field '"), []byte("function '")}

// heads stand before the name of an exception's class, which a colon or the
// end of the line follows.
var heads = [][]byte{[]byte("nhandled exception: "), []byte("nhandled Exception: "), []byte("FlutterError: "), []byte("The following "), []byte("Tried calling: ")}

var (
	unhandled = []byte("nhandled exception:")
	wasThrown = []byte(" was thrown")
)

// dartWords looks at the line of text that was just kept, n bytes of content
// at the end of cur's text but for its line end.
func (s *splitter) dartWords(line, n int) {
	at := len(s.cur.Text) - line
	log := scan.LogPrefix(s.cur.Text[at : at+n])
	at += log
	b := s.cur.Text[at : at+n-log]
	after := s.thrown
	s.thrown = bytes.HasSuffix(b, unhandled)
	add := func(from, to int) {
		if from < to && len(s.cur.Words) < MaxFrames {
			s.cur.Words = append(s.cur.Words, Word{Span: [2]int{at + from, at + to}, Name: s.intern(b[from:to])})
		}
	}
	if after {
		if end := identifier(b, 0); end == len(b) || end > 0 && b[end] == ':' {
			add(0, end)
		}
	}
	if bytes.IndexByte(b, '\'') >= 0 {
		for _, q := range quotes {
			for from := 0; ; {
				i := bytes.Index(b[from:], q)
				if i < 0 {
					break
				}
				from += i + len(q)
				end := bytes.IndexByte(b[from:], '\'')
				if end < 0 {
					break
				}
				identifiers(b, from, from+end, add)
				from += end
			}
		}
	}
	if bytes.Contains(b, []byte(": ")) || bytes.Contains(b, wasThrown) {
		for _, h := range heads {
			i := bytes.Index(b, h)
			if i < 0 {
				continue
			}
			from := i + len(h)
			end := identifier(b, from)
			if rest := b[end:]; len(rest) == 0 || bytes.IndexByte([]byte(":("), rest[0]) >= 0 || bytes.HasPrefix(rest, wasThrown) {
				add(from, end)
			}
		}
	}
}

// identifier is the end of the name of Dart that begins at p; p if there is none.
func identifier(b []byte, p int) int {
	if p < len(b) && '0' <= b[p] && b[p] <= '9' {
		return p
	}
	for p < len(b) && isName(b[p]) {
		p++
	}
	return p
}

func isName(c byte) bool {
	return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' || c == '_' || c == '$' || c == '@'
}

// identifiers visits the names in a type such as "Map<a, List<b?>>".
func identifiers(b []byte, from, to int, visit func(from, to int)) {
	for p := from; p < to; {
		end := min(identifier(b, p), to)
		if end == p {
			p++
			for p < to && isName(b[p]) && isName(b[p-1]) { // a number
				p++
			}
			continue
		}
		visit(p, end)
		p = end
	}
}

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
			if f.Managed == nil {
				continue
			}
			m := *f.Managed
			m.parts = slices.Clone(m.parts)
			for k := range m.parts {
				m.parts[k].start, m.parts[k].end = moved(m.parts[k].start), moved(m.parts[k].end)
			}
			f.Managed = &m
		}
	}
	return &out
}
