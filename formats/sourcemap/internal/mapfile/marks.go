package mapfile

import (
	"bytes"
	"encoding/binary"
	"strconv"

	"github.com/symlake/symlake/formats/internal/json"
	"github.com/symlake/symlake/formats/symbol"
)

// marks holds facts of mappings before they are decoded. Of bytes beyond 0x7f, which are no mappings, it may say
// anything.
type marks struct {
	semicolons int
	backward   bool // a segment may begin before the one before it in its line
	begins     bool // a segment begins with the next byte
}

const (
	// eight is a number of eight equal bytes.
	eight = 0x0101010101010101
	// marksPiece is looked over twice before the next piece: it stays in a processor's first cache.
	marksPiece = 16 << 10
)

var endOfLine = []byte{';'}

// other has the highest bit of each byte of v that is not c, as long as none of them has that bit.
func other(v uint64, c byte) uint64 { return (v ^ uint64(c)*eight) + 0x7f*eight }

// check refuses mappings of more lines than a script has positions for.
func (m *marks) check(t *json.Reader) error {
	if m.semicolons >= symbol.MaxLine {
		return TooMuch("mappings", t.Offset(), "at most "+strconv.Itoa(symbol.MaxLine)+" lines")
	}
	return nil
}

// read reads on.
func (m *marks) read(b []byte) {
	for len(b) > 0 {
		piece := b[:min(len(b), marksPiece)]
		m.semicolons += bytes.Count(piece, endOfLine)
		m.readSegments(piece)
		b = b[len(piece):]
	}
}

// readSegments sees where segments begin, eight bytes at a time.
func (m *marks) readSegments(b []byte) {
	back, begins := uint64(0), uint64(0)
	if m.begins {
		begins = 0x80
	}
	for ; len(b) >= 8; b = b[8:] {
		v := binary.LittleEndian.Uint64(b)
		ends := 0x80 * eight &^ (other(v, ';') & other(v, ','))
		// A segment goes back if its first digit is odd: that is its lowest bit, which letters have inverted; but '+' is
		// 62, and ';' none.
		if odd := (begins | ends<<8) & ((v ^ v>>6) << 7) &^ ends; odd != 0 {
			back |= odd & other(v, '+')
		}
		begins = ends >> 56
	}
	m.begins, m.backward = begins != 0, m.backward || back != 0
	for _, c := range b {
		m.backward = m.backward || m.begins && digits[c] < comma && digits[c]&1 != 0
		m.begins = c == ',' || c == ';'
	}
}
