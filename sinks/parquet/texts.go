package parquet

import (
	"bytes"
	"fmt"
	"hash/maphash"
	"strings"
	"unicode/utf8"
	"unsafe"
)

// texts are different texts, numbered as they came, in memory of their own without a pointer a text. They
// serve all columns of a row group that hold the same kind of text.
type texts struct {
	data  []byte
	ends  []uint32 // text i ends there, and begins where the one before ends
	slots []uint64 // by hash: its upper half, and number + 1; 0: free
	seed  maphash.Seed
}

func newTexts() *texts { return &texts{seed: maphash.MakeSeed()} }

// another makes empty texts with room for as much as t has.
func (t *texts) another() *texts {
	n := newTexts()
	n.data, n.ends, n.slots = make([]byte, 0, min(cap(t.data), keptBytes)), make([]uint32, 0, cap(t.ends)), make([]uint64, len(t.slots))
	return n
}

// at is text i, until reset.
func (t *texts) at(i uint32) []byte {
	from := uint32(0)
	if i > 0 {
		from = t.ends[i-1]
	}
	return t.data[from:t.ends[i]:t.ends[i]]
}

// add gives the number of a text, of which it keeps a copy.
func (t *texts) add(s string) uint32 {
	t.data = append(roomier(t.data, len(s)), s...)
	return t.settle()
}

// settle gives the number of the text that was appended to data.
func (t *texts) settle() uint32 {
	if 2*len(t.ends) >= len(t.slots) {
		t.grow()
	}
	from := uint32(0)
	if n := len(t.ends); n > 0 {
		from = t.ends[n-1]
	}
	s := view(t.data[from:])
	h := maphash.String(t.seed, s)
	n, at, ok := t.look(s, h)
	if ok {
		t.data = t.data[:from]
		return n
	}
	t.ends = append(t.ends, uint32(len(t.data)))
	t.slots[at] = h>>32<<32 | uint64(len(t.ends))
	return uint32(len(t.ends) - 1)
}

// find gives the number of a text that is there.
func (t *texts) find(s string) (n uint32, ok bool) {
	if len(t.ends) == 0 {
		return 0, false
	}
	n, _, ok = t.look(s, maphash.String(t.seed, s))
	return n, ok
}

// look gives the number of a text by its hash, else the slot that it would take.
func (t *texts) look(s string, h uint64) (n uint32, at uint64, ok bool) {
	mask := uint64(len(t.slots) - 1)
	for at = h & mask; ; at = (at + 1) & mask {
		e := t.slots[at]
		if e == 0 {
			return 0, at, false
		}
		if n = uint32(e) - 1; e>>32 == h>>32 && view(t.at(n)) == s {
			return n, at, true
		}
	}
}

// roomier makes room for n more bytes, and for half as many as there are if there is none: what grows by a quarter at a time, as
// append makes it, is copied often and leaves five times its size behind.
func roomier[T any](b []T, n int) []T {
	if cap(b)-len(b) >= n {
		return b
	}
	return append(make([]T, 0, len(b)+max(n, len(b)/2)), b...)
}

func (t *texts) grow() {
	t.slots = make([]uint64, max(1024, 2*len(t.slots)))
	mask := uint64(len(t.slots) - 1)
	for i := range uint32(len(t.ends)) {
		h := maphash.Bytes(t.seed, t.at(i))
		at := h & mask
		for t.slots[at] != 0 {
			at = (at + 1) & mask
		}
		t.slots[at] = h>>32<<32 | uint64(i+1)
	}
}

// bytes is what they take in memory.
func (t *texts) bytes() int { return len(t.data) + 4*len(t.ends) + 8*len(t.slots) }

// keptBytes is what is kept of the memory of texts, a table of numbers or a page for the next one: one name of
// some megabytes must not stay for the whole run.
const keptBytes = 16 << 20

func (t *texts) reset() {
	if cap(t.data) > keptBytes {
		t.data = nil
	}
	t.data, t.ends = t.data[:0], t.ends[:0]
	clear(t.slots)
}

// dictionary is the texts of one column of a row group, numbered as they came there.
type dictionary struct {
	of     *texts
	list   []uint32 // texts, by number
	number []uint32 // by text: its number + 1; 0: the column does not have it
	bytes  int      // of all texts
}

// another makes an empty dictionary of other texts, with room for as much as d has.
func (d *dictionary) another(of *texts) dictionary {
	return dictionary{of: of, list: make([]uint32, 0, cap(d.list)), number: make([]uint32, len(d.number))}
}

// add gives the number of a text.
func (d *dictionary) add(text uint32) int32 {
	if int(text) >= len(d.number) {
		d.number = append(d.number, make([]uint32, int(text)+1-len(d.number))...)
	}
	if n := d.number[text]; n > 0 {
		return int32(n - 1)
	}
	d.list = append(d.list, text)
	d.number[text] = uint32(len(d.list))
	d.bytes += len(d.of.at(text))
	return int32(len(d.list) - 1)
}

func (d *dictionary) at(number uint32) []byte { return d.of.at(d.list[number]) }

func (d *dictionary) reset() {
	clear(d.number)
	d.list, d.bytes = d.list[:0], 0
}

// bounds are copies of the least and the greatest of some texts.
func (d *dictionary) bounds(numbers []int32) (low, high []byte) {
	for i, n := range numbers {
		if i > 0 && n == numbers[i-1] {
			continue
		}
		s := d.at(uint32(n))
		if i == 0 || bytes.Compare(s, low) < 0 {
			low = s
		}
		if i == 0 || bytes.Compare(s, high) > 0 {
			high = s
		}
	}
	return bytes.Clone(low), bytes.Clone(high)
}

// view is a text as a string, for as long as the bytes stay as they are.
func view(b []byte) string { return unsafe.String(unsafe.SliceData(b), len(b)) }

// printable makes UTF-8 of any bytes, as every reader of a STRING column wants it: what is
// none stands as \xNN a byte, and in such a text a backslash stands as two.
func printable(s string) string {
	if utf8.ValidString(s) {
		return s
	}
	var b strings.Builder
	for len(s) > 0 {
		r, n := utf8.DecodeRuneInString(s)
		switch {
		case r == utf8.RuneError && n == 1:
			fmt.Fprintf(&b, `\x%02x`, s[0])
		case r == '\\':
			b.WriteString(`\\`)
		default:
			b.WriteString(s[:n])
		}
		s = s[n:]
	}
	return b.String()
}
