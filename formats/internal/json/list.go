package json

import "bytes"

// DecodeList returns the text that the strings of a list spell, each string a line. raw begins inside of the first
// string and ends inside of the last. It returns nil if a string spells no text, or several lines.
func DecodeList(raw []byte) *Text {
	d := &Text{Levels: 1, List: true, Bytes: make([]byte, 0, len(raw))}
	for at := 0; at < len(raw); {
		i := bytes.IndexAny(raw[at:], `\"`)
		if i < 0 {
			i = len(raw) - at
		}
		d.Bytes = append(d.Bytes, raw[at:at+i]...)
		if at += i; at == len(raw) {
			break
		}
		n := 0
		if raw[at] == '"' {
			if n = betweenStrings(raw[at:]); n == 0 {
				return nil
			}
			d.Bytes = append(d.Bytes, '\n')
		} else if d.Bytes, n = appendEscape(d.Bytes, raw[at:]); n == 0 || d.Bytes[len(d.Bytes)-1] == '\n' || d.Bytes[len(d.Bytes)-1] == '\r' {
			return nil
		}
		at += n
		d.steps = append(d.steps, textStep{len(d.Bytes), at})
	}
	return d
}

// betweenStrings returns how many bytes part the inside of a string from the inside of the next; 0: no string is next.
func betweenStrings(b []byte) int {
	at := SkipBlank(b, 1)
	if at >= len(b) || b[at] != ',' {
		return 0
	}
	if at = SkipBlank(b, at+1); at >= len(b) || b[at] != '"' {
		return 0
	}
	return at + 1
}

// ListEnd returns where the inside of the last string of a list ends; the inside of the first begins at from. ok is false
// if the list has elements of other kinds.
func ListEnd(b []byte, from int) (end int, ok bool) {
	for {
		end = StringEnd(b, from)
		if end < 0 {
			return 0, false
		}
		n := betweenStrings(b[end:])
		if n == 0 {
			at := SkipBlank(b, end+1)
			return end, at < len(b) && b[at] == ']'
		}
		from = end + n
	}
}

// RequoteList returns the insides of strings that spell the lines of after, parted as in raw, which spelled before.
// Lines that did not change are spelled as in raw.
func RequoteList(raw, before, after []byte) []byte {
	style := StyleOf(raw)
	was := map[string][]byte{}
	var parting []byte
	for rest := raw; ; {
		end := StringEnd(rest, 0)
		if end < 0 {
			end = len(rest)
		}
		if d := Decode(rest[:end]); d != nil {
			was[string(d.Bytes)] = rest[:end]
		}
		if end == len(rest) {
			break
		}
		n := betweenStrings(rest[end:])
		if parting == nil {
			parting = rest[end : end+n]
		}
		rest = rest[end+n:]
	}
	if parting == nil {
		parting = []byte(`","`)
	}
	if !bytes.HasSuffix(before, []byte{'\n'}) {
		after = bytes.TrimSuffix(after, []byte{'\n'})
	}
	out := make([]byte, 0, 2*len(after))
	for i, line := range bytes.Split(after, []byte{'\n'}) {
		if i > 0 {
			out = append(out, parting...)
		}
		if spelled, ok := was[string(line)]; ok {
			out = append(out, spelled...)
		} else {
			out = style.Append(out, line)
		}
	}
	return out
}
