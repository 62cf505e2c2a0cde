package sourcemap

import (
	"encoding/binary"
	"math/bits"
)

// marks is what is known of mappings before they are decoded.
type marks struct {
	semicolons int
	backward   bool // a segment may begin before the one before it in its line
	begins     bool // a segment begins with the next byte
}

// eight is a number of eight equal bytes.
const eight = 0x0101010101010101

// equal has the highest bit of each byte of v that is c.
func equal(v uint64, c byte) uint64 {
	v ^= uint64(c) * eight
	return ^((v&(0x7f*eight) + 0x7f*eight) | v | 0x7f*eight)
}

// read reads on, eight bytes at a time.
func (m *marks) read(b []byte) {
	back, begins := uint64(0), uint64(0)
	if m.begins {
		begins = 0x80
	}
	for len(b) >= 8 {
		v := binary.LittleEndian.Uint64(b)
		b = b[8:]
		ends := equal(v, ';')
		m.semicolons += bits.OnesCount64(ends)
		ends |= equal(v, ',')
		// A segment goes back if its first digit is odd: that is its lowest bit, which letters have inverted; but '+' is
		// 62, and ';' none.
		if odd := (begins | ends<<8) & ((v ^ v>>6) << 7) &^ ends; odd != 0 {
			back |= odd &^ equal(v, '+')
		}
		begins = ends >> 56
	}
	m.begins, m.backward = begins != 0, m.backward || back != 0
	for _, c := range b {
		m.backward = m.backward || m.begins && digits[c] < comma && digits[c]&1 != 0
		if m.begins = c == ',' || c == ';'; c == ';' {
			m.semicolons++
		}
	}
}
