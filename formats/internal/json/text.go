package json

import (
	"bytes"
	"sort"

	"github.com/symlake/symlake/formats/internal/scan"
)

// Text is the text that a string spells, and where its bytes stand in the string.
type Text struct {
	Bytes  []byte
	Levels int        // how often the string is escaped
	List   bool       // the strings of a list spell it, a line each
	steps  []textStep // in order
	inside *Text      // the string that spells the text; nil: the string itself
}

// textStep is a place behind an escape: from there on, bytes of the text stand where bytes of the string do.
type textStep struct{ text, raw int }

// Decode returns the text that the inside of a string spells. Bytes that are no escape stay as they stand.
func Decode(raw []byte) *Text {
	d := &Text{Levels: 1, Bytes: make([]byte, 0, len(raw))}
	for at := 0; at < len(raw); {
		to, n, ok := appendPiece(d.Bytes, raw[at:])
		if d.Bytes, at = to, at+n; !ok {
			d.Bytes = append(d.Bytes, raw[at])
			at++
		}
		d.steps = append(d.steps, textStep{len(d.Bytes), at})
	}
	return d
}

// Again decodes the text once more.
func (d *Text) Again() *Text {
	next := Decode(d.Bytes)
	next.Levels, next.inside = d.Levels+1, d
	return next
}

// Raw returns where the byte at p of the text stands in the inside of the string.
func (d *Text) Raw(p int) int {
	if i := sort.Search(len(d.steps), func(i int) bool { return d.steps[i].text > p }) - 1; i >= 0 {
		p = d.steps[i].raw + p - d.steps[i].text
	}
	if d.inside != nil {
		return d.inside.Raw(p)
	}
	return p
}

// Requote returns the inside of the string that spells after, escaped so many times, where raw spelled before. Lines
// that did not change are spelled as in raw.
func Requote(raw []byte, levels int, before, after []byte) []byte {
	if levels > 1 {
		inside := Decode(raw)
		return Requote(raw, 1, inside.Bytes, Requote(inside.Bytes, levels-1, before, after))
	}
	style := StyleOf(raw)
	if spelled := style.Append(nil, before); bytes.Equal(spelled, raw) {
		return style.Append(make([]byte, 0, 2*len(after)), after)
	}
	was := map[string][]byte{}
	for rest := raw; len(rest) > 0; {
		line := rest
		if end := LineEnd(rest); end >= 0 {
			line = rest[:end]
		}
		rest = rest[len(line):]
		was[string(Decode(line).Bytes)] = line
	}
	out := make([]byte, 0, 2*len(after))
	for len(after) > 0 {
		n := scan.NextLine(after)
		if n == 0 {
			n = len(after)
		}
		if spelled, ok := was[string(after[:n])]; ok {
			out = append(out, spelled...)
		} else {
			out = style.Append(out, after[:n])
		}
		after = after[n:]
	}
	return out
}
