package script

import (
	"cmp"
	"slices"
)

// List holds the functions of a script. A bundle has a hundred thousand, so one text holds all their
// names.
type List struct {
	Placed  []Placed
	Parts   []Part  // of their names
	Aliases []Alias // of identifiers in them, ascending by their own places
	text    []byte  // of the parts
	most    int     // functions there may be
	room    int     // bytes that names may still take
	full    bool    // there are more functions
}

// Placed is a function: its bytes in the script, and the parts of its name.
type Placed struct {
	Start, End int32
	From, To   int32 // of List.Parts; none: it has no name
}

// Part is a piece of a name: an identifier of the script, or text.
type Part struct {
	At   int32 // offset of the identifier; -1: text stands as it is
	Lead int32 // a segment may begin here at the earliest to name the identifier: nothing but space and keywords stands between
	to   int32 // of List.text, where it begins at the end of the part before
}

// partBytes is about how many bytes a part takes besides its text.
const partBytes = 12

// Names may take some times as many bytes as the script: a function deep in objects repeats the names
// around it.
const namesPerByte = 16

func newFunctionList(script []byte, most int) *List {
	return &List{most: most, room: namesPerByte*len(script) + 1<<20}
}

// add adds a function. Once names take too much, a function keeps the last part of its name.
func (l *List) add(start, end int, name []namePart) {
	if len(l.Placed) >= l.most {
		l.full = true
		return
	}
	size := 0
	for i := range name {
		size += len(name[i].text) + partBytes
	}
	if size > l.room {
		name = name[max(0, len(name)-1):]
	} else {
		l.room -= size
	}
	from := len(l.Parts)
	for _, n := range name {
		l.text = append(l.text, n.text...)
		if k := len(l.Parts); k > from && n.at < 0 && l.Parts[k-1].At < 0 {
			l.Parts[k-1].to = int32(len(l.text))
		} else {
			l.Parts = append(l.Parts, Part{n.at, n.lead, int32(len(l.text))})
		}
	}
	l.Placed = append(l.Placed, Placed{int32(start), int32(end), int32(from), int32(len(l.Parts))})
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

// Identifiers lists the identifiers in names and their aliases, ascending and each once.
func (l *List) Identifiers() []Part {
	parts := make([]Part, 0, len(l.Parts)+len(l.Aliases))
	for _, a := range l.Aliases {
		parts = append(parts, Part{At: a.At, Lead: a.At})
	}
	for _, p := range l.Parts {
		if p.At >= 0 {
			parts = append(parts, p)
		}
	}
	slices.SortFunc(parts, func(a, b Part) int { return cmp.Or(cmp.Compare(a.At, b.At), cmp.Compare(a.Lead, b.Lead)) })
	return slices.Clip(slices.CompactFunc(parts, func(a, b Part) bool { return a.At == b.At }))
}
