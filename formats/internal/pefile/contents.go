package pefile

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"sort"
	"strconv"
	"strings"

	"github.com/symlake/symlake/formats"
	"github.com/symlake/symlake/formats/internal/native"
)

// symbolBytes is the size of an entry of the symbol table.
const symbolBytes = 18

// stringTable reads the table of long names, which lies behind the symbol table; one without bytes if there is none.
func (f *File) stringTable() (*native.NameTable, error) {
	const section = "string table"
	t := &native.NameTable{File: &f.Source, Section: section, Max: f.In.Limits.NameBytes}
	at := uint64(f.symbolAt) + uint64(f.symbolCount)*symbolBytes
	if f.symbolAt == 0 || at+4 > uint64(f.In.Size) {
		return t, nil
	}
	b, err := f.View(section, at, 4, "a string table")
	if err != nil {
		return nil, err
	}
	size := binary.LittleEndian.Uint32(b)
	if size <= 4 {
		return t, nil
	}
	t.B, err = f.View(section, at, int64(size), "a string table inside the file")
	return t, err
}

// sectionName returns the name in a section header. A name above 8 bytes is in the string table: "/" and its decimal offset, or
// "//" and the offset in base 64.
func sectionName(b []byte, names *native.NameTable) (string, error) {
	short := cstring(b)
	if len(names.B) == 0 || len(short) < 2 || short[0] != '/' {
		return short, nil
	}
	at, err := strconv.ParseUint(short[1:], 10, 32)
	if err != nil {
		var ok bool
		if at, ok = base64Offset(short[1:]); !ok {
			return short, nil
		}
	}
	long, err := names.At(at)
	if long == "" {
		long = short
	}
	return strings.Clone(long), err
}

// base64Offset reads "/" and digits of base 64.
func base64Offset(text string) (v uint64, ok bool) {
	const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"
	digits, ok := strings.CutPrefix(text, "/")
	for i := range len(digits) {
		d := strings.IndexByte(alphabet, digits[i])
		v, ok = v<<6|uint64(d), ok && d >= 0
	}
	return v, ok
}

// cstring is b up to its first NUL.
func cstring(b []byte) string {
	if i := bytes.IndexByte(b, 0); i >= 0 {
		b = b[:i]
	}
	return string(b)
}

// Input is the contents of the first section of that name that has bytes, inflated; nil if there is none. The section
// ".zdebug_info" is found as ".debug_info".
func (f *File) Input(name string) (*formats.Input, error) {
	i := f.find(name)
	if i < 0 {
		return nil, nil
	}
	s, err := f.sections[i].Get(func() (*native.Section, error) { return f.open(i, name) })
	if s == nil {
		return nil, err
	}
	return s.In, err
}

// Has reports whether the file holds bytes of a section of that name.
func (f *File) Has(name string) bool { return f.find(name) >= 0 }

// Address returns where a section lies in memory, unslid; 0 if there is none.
func (f *File) Address(name string) uint64 {
	i := f.find(name)
	if i < 0 {
		return 0
	}
	return f.base + uint64(f.headers[i].Addr)
}

func (f *File) find(name string) int {
	for i := range f.headers {
		if s := &f.headers[i]; s.Stored > 0 && plainName(s.Name) == name {
			return i
		}
	}
	return -1
}

// plainName is a section's name without the mark of compression.
func plainName(name string) string {
	if rest, ok := strings.CutPrefix(name, ".zdebug_"); ok {
		return ".debug_" + rest
	}
	return name
}

// raw is a section as it is stored.
func (f *File) raw(s *Section) (*formats.Input, error) {
	return f.In.Section(plainName(s.Name), int64(s.Offset), int64(s.Stored))
}

func (f *File) open(i int, name string) (*native.Section, error) {
	s := &f.headers[i]
	stored, err := f.raw(s)
	if err != nil {
		return nil, err
	}
	p := native.Packing{Size: uint64(stored.Size)}
	if s.Name != name {
		if p, err = f.Zdebug(stored); err != nil {
			return nil, err
		}
	}
	if p.Size > uint64(f.In.Limits.SectionBytes) {
		return nil, f.Limit(name, 0, fmt.Sprintf("at most %d bytes, not %d", f.In.Limits.SectionBytes, p.Size))
	}
	sec := &native.Section{Name: name, Size: p.Size, In: stored}
	if p.Codec == "" {
		return sec, nil
	}
	r, closer, err := f.Unpack(p, stored)
	if err != nil {
		return nil, err
	}
	defer closer()
	sec.In, err = f.Hold(name, int64(p.Size), r)
	return sec, err
}

// EachDebug visits the debug sections as they are stored, in the file's order.
func (f *File) EachDebug(visit func(*formats.Input) error) error {
	return f.each(func(s *Section) bool { return strings.HasPrefix(plainName(s.Name), ".debug_") }, visit)
}

// EachCode visits the sections with code as they are stored, in the file's order.
func (f *File) EachCode(visit func(*formats.Input) error) error {
	return f.each((*Section).Executed, visit)
}

func (f *File) each(want func(*Section) bool, visit func(*formats.Input) error) error {
	for i := range f.headers {
		s := &f.headers[i]
		if s.Stored == 0 || !want(s) {
			continue
		}
		in, err := f.raw(s)
		if err != nil {
			return err
		}
		if err := visit(in); err != nil {
			return err
		}
	}
	return nil
}

// At returns n bytes of the image at a relative address; nil if the file does not hold them all in one section, or in
// the headers. An error is not the file's fault.
func (f *File) At(addr uint32, n int64) ([]byte, error) {
	off, room := f.offset(addr)
	if n <= 0 || n > room {
		return nil, nil
	}
	return f.View("", uint64(off), n, "bytes of a section")
}

// Room returns how many bytes of the image the file holds from a relative address on, to the end of its section.
func (f *File) Room(addr uint32) int64 {
	_, room := f.offset(addr)
	return room
}

// offset returns where a relative address is in the file, and how many bytes lie there.
func (f *File) offset(addr uint32) (off, room int64) {
	i := sort.Search(len(f.byAddr), func(i int) bool { return f.headers[f.byAddr[i]].Addr > addr })
	if i == 0 {
		end := min(int64(f.headerEnd), f.In.Size)
		return int64(addr), end - int64(addr)
	}
	s := &f.headers[f.byAddr[i-1]]
	in := int64(addr) - int64(s.Addr)
	return int64(s.Offset) + in, int64(s.Stored) - in
}

// Window reads small pieces of an image that lie near each other.
type Window struct {
	f    *File
	at   uint32
	b    []byte
	most int64
}

// Window returns a reader of small pieces, for one goroutine.
func (f *File) Window() *Window { return &Window{f: f, most: 64 << 10} }

// At is File.At; the bytes stay as they are until the file is closed.
func (w *Window) At(addr uint32, n int64) ([]byte, error) {
	if addr >= w.at && int64(addr-w.at)+n <= int64(len(w.b)) && n > 0 {
		return w.b[addr-w.at:][:n], nil
	}
	size := min(max(n, w.most), w.f.Room(addr))
	if size < n {
		return nil, nil
	}
	b, err := w.f.At(addr, size)
	if b == nil || err != nil {
		return nil, err
	}
	w.at, w.b = addr, b
	return b[:n], nil
}
