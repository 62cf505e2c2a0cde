package machofile

import "github.com/symlake/symlake/formats"

// Where call frame information is.
const (
	textSegment = "__TEXT"
	compactName = "__unwind_info"
	frameName   = "__eh_frame"
)

// Frames reports whether the image holds call frame information, and whether it has lost some that it had: then this is
// its debug file.
func (f *File) Frames() (has, lost bool) {
	has = f.Has(".debug_frame")
	for i := range f.headers {
		h := &f.headers[i]
		switch {
		case h.segment != textSegment || h.name != compactName && h.name != frameName || h.size == 0:
		case !f.keeps(h):
			lost = true
		default:
			has = true
		}
	}
	return has, lost
}

// Compact returns __unwind_info, nil if there is none.
func (f *File) Compact() (*formats.Input, error) {
	in, _, err := f.text(compactName)
	return in, err
}

// EHFrame returns __eh_frame and its address, nil if there is none.
func (f *File) EHFrame() (in *formats.Input, addr uint64, err error) { return f.text(frameName) }

// text is a section of __TEXT. A debug file has its header, and may have its bytes.
func (f *File) text(name string) (*formats.Input, uint64, error) {
	for i := range f.headers {
		if h := &f.headers[i]; h.segment == textSegment && h.name == name && f.keeps(h) {
			in, err := f.raw(i, name)
			return in, h.addr, err
		}
	}
	return nil, 0, nil
}

// keeps reports whether the file holds the bytes of a loaded section. A debug file that does not may name a place in the
// image's file.
func (f *File) keeps(h *machoSection) bool {
	if !h.stored() {
		return false
	}
	for i := range f.segments {
		s := &f.segments[i]
		if s.name == h.segment && h.off >= s.off && h.off-s.off < s.stored {
			return true
		}
	}
	return !f.DSYM()
}
