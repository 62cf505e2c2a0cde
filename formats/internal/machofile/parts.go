package machofile

import (
	"strings"

	"github.com/symlake/symlake/formats/internal/native"
	"github.com/symlake/symlake/formats/symbol"
)

// Parts returns the sections with data, and with the linker's stubs, by position, and the segments without sections.
func (f *File) Parts() []symbol.Part {
	var all []symbol.Part
	parted := map[string]bool{"__PAGEZERO": true, "__TEXT": true, "__DWARF": true}
	for i := range f.headers {
		h := &f.headers[i]
		parted[h.segment] = true
		stubs := h.code() && strings.Contains(h.name, "stub")
		if h.segment != "__DWARF" && (!h.code() || stubs) {
			all = append(all, symbol.Part{Name: h.segment + "," + h.name, Start: h.addr, End: h.addr + h.size, Stubs: stubs})
		}
	}
	for i := range f.segments {
		if s := &f.segments[i]; !parted[s.name] && s.initial&protExecute == 0 {
			all = append(all, symbol.Part{Name: s.name, Start: s.addr, End: s.addr + s.size})
		}
	}
	return native.Parts(all, f.Base())
}

// Segments returns where code lies in the file. A dSYM has lost the bytes of its image, but not its header, with which
// __TEXT begins. So that segment's place in the image's file is known.
func (f *File) Segments() []symbol.Segment {
	var all []symbol.Segment
	for i := range f.segments {
		s := &f.segments[i]
		if s.initial&protExecute == 0 {
			continue
		}
		at := symbol.Segment{Position: s.addr, Size: s.size, Offset: s.off, Stored: min(s.stored, s.size)}
		if f.DSYM() && s.name == "__TEXT" {
			at.Offset, at.Stored = 0, s.size
		}
		all = append(all, at)
	}
	return native.Segments(all, f.Base())
}
