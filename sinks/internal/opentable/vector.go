package opentable

import (
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"math"
	"strings"
)

// maxGone bounds the deleted rows of a file.
const maxGone = 1 << 26

func vectorFault(format string, args ...any) error {
	return fmt.Errorf("%w: no deletion vector: "+format, append([]any{ErrTable}, args...)...)
}

// vectorMagic begins a deletion vector of Delta and of Iceberg.
const vectorMagic = "\xd1\xd3\x39\x64"

// framedVector reads a vector as files hold it: its length, the vector, a checksum.
func framedVector(b []byte) ([]uint32, error) {
	if len(b) < 8 {
		return nil, vectorFault("it has %d bytes", len(b))
	}
	n := int64(binary.BigEndian.Uint32(b))
	if n > int64(len(b))-8 {
		return nil, vectorFault("it says that it has %d bytes, of %d", n, len(b)-8)
	}
	body := b[4 : 4+n]
	if sum := binary.BigEndian.Uint32(b[4+n:]); crc32.ChecksumIEEE(body) != sum {
		return nil, vectorFault("its checksum is wrong")
	}
	return vector(body)
}

// vector reads the rows of a vector, ascending: a magic number, and a Roaring bitmap of 64 bits in the portable form. Rows above 2^32
// are refused.
func vector(b []byte) ([]uint32, error) {
	rest, ok := strings.CutPrefix(string(b), vectorMagic)
	if !ok || len(rest) < 8 {
		return nil, vectorFault("it begins with %x", b[:min(4, len(b))])
	}
	d := &bitmap{b: []byte(rest)}
	switch high := d.uint64(); {
	case high == 0:
		return nil, nil
	case high > 1 || d.uint32() != 0:
		return nil, fmt.Errorf("%w: it deletes rows above %d of a file", ErrTable, uint32(math.MaxUint32))
	}
	rows := d.read()
	if d.bad {
		return nil, vectorFault("its bitmap is cut, or has more than %d rows", maxGone)
	}
	return rows, nil
}

// bitmap reads a Roaring bitmap of 32 bits. bad notes damage.
type bitmap struct {
	b   []byte
	bad bool
}

func (d *bitmap) take(n int) []byte {
	if n > len(d.b) {
		d.bad, d.b = true, nil
		return make([]byte, min(n, 8))
	}
	b := d.b[:n]
	d.b = d.b[n:]
	return b
}

func (d *bitmap) uint16() uint32 { return uint32(binary.LittleEndian.Uint16(d.take(2))) }
func (d *bitmap) uint32() uint32 { return binary.LittleEndian.Uint32(d.take(4)) }
func (d *bitmap) uint64() uint64 { return binary.LittleEndian.Uint64(d.take(8)) }

// Of the form of a bitmap.
const (
	cookieRuns   = 12347 // with the number of containers, less 1, above it
	cookiePlain  = 12346
	maxContainer = 1 << 16
	maxArray     = 4096 // numbers of a container that lists them
	bitsBytes    = 8192 // of a container of bits
	noOffsets    = 4    // containers up to which a bitmap with runs leaves out their offsets
)

func (d *bitmap) read() (rows []uint32) {
	cookie := d.uint32()
	var n int
	var runs []byte
	switch {
	case cookie&0xffff == cookieRuns:
		n = int(cookie>>16) + 1
		runs = d.take((n + 7) / 8)
	case cookie == cookiePlain:
		n = int(d.uint32())
	default:
		d.bad = true
	}
	if d.bad || n < 0 || n > maxContainer || 4*n > len(d.b) {
		d.bad = true
		return nil
	}
	heads := d.take(4 * n)
	if runs == nil || n >= noOffsets {
		d.take(4 * n)
	}
	for i := range n {
		high := uint32(binary.LittleEndian.Uint16(heads[4*i:])) << 16
		count := int(binary.LittleEndian.Uint16(heads[4*i+2:])) + 1
		from := len(rows)
		switch {
		case runs != nil && runs[i/8]>>(i%8)&1 == 1:
			for range d.uint16() {
				start, more := d.uint16(), d.uint16()
				if start+more > math.MaxUint16 || len(rows)+int(more) > maxGone || d.bad {
					d.bad = true
					return nil
				}
				for k := range more + 1 {
					rows = append(rows, high|(start+k))
				}
			}
		case count <= maxArray:
			list := d.take(2 * count)
			if d.bad {
				return nil
			}
			for k := range count {
				rows = append(rows, high|uint32(binary.LittleEndian.Uint16(list[2*k:])))
			}
		default:
			bits := d.take(bitsBytes)
			if d.bad {
				return nil
			}
			for k := range uint32(maxContainer) {
				if bits[k/8]>>(k%8)&1 == 1 {
					rows = append(rows, high|k)
				}
			}
		}
		if !ascend(rows[max(0, from-1):]) || len(rows) > maxGone {
			d.bad = true
			return nil
		}
	}
	return rows
}

func ascend(rows []uint32) bool {
	for i := 1; i < len(rows); i++ {
		if rows[i] <= rows[i-1] {
			return false
		}
	}
	return true
}

// z85 is the alphabet of the text form of bytes: five letters are four bytes.
const z85 = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ.-:+=^!/*?&<>()[]{}@%$#"

func decodeZ85(s string) ([]byte, error) {
	if len(s)%5 != 0 {
		return nil, vectorFault("its text has %d letters", len(s))
	}
	b := make([]byte, 0, len(s)/5*4)
	for i := 0; i < len(s); i += 5 {
		v := uint64(0)
		for _, c := range []byte(s[i : i+5]) {
			digit := strings.IndexByte(z85, c)
			if digit < 0 {
				return nil, vectorFault("its text has the letter %q", c)
			}
			v = v*85 + uint64(digit)
		}
		if v > math.MaxUint32 {
			return nil, vectorFault("its text is none of bytes")
		}
		b = binary.BigEndian.AppendUint32(b, uint32(v))
	}
	return b, nil
}
