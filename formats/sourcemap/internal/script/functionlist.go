package script

import (
	"cmp"
	"slices"
)

// List holds the functions of a script. A bundle has a hundred thousand, so one text holds all their
// names.
type List struct {
	Placed []Placed
	Parts  []placedPart // of their names
	text   []byte       // of the parts
	most   int          // functions there may be
	room   int          // bytes that names may still take
}

// Placed is a function: its bytes in the script, and the parts of its name.
type Placed struct {
	Start, End int32 // end 0: not found
	From, To   int32 // of List.Parts
}

// placedPart is a piece of a name: an identifier of the script, or text.
type placedPart struct {
	At int32 // offset of the identifier; -1: text stands as it is
	to int32 // of List.text, where it begins at the end of the part before
}

// partBytes is about how many bytes a part takes besides its text.
const partBytes = 8

// Names may take some times as many bytes as the script: a function deep in objects repeats the names
// around it.
const namesPerByte = 16

func newFunctionList(script []byte, most int) *List {
	return &List{most: most, room: namesPerByte*len(script) + 1<<20}
}

// add adds a function of a piece.
func (l *List) add(f *function, p *piece) {
	from := len(l.Parts)
	for _, n := range f.name {
		at := p.offset(n.at)
		if at < 0 && n.text == "" {
			continue
		}
		l.text = append(l.text, n.text...)
		if k := len(l.Parts); k > from && at < 0 && l.Parts[k-1].At < 0 {
			l.Parts[k-1].to = int32(len(l.text))
		} else {
			l.Parts = append(l.Parts, placedPart{int32(at), int32(len(l.text))})
		}
	}
	l.Placed = append(l.Placed, Placed{int32(f.start), int32(f.end), int32(from), int32(len(l.Parts))})
}

// TextOf is the text of a part.
func (l *List) TextOf(part int32) []byte {
	if part == 0 {
		return l.text[:l.Parts[0].to]
	}
	return l.text[l.Parts[part-1].to:l.Parts[part].to]
}

// sort puts functions in the order of their places: those around others first.
func (l *List) sort() {
	slices.SortFunc(l.Placed, func(a, b Placed) int { return cmp.Or(cmp.Compare(a.Start, b.Start), cmp.Compare(b.End, a.End)) })
}

// Identifiers lists the offsets of the identifiers in names, ascending.
func (l *List) Identifiers() []int32 {
	offsets := make([]int32, 0, len(l.Parts))
	for _, p := range l.Parts {
		if p.At >= 0 {
			offsets = append(offsets, p.At)
		}
	}
	slices.Sort(offsets)
	return slices.Clip(slices.Compact(offsets))
}
