package symbol

// Segment is the code that a system maps into memory as one piece of an image's file.
type Segment struct {
	Position uint64 // of its first byte
	Size     uint64 // in memory
	Offset   uint64 // of its first byte in the file; means nothing where Stored is 0
	Stored   uint64 // bytes of it in the file; 0: a debug file, which has lost them
}

// MaxImageSegments bounds the segments of an artifact.
const MaxImageSegments = 32

// Mapping is the part of a file that a [FileOffset] was found in.
type Mapping struct {
	Offset uint64 // in the file
	Size   uint64 // 0: not known
	// Within: the file holds the image at an offset that is not known, as an APK holds its libraries.
	Within bool
}

// segments are the segments of an image, with what tells how systems map them.
type segments struct {
	all  []Segment
	base uint64
	arch string
}

// position converts an offset in the image's file. ok is false where no segment has the offset, or where the segments do
// not tell.
//
// Segments with a known place in the file answer by it. Others answer for a mapping that shows them whole: it begins at
// the page of their first byte, and has as many pages as they do.
func (in *segments) position(offset uint64, m *Mapping) (pos uint64, ok bool) {
	if m == nil {
		m = &Mapping{}
	}
	whole, first, only := in.shown(m)
	switch {
	case only && (m.Within || whole.Stored == 0):
		pos = first + (offset - m.Offset)
		return pos, offset >= m.Offset && pos >= whole.Position && pos-whole.Position < whole.Size
	case m.Within, only && m.Offset+whole.Position-first != whole.Offset: // the mapping contradicts the file
		return 0, false
	}
	for _, s := range in.all {
		if s.Stored > 0 && offset >= s.Offset && offset-s.Offset < min(s.Stored, s.Size) {
			return s.Position + (offset - s.Offset), true
		}
	}
	return 0, false
}

// shown returns the one segment that a mapping shows whole, and the position of its first page.
func (in *segments) shown(m *Mapping) (s Segment, first uint64, only bool) {
	if m.Size == 0 {
		return s, 0, false
	}
	for _, at := range in.all {
		page, fits := in.firstPage(at, m.Size)
		if fits && only {
			return s, 0, false
		}
		if fits {
			s, first, only = at, page, true
		}
	}
	return s, first, only
}

// firstPage returns the position of a segment's first page, if the pages of the segment are size bytes. They are not if
// two sizes of pages fit, and disagree.
func (in *segments) firstPage(s Segment, size uint64) (first uint64, fits bool) {
	start := in.base + s.Position
	end := start + s.Size
	for _, page := range pagesOf(in.arch) {
		from, to := start&^(page-1), (end+page-1)&^(page-1)
		if end < start || to < end || to-from != size || from < in.base {
			continue
		}
		if fits && first != from-in.base {
			return 0, false
		}
		first, fits = from-in.base, true
	}
	return first, fits
}

// pagesOf returns the sizes of pages that systems of an architecture have.
func pagesOf(arch string) []uint64 {
	switch arch {
	case "x86", "x86_64", "arm":
		return pageSizes[:1]
	}
	return pageSizes[:]
}

var pageSizes = [...]uint64{4 << 10, 16 << 10, 64 << 10}
