package pqfile

import (
	"bytes"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/symlake/symlake/sinks/internal/textset"
)

// Texts numbers different texts as they come. All columns of a row group with the same kind of text share one.
type Texts = textset.Texts

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
