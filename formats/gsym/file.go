package gsym

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"

	"github.com/symlake/symlake/formats"
	"github.com/symlake/symlake/formats/symbol"
)

// file is an opened file: its header and tables.
type file struct {
	in      *formats.Input
	order   binary.ByteOrder
	id      []byte
	base    uint64 // that the offsets of functions count from
	image   uint64 // of the image
	count   int    // of functions
	width   int    // bytes of an offset of a function: 1, 2, 4, 8
	text    int    // bytes of an offset in strings: 4, in version 2 8
	starts  []byte // offsets of functions
	places  []byte // where each is described, text bytes each
	from    int64  // of the file, that places count from
	files   []byte // two offsets in strings each: folder, name
	strings []byte
	end     uint64 // first address behind all code
	code    uint64 // bytes of functions
	borders []border
}

// section is a piece of the file.
type section struct{ at, size int64 }

const (
	headBytes1 = 48
	headBytes2 = 20
	pageBytes  = 4096
)

// Kinds of sections of version 2.
const (
	ofEnd = iota
	ofStarts
	ofPlaces
	ofStrings
	ofFiles
	ofFunctions
	ofID
	kinds
)

func readFile(in *formats.Input) (*file, error) {
	head, err := in.View(0, min(in.Size, headBytes1))
	if err != nil {
		return nil, err
	}
	if len(head) < headBytes2 {
		return nil, fault(0, "a header of 20 bytes")
	}
	f := &file{in: in, order: binary.LittleEndian}
	if head[0] == 'G' {
		f.order = binary.BigEndian
	}
	version := f.order.Uint16(head[4:])
	f.width = int(head[6])
	f.base = f.order.Uint64(head[8:])
	count := f.order.Uint32(head[16:])
	if int64(count) > int64(in.Limits.Symbols) {
		return nil, limit(16, fmt.Sprintf("at most %d functions, not %d", in.Limits.Symbols, count))
	}
	f.count = int(count)
	switch f.width {
	case 1, 2, 4, 8:
	default:
		return nil, fault(6, fmt.Sprintf("offsets of 1, 2, 4 or 8 bytes, not %d", f.width))
	}
	var sections [kinds]section
	switch version {
	case 1:
		sections, err = f.layout1(head)
	case 2:
		sections, err = f.layout2(head)
	default:
		err = &formats.Error{Format: name, Offset: 4, Want: fmt.Sprintf("version 1 or 2, not %d", version), Err: formats.ErrUnsupported}
	}
	if err != nil {
		return nil, err
	}
	return f, f.readTables(&sections)
}

// align rounds up to a power of two.
func align(at, to int64) int64 { return (at + to - 1) &^ (to - 1) }

// layout1 finds the tables of version 1, which follow each other.
func (f *file) layout1(head []byte) (s [kinds]section, err error) {
	if len(head) < headBytes1 {
		return s, fault(0, "a header of 48 bytes")
	}
	f.text = 4
	size := int(head[7])
	if size > 20 {
		return s, fault(7, fmt.Sprintf("an id of at most 20 bytes, not %d", size))
	}
	f.id = bytes.Clone(head[28 : 28+size])
	s[ofStrings] = section{int64(f.order.Uint32(head[20:])), int64(f.order.Uint32(head[24:]))}
	s[ofStarts] = section{align(headBytes1, int64(f.width)), int64(f.count) * int64(f.width)}
	s[ofPlaces] = section{align(s[ofStarts].at+s[ofStarts].size, 4), int64(f.count) * 4}
	at := s[ofPlaces].at + s[ofPlaces].size
	s[ofFiles] = section{at, f.in.Size - at}
	return s, nil
}

// layout2 reads the list of sections of version 2.
func (f *file) layout2(head []byte) (s [kinds]section, err error) {
	f.text = 8
	if head[7] != 0 {
		return s, &formats.Error{Format: name, Offset: 7, Want: fmt.Sprintf("strings that end with zero, not encoding %d", head[7]), Err: formats.ErrUnsupported}
	}
	const entry, most = 20, 64
	for i := int64(0); i < most; i++ {
		at := headBytes2 + i*entry
		b, err := f.in.View(at, entry)
		if err != nil {
			return s, err
		}
		kind, from, size := f.order.Uint32(b), f.order.Uint64(b[4:]), f.order.Uint64(b[12:])
		if kind == ofEnd {
			return s, f.readID(s[ofID])
		}
		if from > uint64(f.in.Size) || size > uint64(f.in.Size)-from {
			return s, fault(at, "a section inside of the file")
		}
		if kind < kinds {
			s[kind] = section{int64(from), int64(size)}
		}
	}
	return s, fault(headBytes2, fmt.Sprintf("a list of at most %d sections", most))
}

func (f *file) readID(s section) error {
	if s.size > 64 {
		return fault(s.at, fmt.Sprintf("an id of at most 64 bytes, not %d", s.size))
	}
	id, err := f.in.View(s.at, s.size)
	f.id = bytes.Clone(id)
	return err
}

func (f *file) readTables(s *[kinds]section) (err error) {
	f.from = s[ofFunctions].at
	for _, k := range []struct {
		to   *[]byte
		kind int
		want int64 // bytes
	}{{&f.starts, ofStarts, int64(f.count) * int64(f.width)}, {&f.places, ofPlaces, int64(f.count) * int64(f.text)}, {&f.strings, ofStrings, -1}} {
		of := s[k.kind]
		if k.want >= 0 && of.size != k.want {
			return fault(of.at, fmt.Sprintf("a table of %d bytes, not %d", k.want, of.size))
		}
		if of.size > f.in.Limits.SectionBytes {
			return limit(of.at, fmt.Sprintf("a table of at most %d bytes, not %d", f.in.Limits.SectionBytes, of.size))
		}
		if *k.to, err = f.in.View(of.at, of.size); err != nil {
			return err
		}
	}
	number, err := f.in.View(s[ofFiles].at, 4)
	if err != nil {
		return err
	}
	files := int64(f.order.Uint32(number))
	if files > int64(f.in.Limits.Files) {
		return limit(s[ofFiles].at, fmt.Sprintf("at most %d files, not %d", f.in.Limits.Files, files))
	}
	size := files * 2 * int64(f.text)
	if size > s[ofFiles].size-4 {
		return fault(s[ofFiles].at, fmt.Sprintf("a table of %d files", files))
	}
	if f.files, err = f.in.View(s[ofFiles].at+4, size); err != nil {
		return err
	}
	f.image = f.base
	if f.count > 0 && f.offset(0) == 0 { // no image begins with code
		f.image = 0
		if f.base>>32 == 1 && f.isUUID() {
			f.image = 1 << 32
		}
	}
	return nil
}

// offset is the offset of a function.
func (f *file) offset(i int) uint64 {
	b := f.starts[i*f.width:]
	switch f.width {
	case 1:
		return uint64(b[0])
	case 2:
		return uint64(f.order.Uint16(b))
	case 4:
		return uint64(f.order.Uint32(b))
	}
	return f.order.Uint64(b)
}

func (f *file) start(i int) uint64 { return f.base + f.offset(i) }

// word reads an offset in strings, or one of such a width.
func (f *file) word(b []byte) uint64 {
	if f.text == 4 {
		return uint64(f.order.Uint32(b))
	}
	return f.order.Uint64(b)
}

// place is where a function is described.
func (f *file) place(i int) uint64 { return uint64(f.from) + f.word(f.places[i*f.text:]) }

// textAt returns a string, cut at the limit of names; false if it is not whole.
func (f *file) textAt(at uint64) (string, bool) {
	if at >= uint64(len(f.strings)) {
		return "", at == 0
	}
	b := f.strings[at:]
	n := bytes.IndexByte(b[:min(int64(len(b)), f.in.Limits.NameBytes+1)], 0)
	if n >= 0 {
		return string(b[:n]), true
	}
	if n = bytes.IndexByte(b, 0); n < 0 {
		return "", false
	}
	return symbol.CutName(string(b[:n])), true
}

// border is what a part must know of the parts beside it.
type border struct {
	taken uint64 // up to where functions before it answer code at the address of its first function
	next  uint64 // where the next function begins behind the address of its last one; 0: nowhere
}

// unsized is the end of a symbol that has no size.
const unsized = 1<<64 - 1

// measure checks that functions ascend, and finds where code ends and what parts must know of each other.
func (f *file) measure(ctx context.Context) error {
	f.borders = make([]border, (f.count+partFunctions-1)/partFunctions)
	w := window{f: f}
	start, end := f.start(0), uint64(0) // of the functions at the address at hand
	for i := range f.count {
		if i%(1<<16) == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		at := f.start(i)
		if at < start || at < f.base || at < f.image {
			return fault(0, fmt.Sprintf("functions that ascend: number %d does not", i))
		}
		if at > start {
			f.code += min(end, at) - start
			f.end = max(f.end, min(end, at))
			start, end = at, at
		}
		if i%partFunctions == 0 {
			f.borders[i/partFunctions].taken = end
		}
		size := uint32(0)
		b, err := w.at(f.place(i), 4)
		if err == nil {
			size = f.order.Uint32(b)
		} else if !isFault(err) {
			return err
		}
		if at+uint64(size) < at || at > unsized-2*pageBytes {
			return fault(0, fmt.Sprintf("addresses of 64 bits: function %d ends above", i))
		}
		end = max(end, sized(at, uint64(size)))
	}
	if end == unsized {
		end = start + pageBytes - start%pageBytes
	}
	f.code += end - start
	f.end = max(f.end, end)
	for p := len(f.borders) - 2; p >= 0; p-- {
		last := (p+1)*partFunctions - 1
		next := last + 1
		for next < min(last+1+partFunctions, f.count) && f.offset(next) == f.offset(last) {
			next++
		}
		switch {
		case next == f.count:
		case f.offset(next) != f.offset(last):
			f.borders[p].next = f.start(next)
		default: // all of the next part is at this address
			f.borders[p].next = f.borders[p+1].next
		}
	}
	return nil
}

func sized(start, size uint64) uint64 {
	if size == 0 {
		return unsized
	}
	return start + size
}
