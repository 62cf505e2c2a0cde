package archive

import (
	"bytes"
	"encoding/binary"

	"github.com/symlake/symlake/formats"
)

// zipDirectory is where a ZIP's central directory lies.
type zipDirectory struct {
	in    *formats.Input
	start int64 // of the directory in the file
	size  int64
	count uint64 // entries it should have
	base  int64  // what stands before the ZIP in the file: added to every offset
	short bool   // count has its low 16 bits only
}

// zipEntry is one member in the central directory.
type zipEntry struct {
	at     int64 // of the entry in the file
	name   string
	flags  uint16
	method uint16
	crc    uint32
	packed uint64
	size   uint64
	local  uint64 // offset of the local header, from base
	length int64  // of the entry
}

const (
	zipEntryBytes = 46
	zipEndBytes   = 22
)

// findZipDirectory reads the end records. The last record with a comment that
// ends inside the file counts, as in other readers.
func findZipDirectory(in *formats.Input) (zipDirectory, error) {
	d := zipDirectory{in: in}
	at, end, err := findZipEnd(in)
	if err != nil {
		return d, err
	}
	if binary.LittleEndian.Uint16(end[4:]) != binary.LittleEndian.Uint16(end[6:]) {
		return d, bad("zip", "end record", at, "an archive in one piece", formats.ErrUnsupported)
	}
	count := uint64(binary.LittleEndian.Uint16(end[10:]))
	size := uint64(binary.LittleEndian.Uint32(end[12:]))
	offset := uint64(binary.LittleEndian.Uint32(end[16:]))
	d.short = true
	if at >= 20 && (count == 0xffff || size == 0xffffffff || offset == 0xffffffff) {
		l, err := in.View(at-20, 20)
		if err != nil {
			return d, err
		}
		if binary.LittleEndian.Uint32(l) == 0x07064b50 {
			if at, err = zip64End(in, binary.LittleEndian.Uint64(l[8:]), at-20); err != nil {
				return d, err
			}
			b, err := in.View(at, 56)
			if err != nil {
				return d, err
			}
			count, size, offset = binary.LittleEndian.Uint64(b[32:]), binary.LittleEndian.Uint64(b[40:]), binary.LittleEndian.Uint64(b[48:])
			d.short = false
		}
	}
	if size > uint64(at) || offset > uint64(at)-size {
		return d, bad("zip", "end record", at, "a directory inside the file", formats.ErrCorrupt)
	}
	if size > uint64(in.Limits.SectionBytes) {
		return d, bad("zip", "end record", at, "a smaller directory", formats.ErrLimit)
	}
	d.count, d.size, d.start = count, int64(size), at-int64(size)
	// What stands between the directory's place and its offset was put before
	// the archive (a self-extracting one); unless the offset holds as it is,
	// and something was put behind the directory.
	d.base = d.start - int64(offset)
	if d.base != 0 && size >= 4 {
		if b, err := in.View(int64(offset), 4); err == nil && binary.LittleEndian.Uint32(b) == 0x02014b50 {
			d.start, d.base = int64(offset), 0
		}
	}
	if !d.short && count > uint64(in.Limits.Members) || count > size/zipEntryBytes {
		kind := formats.ErrLimit
		if count > size/zipEntryBytes {
			kind = formats.ErrCorrupt
		}
		return d, bad("zip", "end record", at, "fewer members", kind)
	}
	return d, nil
}

// findZipEnd returns the last end record and its offset.
func findZipEnd(in *formats.Input) (at int64, end []byte, err error) {
	n := min(in.Size, zipEndBytes+0xffff)
	tail, err := in.View(in.Size-n, n)
	if err != nil {
		return 0, nil, err
	}
	for i := len(tail); ; {
		if i = bytes.LastIndex(tail[:i], []byte("PK\x05\x06")); i < 0 {
			return 0, nil, bad("zip", "end record", max(0, in.Size-zipEndBytes), "the end of a central directory", formats.ErrCorrupt)
		}
		if b := tail[i:]; len(b) >= zipEndBytes && zipEndBytes+int(binary.LittleEndian.Uint16(b[20:])) <= len(b) {
			return in.Size - n + int64(i), b, nil
		}
	}
}

// zip64End is where the ZIP64 end record is: at the offset the locator says,
// or right before the locator when something was put before the archive.
func zip64End(in *formats.Input, offset uint64, locator int64) (int64, error) {
	for _, at := range [...]int64{int64(min(offset, uint64(locator))), locator - 56} {
		if at < 0 || at > locator-56 {
			continue
		}
		if b, err := in.View(at, 4); err != nil {
			return 0, err
		} else if binary.LittleEndian.Uint32(b) == 0x06064b50 {
			return at, nil
		}
	}
	return 0, bad("zip", "zip64 locator", locator, "a ZIP64 end record", formats.ErrCorrupt)
}

// each walks the directory in its order.
func (d *zipDirectory) each(f func(*zipEntry) error) error {
	n := uint64(0)
	for at := d.start; at < d.start+d.size; n++ {
		h, err := d.entry(at)
		if err != nil {
			return err
		}
		if err := f(h); err != nil {
			return err
		}
		at += h.length
	}
	if n != d.count && !(d.short && n&0xffff == d.count) {
		return bad("zip", "directory", d.start+d.size, "as many entries as the end record says", formats.ErrCorrupt)
	}
	return nil
}

// entry reads one entry of the directory.
func (d *zipDirectory) entry(at int64) (*zipEntry, error) {
	end := d.start + d.size
	if end-at < zipEntryBytes {
		return nil, bad("zip", "directory", at, "a directory entry", formats.ErrCorrupt)
	}
	// Nearly every entry is in the first view: name and extra fields of 210 bytes.
	b, err := d.in.View(at, min(end-at, 256))
	if err != nil {
		return nil, err
	}
	if binary.LittleEndian.Uint32(b) != 0x02014b50 {
		return nil, bad("zip", "directory", at, "a directory entry", formats.ErrCorrupt)
	}
	le := binary.LittleEndian
	nameLen, extraLen, commentLen := int64(le.Uint16(b[28:])), int64(le.Uint16(b[30:])), int64(le.Uint16(b[32:]))
	h := &zipEntry{
		at: at, flags: le.Uint16(b[8:]), method: le.Uint16(b[10:]), crc: le.Uint32(b[16:]),
		packed: uint64(le.Uint32(b[20:])), size: uint64(le.Uint32(b[24:])), local: uint64(le.Uint32(b[42:])),
		length: zipEntryBytes + nameLen + extraLen + commentLen,
	}
	if h.length > end-at {
		return nil, bad("zip", "directory", at, "an entry inside the directory", formats.ErrCorrupt)
	}
	if need := zipEntryBytes + nameLen + extraLen; need > int64(len(b)) {
		if b, err = d.in.View(at, need); err != nil {
			return nil, err
		}
	}
	h.name = label(string(b[zipEntryBytes : zipEntryBytes+nameLen]))
	if err := h.zip64(b[zipEntryBytes+nameLen : zipEntryBytes+nameLen+extraLen]); err != nil {
		return nil, err
	}
	if h.local > uint64(max(0, d.in.Size-d.base)) {
		h.local = uint64(max(0, d.in.Size-d.base)) // no header there: its own member's error
	}
	return h, nil
}

// zip64 takes the 64-bit numbers from the extra fields, in place of those
// that are all ones.
func (h *zipEntry) zip64(extra []byte) error {
	le := binary.LittleEndian
	for len(extra) >= 4 {
		tag, n := le.Uint16(extra), int(le.Uint16(extra[2:]))
		if n > len(extra)-4 {
			break // padding that is no field, as zipalign leaves it
		}
		field := extra[4 : 4+n]
		extra = extra[4+n:]
		if tag != 1 {
			continue
		}
		for _, v := range [...]*uint64{&h.size, &h.packed, &h.local} {
			if *v != 0xffffffff {
				continue
			}
			if len(field) < 8 {
				return bad("zip", h.name, h.at, "a ZIP64 field with the sizes", formats.ErrCorrupt)
			}
			*v, field = le.Uint64(field), field[8:]
		}
	}
	return nil
}
