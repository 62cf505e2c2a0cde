package sourcemap

import (
	"cmp"
	"slices"
)

// functionList has the functions of a script. A bundle has a hundred thousand: what they are called stands in one
// text.
type functionList struct {
	list  []placed
	parts []placedPart // of their names
	text  []byte       // of the parts
	most  int          // functions there may be
	room  int          // bytes that names may still take
}

// placed is a function: bytes of the script, and its name's parts.
type placed struct {
	start, end int32 // end 0: not found
	from, to   int32 // of parts
}

// placedPart is a piece of a name: an identifier of the script, or text.
type placedPart struct {
	at int32 // offset of the identifier, as of namePart
	to int32 // of text, which begins where that of the part before ends
}

// partBytes is about what a part takes besides its text.
const partBytes = 8

// Names may take some times as many bytes as the script has: those of functions deep in objects repeat what
// is around them.
const namesPerByte = 16

func newFunctionList(script []byte, most int) *functionList {
	return &functionList{most: most, room: namesPerByte*len(script) + 1<<20}
}

// add adds a function of a piece.
func (l *functionList) add(f *function, p *piece) {
	from := len(l.parts)
	for _, n := range f.name {
		at := p.offset(n.at)
		if at < 0 && n.text == "" {
			continue
		}
		l.text = append(l.text, n.text...)
		if k := len(l.parts); k > from && at < 0 && l.parts[k-1].at < 0 {
			l.parts[k-1].to = int32(len(l.text))
		} else {
			l.parts = append(l.parts, placedPart{int32(at), int32(len(l.text))})
		}
	}
	l.list = append(l.list, placed{int32(f.start), int32(f.end), int32(from), int32(len(l.parts))})
}

// textOf is the text of a part.
func (l *functionList) textOf(part int32) []byte {
	if part == 0 {
		return l.text[:l.parts[0].to]
	}
	return l.text[l.parts[part-1].to:l.parts[part].to]
}

// sort puts functions in the order of their places: those around others first.
func (l *functionList) sort() {
	slices.SortFunc(l.list, func(a, b placed) int { return cmp.Or(cmp.Compare(a.start, b.start), cmp.Compare(b.end, a.end)) })
}

// identifiers lists the offsets of those in names, ascending.
func (l *functionList) identifiers() []int32 {
	offsets := make([]int32, 0, len(l.parts))
	for _, p := range l.parts {
		if p.at >= 0 {
			offsets = append(offsets, p.at)
		}
	}
	slices.Sort(offsets)
	return slices.Clip(slices.Compact(offsets))
}
