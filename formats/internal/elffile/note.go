package elffile

import (
	"bytes"
	"encoding/binary"
	"fmt"

	"github.com/symlake/symlake/formats"
	"github.com/symlake/symlake/formats/internal/native"
)

// noteBytes: a note section or segment is read so far; identity stands in its
// first few entries, core files have megabytes more.
const noteBytes = 1 << 20

// Notes calls visit for each note, first of sections, then of
// segments, until it returns false. Names come without their NUL.
func (f *File) Notes(visit func(name string, kind uint32, desc []byte) bool) error {
	for i := range f.headers {
		h := &f.headers[i]
		if h.kind != shtNote || h.flags&shfCompressed != 0 {
			continue
		}
		in, err := f.raw(i)
		if err != nil {
			return err
		}
		b, err := in.View(0, min(in.Size, noteBytes))
		if err != nil {
			return err
		}
		if !f.notes(b, h.align, visit) {
			return nil
		}
	}
	for i := range f.segments {
		s := &f.segments[i]
		size := uint64(f.In.Size)
		if s.kind != ptNote || s.off >= size {
			continue // a debug file keeps the header of what it has no bytes of
		}
		b, err := f.In.View(int64(s.off), int64(min(s.filesz, size-s.off, noteBytes)))
		if err != nil {
			return err
		}
		if !f.notes(b, s.align, visit) {
			return nil
		}
	}
	return nil
}

// notes walks the notes in b; what does not fit ends the walk. It returns
// what visit returned last.
func (f *File) notes(b []byte, align uint64, visit func(name string, kind uint32, desc []byte) bool) bool {
	if align != 8 {
		align = 4
	}
	pad := func(n uint32) uint64 { return (uint64(n) + align - 1) &^ (align - 1) }
	for len(b) >= 12 {
		r := native.Fields{B: b, Order: f.Order}
		namesz, descsz, kind := r.U32(0), r.U32(4), r.U32(8)
		at := (12 + uint64(namesz) + align - 1) &^ (align - 1)
		if at > uint64(len(b)) || uint64(descsz) > uint64(len(b))-at {
			return true
		}
		name := bytes.TrimRight(b[12:12+uint64(namesz)], "\x00")
		if !visit(string(name), kind, b[at:at+uint64(descsz)]) {
			return false
		}
		if at += pad(descsz); at >= uint64(len(b)) {
			return true
		}
		b = b[at:]
	}
	return true
}

// DebugLink is what .gnu_debuglink says: the debug file's name and the CRC-32
// of its bytes. name is "" when there is none.
func (f *File) DebugLink() (name string, crc uint32, err error) {
	b, err := f.small(".gnu_debuglink")
	if err != nil {
		return "", 0, err
	}
	n := bytes.IndexByte(b, 0)
	if n <= 0 {
		return "", 0, nil
	}
	at := (n + 4) &^ 3
	if at+4 > len(b) {
		return "", 0, corrupt(".gnu_debuglink", uint64(at), "a CRC-32")
	}
	return string(b[:n]), f.Order.Uint32(b[at:]), nil
}

// Supplement ties files to the file with their shared entries, which dwz moved there.
type Supplement struct {
	Is   bool   // this is that file
	Name string // of that file, as the others know it
	ID   []byte // its build-id or, from DWARF 5 on, a checksum
}

// Supplement is what .gnu_debugaltlink says or, from DWARF 5 on, .debug_sup
// (section 7.3.6). nil when the file has neither.
func (f *File) Supplement() (*Supplement, error) {
	b, err := f.small(".gnu_debugaltlink")
	if err != nil {
		return nil, err
	}
	if n := bytes.IndexByte(b, 0); n > 0 {
		return &Supplement{Name: string(b[:n]), ID: bytes.Clone(b[n+1:])}, nil
	}
	const section = ".debug_sup"
	if b, err = f.small(section); len(b) == 0 || err != nil {
		return nil, err
	}
	if len(b) < 4 {
		return nil, corrupt(section, 0, "a whole section")
	}
	if v := f.Order.Uint16(b); v != 5 {
		return nil, unsupported(section, 0, fmt.Sprintf("version 5, not %d", v))
	}
	n := bytes.IndexByte(b[3:], 0)
	if n < 0 {
		return nil, corrupt(section, 3, "the end of a file's name")
	}
	s := &Supplement{Is: b[2] == 1, Name: string(b[3 : 3+n])}
	at := 3 + n + 1
	size, used := binary.Uvarint(b[at:])
	if used <= 0 || size > uint64(len(b)-at-used) {
		return nil, corrupt(section, uint64(at), "a checksum inside the section")
	}
	at += used
	s.ID = bytes.Clone(b[at : at+int(size)])
	return s, nil
}

// SONAME is the name that a shared object calls itself, or "".
func (f *File) SONAME() (string, error) {
	dynamic, err := f.Section(".dynamic")
	if dynamic == nil || err != nil {
		return "", err
	}
	names, err := f.Section(".dynstr")
	if names == nil || err != nil {
		return "", err
	}
	b, err := dynamic.In.View(0, min(dynamic.In.Size, noteBytes))
	if err != nil {
		return "", err
	}
	word := f.AddrSize()
	for ; len(b) >= 2*word; b = b[2*word:] {
		r := native.Fields{B: b, Order: f.Order}
		tag, value := uint64(r.U32(0)), uint64(0)
		if f.wide {
			tag, value = r.U64(0), r.U64(8)
		} else {
			value = uint64(r.U32(4))
		}
		switch tag {
		case 0: // DT_NULL
			return "", nil
		case 14: // DT_SONAME
			if value >= uint64(names.In.Size) {
				return "", corrupt(".dynamic", 0, "a SONAME inside .dynstr")
			}
			b, err := names.In.View(int64(value), min(names.In.Size-int64(value), f.In.Limits.NameBytes))
			if err != nil {
				return "", err
			}
			if n := bytes.IndexByte(b, 0); n >= 0 {
				b = b[:n]
			}
			return string(b), nil
		}
	}
	return "", nil
}

// small is a section that holds one name and an id.
func (f *File) small(name string) ([]byte, error) {
	in, err := f.Input(name)
	if in == nil || err != nil {
		return nil, err
	}
	if in.Size > noteBytes {
		return nil, &formats.Error{Format: "elf", Section: name, Want: "at most 1 MiB", Err: formats.ErrLimit}
	}
	return in.View(0, in.Size)
}
