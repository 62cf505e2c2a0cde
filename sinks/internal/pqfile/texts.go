package pqfile

import (
	"bytes"
	"fmt"
	"hash/maphash"
	"strings"
	"unicode/utf8"
	"unsafe"
)

// Texts numbers different texts as they come and keeps them without a pointer for each. All columns of a row group with the
// same kind of text share one.
type Texts struct {
	Data  []byte
	ends  []uint32 // text i ends there, and begins where the one before ends
	slots []uint64 // by hash: its upper half, and number + 1; 0: free
	seed  maphash.Seed
}

func newTexts() *Texts { return &Texts{seed: maphash.MakeSeed()} }

// another returns empty texts with as much room as t has.
func (t *Texts) another() *Texts {
	n := newTexts()
	n.Data, n.ends, n.slots = make([]byte, 0, min(cap(t.Data), keptBytes)), make([]uint32, 0, cap(t.ends)), make([]uint64, len(t.slots))
	return n
}

// At returns text i, valid until reset.
func (t *Texts) At(i uint32) []byte {
	from := uint32(0)
	if i > 0 {
		from = t.ends[i-1]
	}
	return t.Data[from:t.ends[i]:t.ends[i]]
}

// Add returns the number of a text. It keeps a copy of a new one.
func (t *Texts) Add(s string) uint32 {
	t.Data = append(Roomier(t.Data, len(s)), s...)
	return t.Settle()
}

// Settle gives the number of the text that was appended to data.
func (t *Texts) Settle() uint32 {
	if 2*len(t.ends) >= len(t.slots) {
		t.grow()
	}
	from := uint32(0)
	if n := len(t.ends); n > 0 {
		from = t.ends[n-1]
	}
	s := view(t.Data[from:])
	h := maphash.String(t.seed, s)
	n, at, ok := t.look(s, h)
	if ok {
		t.Data = t.Data[:from]
		return n
	}
	t.ends = append(t.ends, uint32(len(t.Data)))
	t.slots[at] = h>>32<<32 | uint64(len(t.ends))
	return uint32(len(t.ends) - 1)
}

// look gives the number of a text by its hash, else the slot that it would take.
func (t *Texts) look(s string, h uint64) (n uint32, at uint64, ok bool) {
	mask := uint64(len(t.slots) - 1)
	for at = h & mask; ; at = (at + 1) & mask {
		e := t.slots[at]
		if e == 0 {
			return 0, at, false
		}
		if n = uint32(e) - 1; e>>32 == h>>32 && view(t.At(n)) == s {
			return n, at, true
		}
	}
}

// Roomier makes room for n more bytes, and for half as many as there are if there is none: what grows by a quarter at a time, as
// append makes it, is copied often and leaves five times its size behind.
func Roomier[T any](b []T, n int) []T {
	if cap(b)-len(b) >= n {
		return b
	}
	return append(make([]T, 0, len(b)+max(n, len(b)/2)), b...)
}

func (t *Texts) grow() {
	t.slots = make([]uint64, max(1024, 2*len(t.slots)))
	mask := uint64(len(t.slots) - 1)
	for i := range uint32(len(t.ends)) {
		h := maphash.Bytes(t.seed, t.At(i))
		at := h & mask
		for t.slots[at] != 0 {
			at = (at + 1) & mask
		}
		t.slots[at] = h>>32<<32 | uint64(i+1)
	}
}

// bytes returns how much memory the texts take.
func (t *Texts) bytes() int { return len(t.Data) + 4*len(t.ends) + 8*len(t.slots) }

// keptBytes bounds the memory that texts, a table of numbers or a page leave to the next one. A name of some megabytes must
// not stay in memory for the whole run.
const keptBytes = 16 << 20

func (t *Texts) reset() {
	if cap(t.Data) > keptBytes {
		t.Data = nil
	}
	t.Data, t.ends = t.Data[:0], t.ends[:0]
	clear(t.slots)
}

// Dictionary is the texts of one column of a row group, numbered as they came there.
type Dictionary struct {
	Texts  *Texts
	list   []uint32 // texts, by number
	number []uint32 // by text: its number + 1; 0: the column does not have it
	bytes  int      // of all texts
}

// another makes an empty dictionary of other texts, with room for as much as d has.
func (d *Dictionary) another(of *Texts) Dictionary {
	return Dictionary{Texts: of, list: make([]uint32, 0, cap(d.list)), number: make([]uint32, len(d.number))}
}

// Add gives the number of a text.
func (d *Dictionary) Add(text uint32) int32 {
	if int(text) >= len(d.number) {
		d.number = append(d.number, make([]uint32, int(text)+1-len(d.number))...)
	}
	if n := d.number[text]; n > 0 {
		return int32(n - 1)
	}
	d.list = append(d.list, text)
	d.number[text] = uint32(len(d.list))
	d.bytes += len(d.Texts.At(text))
	return int32(len(d.list) - 1)
}

func (d *Dictionary) at(number uint32) []byte { return d.Texts.At(d.list[number]) }

func (d *Dictionary) reset() {
	clear(d.number)
	d.list, d.bytes = d.list[:0], 0
}

// bounds are copies of the least and the greatest of some texts.
func (d *Dictionary) bounds(numbers []int32) (low, high []byte) {
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

// Printable returns any bytes as UTF-8, which every reader of a STRING column expects. A byte outside UTF-8 becomes \xNN, and
// in such a text a backslash becomes two.
func Printable(s string) string {
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
