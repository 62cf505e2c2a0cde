package wire

import (
	"strconv"
	"unicode/utf8"

	"github.com/symlake/symlake/formats/report"
	"github.com/symlake/symlake/formats/symbol"
)

// What follows writes the same JSON as encoding/json without HTML escapes, straight from answers: a server spends most of
// its time there, and reflection took six times as long.

// Says reports whether a stack with its answers, [thread][frame], has a record: some frame of it says something.
func Says(s *report.Report, answers [][]symbol.Answer) bool {
	for t := range s.Threads {
		for f := range s.Threads[t].Frames {
			if !silent(&s.Threads[t].Frames[f], &answers[t][f]) {
				return true
			}
		}
	}
	return false
}

// WriteStack writes NewStack's JSON as an element, frame by frame, and nothing where Says is false.
func WriteStack(j *JSON, s *report.Report, answers [][]symbol.Answer) {
	if !Says(s, answers) {
		return
	}
	j.Begin("", '{')
	j.String("format", s.Format)
	j.Begin("threads", '[')
	for t := range s.Threads {
		j.Begin("", '{')
		j.Begin("frames", '[')
		for f := range s.Threads[t].Frames {
			frame, a := &s.Threads[t].Frames[f], &answers[t][f]
			if silent(frame, a) {
				continue
			}
			j.Begin("", '{')
			if raw := s.FrameText(frame); len(raw) > 0 {
				j.Value("raw", func(to []byte) []byte { return AppendString(to, raw) })
			}
			j.Members(func(to []byte) []byte { return appendStatus(to, a) })
			writeChains(j, a, nil)
			j.End()
		}
		j.End()
		j.End()
	}
	j.End()
	j.End()
}

// appendStatus appends the members status, reason and retry.
func appendStatus(to []byte, a *symbol.Answer) []byte {
	to = AppendString(append(to, `"status":`...), string(a.Status))
	if a.Status != symbol.Found {
		if why := a.Reason(); why != "" {
			to = append(to, `,"reason":`...)
			to = AppendString(to, why)
		}
	}
	if a.Status.Retry() {
		to = append(to, `,"retry":true`...)
	}
	return to
}

// appendFrame appends the members of a frame.
func appendFrame(to []byte, f *symbol.Frame) []byte {
	to = append(to, `"function":`...)
	to = AppendString(to, f.Readable())
	to = append(to, `,"linkage":`...)
	to = AppendString(to, f.Linkage)
	to = append(to, `,"file":`...)
	to = AppendString(to, f.File)
	to = append(to, `,"line":`...)
	to = strconv.AppendUint(to, uint64(f.Line), 10)
	to = append(to, `,"column":`...)
	to = strconv.AppendUint(to, uint64(f.Column), 10)
	if f.Name != "" {
		to = append(to, `,"name":`...)
		to = AppendString(to, f.Name)
	}
	if f.Ignored {
		to = append(to, `,"ignored":true`...)
	}
	return to
}

// wholeRunes is how much of b ends with a whole character, or with bytes that are none.
func wholeRunes(b []byte) int {
	for n := 1; n < utf8.UTFMax && n <= len(b); n++ {
		if c := b[len(b)-n]; utf8.RuneStart(c) {
			if !utf8.FullRune(b[len(b)-n:]) {
				return len(b) - n
			}
			break
		}
	}
	return len(b)
}

// AppendString appends a JSON string. Bytes that are no UTF-8 become U+FFFD.
func AppendString[S string | []byte](to []byte, s S) []byte {
	return append(appendEscaped(append(to, '"'), s), '"')
}

// appendEscaped appends the inside of a JSON string.
func appendEscaped[S string | []byte](to []byte, s S) []byte {
	done := 0
	for i := 0; i < len(s); {
		c := s[i]
		if c >= ' ' && c != '"' && c != '\\' && c < utf8.RuneSelf {
			i++
			continue
		}
		if c < utf8.RuneSelf {
			to = append(to, s[done:i]...)
			switch c {
			case '"', '\\':
				to = append(to, '\\', c)
			case '\n':
				to = append(to, `\n`...)
			case '\r':
				to = append(to, `\r`...)
			case '\t':
				to = append(to, `\t`...)
			case '\b':
				to = append(to, `\b`...)
			case '\f':
				to = append(to, `\f`...)
			default:
				const hex = "0123456789abcdef"
				to = append(to, `\u00`...)
				to = append(to, hex[c>>4], hex[c&15])
			}
			i++
			done = i
			continue
		}
		r, size := utf8.DecodeRuneInString(string(s[i:min(i+utf8.UTFMax, len(s))]))
		switch {
		case r == utf8.RuneError && size == 1:
			to = append(to, s[done:i]...)
			to = append(to, `\ufffd`...)
			done = i + size
		case r == '\u2028' || r == '\u2029': // ends of lines in JavaScript
			to = append(to, s[done:i]...)
			to = append(to, `\u202`...)
			to = append(to, "89"[r&1])
			done = i + size
		}
		i += size
	}
	return append(to, s[done:]...)
}
