package ranges

import (
	"slices"
	"sync"
	"sync/atomic"

	"github.com/symlake/symlake/sinks/row/dictionary"
)

// names are functions or files of a block. Names of the dictionary are fetched
// when they are first asked for, so that a cold look-up decodes few pages; a
// block that is asked again and again fetches the rest at once.
type names struct {
	missing atomic.Int32 // how many are not fetched
	strings []string
	shared  []uint32 // by name: its number in the dictionary plus 1; 0: none
	from    *dictionary.Reader
	ready   []atomic.Uint64 // bit n: strings[n] is set, and stays
	fetch   sync.Mutex
	fetched int
}

// manyFetched is how many names are fetched one by one.
const manyFetched = 16

// fill takes over the numbers of names as the block's reader gathered them.
func (n *names) fill(numbers []uint32, inline []string, d *dictionary.Reader) {
	n.strings, n.shared, n.from = make([]string, len(numbers)), slices.Clone(numbers), d
	n.ready = make([]atomic.Uint64, (len(numbers)+63)/64)
	for i, v := range n.shared {
		s, ok := "", true
		if v&here != 0 {
			s, n.shared[i] = inline[v&^here], 0
		} else {
			s, ok = d.Decoded(v - 1)
		}
		if ok {
			n.strings[i] = s
			n.ready[i/64].Or(1 << (i % 64))
		} else {
			n.missing.Add(1)
		}
	}
}

func (n *names) get(i uint16) string {
	if !n.has(i) {
		n.set(i)
	}
	return n.strings[i]
}

func (n *names) has(i uint16) bool {
	return n.missing.Load() == 0 || n.ready[i/64].Load()>>(i%64)&1 == 1
}

// touch loads what get will, and says something about it.
func (n *names) touch(i uint16) uint32 {
	if !n.has(i) {
		return 0
	}
	return uint32(len(n.strings[i]))
}

// set fetches name i, and all if many were fetched before. A bit is set, and
// missing lowered, after the string: whoever sees them sees the string.
func (n *names) set(i uint16) {
	n.fetch.Lock()
	defer n.fetch.Unlock()
	if n.fetched++; n.fetched < manyFetched {
		n.one(i)
		return
	}
	for i := range n.strings {
		n.one(uint16(i))
	}
}

func (n *names) one(i uint16) {
	if n.ready[i/64].Load()>>(i%64)&1 == 0 {
		n.strings[i] = n.from.Get(n.shared[i] - 1)
		n.ready[i/64].Or(1 << (i % 64))
		n.missing.Add(-1)
	}
}
