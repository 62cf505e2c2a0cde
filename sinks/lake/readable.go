package lake

import (
	"github.com/symlake/symlake/formats/demangle"
	"github.com/symlake/symlake/sinks/internal/pqfile"
)

// roomBytes is what nearly every readable name fits in.
const roomBytes = 4 << 10

// readable makes the readable forms of a load's names. It copies a form that the row group before has: row groups repeat their
// names, and demangling one costs more than the rest of its row.
type readable struct {
	demangler    demangle.Demangler
	number, last []uint32      // by string of the load: number of its form in the row group, and in the one before, + 1; 0: none
	before       *pqfile.Texts // of the row group before: they stay until the next one begins
}

// begin forgets the strings of the load before.
func (r *readable) begin() {
	clear(r.number)
	clear(r.last)
}

// turn begins another row group; before holds the texts of the last one.
func (r *readable) turn(before *pqfile.Texts) {
	r.number, r.last, r.before = r.last, r.number, before
	clear(r.number)
}

// grow makes room for so many strings.
func (r *readable) grow(n int) { r.number, r.last = grown(r.number, n), grown(r.last, n) }

// add adds the readable form of name, which is string i of the load, to texts and gives its number.
func (r *readable) add(to *pqfile.Texts, i uint32, name string) uint32 {
	to.Room(roomBytes)
	if n := r.last[i]; n > 0 {
		to.Data = append(to.Data, r.before.At(n-1)...)
	} else {
		to.Data = r.demangler.Append(to.Data, name)
	}
	n := to.Settle()
	r.number[i] = n + 1
	return n
}

func grown[T any](s []T, n int) []T {
	if len(s) >= n {
		return s
	}
	return append(s, make([]T, n-len(s))...)
}
