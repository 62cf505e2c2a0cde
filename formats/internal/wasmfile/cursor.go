package wasmfile

import (
	"fmt"
	"unicode/utf8"

	"github.com/symlake/symlake/formats/internal/native"
	"github.com/symlake/symlake/formats/symbol"
)

// windowBytes is how much of a file that is not mapped a cursor reads at once.
const windowBytes = 32 << 10

// cursor reads numbers and names between two offsets of a file, front to back. After the first error it stays where it
// is, and yields zeros.
type cursor struct {
	f       *native.Source
	section string // in errors, which count from base
	base    uint64
	at, end uint64 // in the file
	window  []byte // of the file, from low on
	low     uint64
	err     error
}

// between returns a cursor over [start, end) of the file.
func between(f *native.Source, section string, start, end uint64) *cursor {
	c := &cursor{f: f, section: section, base: start, at: start, end: end}
	if f.In.Mapped != nil {
		c.window = f.In.Mapped
	}
	return c
}

// fail notes that the bytes at the cursor are not what want says.
func (c *cursor) fail(want string) {
	if c.err == nil {
		c.err = c.f.Corrupt(c.section, c.at-c.base, want)
	}
}

// left is how many bytes the cursor has not read.
func (c *cursor) left() uint64 { return c.end - c.at }

// take returns the next n bytes, which are valid up to the next call; nil if there are fewer.
func (c *cursor) take(n uint64, want string) []byte {
	if c.err != nil {
		return nil
	}
	if n > c.left() {
		c.fail(want)
		return nil
	}
	if c.at < c.low || c.at+n > c.low+uint64(len(c.window)) {
		b, err := c.f.View(c.section, c.at, int64(min(c.left(), max(n, windowBytes))), want)
		if err != nil {
			c.err = err
			return nil
		}
		c.window, c.low = b, c.at
	}
	from := c.at - c.low
	c.at += n
	return c.window[from : from+n : from+n]
}

// skip passes over n bytes without reading them.
func (c *cursor) skip(n uint64, want string) {
	if c.err == nil && n > c.left() {
		c.fail(want)
	}
	if c.err == nil {
		c.at += n
	}
}

// u8 reads one byte.
func (c *cursor) u8(want string) byte {
	if b := c.take(1, want); b != nil {
		return b[0]
	}
	return 0
}

// leb reads an unsigned number of at most the given bits, in at most as many bytes as they need.
func (c *cursor) leb(bits uint, want string) (v uint64) {
	for shift := uint(0); c.err == nil; shift += 7 {
		b := c.u8(want)
		if shift+7 > bits && b>>(bits-min(bits, shift)) != 0 {
			c.at--
			c.fail(fmt.Sprintf("%s: a number of %d bits", want, bits))
			return 0
		}
		if v |= uint64(b&0x7f) << shift; b < 0x80 {
			break
		}
	}
	if c.err != nil {
		return 0
	}
	return v
}

// u32 reads an unsigned number of 32 bits.
func (c *cursor) u32(want string) uint32 { return uint32(c.leb(32, want)) }

// count reads how many things follow that take at least each bytes.
func (c *cursor) count(each uint64, want string) uint32 {
	n := c.u32(want)
	if c.err == nil && uint64(n) > c.left()/each {
		c.fail(fmt.Sprintf("room for %d of %s", n, want))
		return 0
	}
	return n
}

// bytes reads a length and that many bytes.
func (c *cursor) bytes(want string) []byte { return c.take(uint64(c.u32(want)), want) }

// name reads a name, and cuts a long one as symbol.CutName does.
func (c *cursor) name(want string) string {
	b := c.bytes(want)
	if !utf8.Valid(b) {
		c.at -= uint64(len(b))
		c.fail(want + " in UTF-8")
		return ""
	}
	if int64(len(b)) > c.f.In.Limits.NameBytes {
		return symbol.CutName(string(b))
	}
	return string(b)
}
