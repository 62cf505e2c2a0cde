package wire

import (
	"strconv"
	"unicode/utf8"

	"github.com/symlake/symlake/formats/stack"
	"github.com/symlake/symlake/formats/symbol"
)

// What follows writes the same JSON as encoding/json without HTML escapes, straight from answers: a server
// spends most of its time there, and reflection took six times as long.

// AppendStack appends NewStack's JSON; false, and nothing is appended, where that is nil.
func AppendStack(to []byte, s *stack.Stack, answers [][]symbol.Answer) ([]byte, bool) {
	start := len(to)
	to = append(to, `{"format":`...)
	to = AppendString(to, s.Format)
	to = append(to, `,"threads":[`...)
	some := false
	for t := range s.Threads {
		if t > 0 {
			to = append(to, ',')
		}
		to = append(to, `{"frames":[`...)
		first := true
		for f := range s.Threads[t].Frames {
			frame := &s.Threads[t].Frames[f]
			if silent(frame, &answers[t][f]) {
				continue
			}
			if !first {
				to = append(to, ',')
			}
			first, some = false, true
			to = appendAnswer(to, &answers[t][f], s.FrameText(frame))
		}
		to = append(to, `]}`...)
	}
	if !some {
		return to[:start], false
	}
	return append(to, `]}`...), true
}

func appendAnswer(to []byte, a *symbol.Answer, raw []byte) []byte {
	to = append(to, '{')
	if len(raw) > 0 {
		to = append(to, `"raw":`...)
		to = append(AppendString(to, raw), ',')
	}
	to = append(to, `"status":`...)
	to = AppendString(to, string(a.Status))
	if a.Status != symbol.Found {
		if why := Reason(*a); why != "" {
			to = append(to, `,"reason":`...)
			to = AppendString(to, why)
		}
	}
	if a.Status.Retry() {
		to = append(to, `,"retry":true`...)
	}
	to = append(to, `,"frames":`...)
	to = appendFrames(to, a.Frames)
	if len(a.Or) > 0 {
		to = append(to, `,"alternatives":[`...)
		for i, frames := range a.Or {
			if i > 0 {
				to = append(to, ',')
			}
			to = appendFrames(to, frames)
		}
		to = append(to, ']')
	}
	return append(to, '}')
}

func appendFrames(to []byte, frames []symbol.Frame) []byte {
	to = append(to, '[')
	for i := range frames {
		f := &frames[i]
		if i > 0 {
			to = append(to, ',')
		}
		to = append(to, `{"function":`...)
		to = AppendString(to, FunctionOf(*f))
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
		to = append(to, '}')
	}
	return append(to, ']')
}

// AppendString appends a JSON string. Bytes that are no UTF-8 become U+FFFD.
func AppendString[S string | []byte](to []byte, s S) []byte {
	to = append(to, '"')
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
	to = append(to, s[done:]...)
	return append(to, '"')
}
