package spill

import (
	"encoding/binary"
	"fmt"
	"math"
	"math/rand/v2"
	"unsafe"

	"github.com/symlake/symlake/formats"
	"github.com/symlake/symlake/formats/symbol"
)

const (
	// floorBytes is what a lane may hold however tight the budget is, so that
	// what it spills is worth a write.
	floorBytes = 1 << 20
	firstChunk = 8 << 10
	chunkBytes = 256 << 10
	// fanIn is how many sorted pieces a lane keeps on disk before it merges
	// them into one: a merge holds a page of each.
	fanIn = 64
)

// Lane takes the runs of one worker: whole parts, one after the other.
type Lane struct {
	s     *Sorter
	part  int
	seq   int
	total uint64 // runs of all parts
	runs  uint32 // of this part, for uses

	uses   []use     // of the part's strings
	ids    keyMap    // of the strings with keys, for all parts
	counts []uint32  // by interner id: runs that use it
	refs   []ref     // one a run
	chunks [][]byte  // encoded runs, each with its length (4 bytes) before it
	held   int64     // bytes of refs and chunks, which spilling frees
	kept   int64     // bytes of counts and ids
	sorted []segment // what was spilled
	buf    []byte    // the run being encoded
	err    error     // the first; a lane that failed stays failed
	keys   []uint64  // of the run being added
	text   []string  // of the run being added
}

type use struct{ id, run uint32 } // run: the last that used it, from 1

type ref struct {
	start uint64
	order Order
	at    uint64 // chunk<<32 | offset
}

const refBytes = int64(unsafe.Sizeof(ref{}))

// Add takes a run; nothing of it is kept. Runs of a part come one after the other,
// and no other lane has runs of that part.
func (l *Lane) Add(part int, r *symbol.Run) error {
	if l.err == nil {
		l.err = l.add(part, r)
	}
	return l.err
}

func (l *Lane) add(part int, r *symbol.Run) error {
	if part != l.part {
		l.part, l.seq, l.runs = part, 0, 0
		clear(l.uses)
		l.uses = l.uses[:0]
	}
	switch {
	case part < 0 || part > maxPart || l.seq > maxSeq:
		return &formats.Error{Format: "run", Section: fmt.Sprintf("part %d", part), Want: "fewer parts, or runs in it", Err: formats.ErrLimit}
	case len(r.Ranges) == 0:
		return refuse(part, "a run with a range")
	case r.Keys != nil && len(r.Keys) != len(r.Strings):
		return refuse(part, "as many keys as strings")
	}
	if n := len(r.Strings); n > len(l.uses) {
		if n > cap(l.uses) {
			grown := make([]use, n, n+n/2)
			copy(grown, l.uses)
			l.uses = grown
		}
		l.uses = l.uses[:n]
	}
	l.runs++
	l.text, l.keys = r.Strings, r.Keys
	err := l.encode(r)
	l.text, l.keys = nil, nil
	if err != nil {
		return err
	}
	if total := l.s.strings.total.Load(); total > l.s.o.StringBytes {
		return &formats.Error{Format: "run", Section: "names", Offset: total, Want: fmt.Sprintf("names of at most %d bytes together", l.s.o.StringBytes), Err: formats.ErrLimit}
	}
	at, err := l.place(l.buf)
	if err != nil {
		return err
	}
	l.refs = append(l.refs, ref{r.Ranges[0].Start, order(r.Rank, part, l.seq), at})
	l.seq++
	l.total++
	return nil
}

// place keeps an encoded run and makes room for its ref.
func (l *Lane) place(b []byte) (at uint64, err error) {
	need := len(b) + 4
	if need > math.MaxInt32 {
		return 0, refuse(l.part, "a run below 2 GiB")
	}
	if err := l.reserve(need); err != nil {
		return 0, err
	}
	last := len(l.chunks) - 1
	c := l.chunks[last]
	at = uint64(last)<<32 | uint64(len(c))
	c = binary.LittleEndian.AppendUint32(c, uint32(len(b)))
	l.chunks[last] = append(c, b...)
	return at, nil
}

// reserve makes room for one ref and need bytes, spilling what is there if the
// budget says so.
func (l *Lane) reserve(need int) error {
	refs, chunk := l.lacks(need)
	more := int64(refs)*refBytes + int64(chunk)
	if more == 0 {
		return nil
	}
	if !l.s.o.Budget.Take(more) {
		if l.held+more > floorBytes && len(l.refs) > 0 {
			if err := l.spill(); err != nil {
				return err
			}
			refs, chunk = l.lacks(need)
			more = int64(refs)*refBytes + int64(chunk)
		}
		l.s.o.Budget.Force(more)
	}
	l.held += more
	if refs > 0 {
		grown := make([]ref, len(l.refs), cap(l.refs)+refs)
		copy(grown, l.refs)
		l.refs = grown
	}
	if chunk > 0 {
		l.chunks = append(l.chunks, make([]byte, 0, chunk))
	}
	return nil
}

// lacks says by how many refs, and by a chunk of which size, the lane must grow.
func (l *Lane) lacks(need int) (refs, chunk int) {
	if len(l.refs) == cap(l.refs) {
		refs = max(16, cap(l.refs))
	}
	last := len(l.chunks) - 1
	if last < 0 {
		return refs, max(firstChunk, need)
	}
	if c := l.chunks[last]; cap(c)-len(c) < need {
		chunk = max(min(chunkBytes, 2*cap(c)), need)
	}
	return refs, chunk
}

// id is the interner's number of the string at index i of the part.
func (l *Lane) id(i uint32) uint32 {
	u := &l.uses[i]
	if u.run == l.runs {
		return u.id
	}
	if u.id == 0 {
		u.id = l.resolve(i)
	}
	u.run = l.runs
	if int(u.id) >= len(l.counts) {
		l.growCounts(int(u.id) + 1)
	}
	l.counts[u.id]++
	return u.id
}

func (l *Lane) resolve(i uint32) uint32 {
	var key uint64
	if l.keys != nil {
		key = l.keys[i]
	}
	if key == 0 {
		return l.s.strings.id(l.text[i])
	}
	if id := l.ids.get(key, l.s.odd); id != 0 {
		return id
	}
	id := l.s.strings.id(l.text[i])
	grew := l.ids.put(key, id, l.s.odd)
	l.kept += grew
	l.s.o.Budget.Force(grew)
	return id
}

func (l *Lane) growCounts(n int) {
	grown := make([]uint32, max(n, 2*len(l.counts), 256))
	copy(grown, l.counts)
	grew := int64(len(grown)-len(l.counts)) * 4
	l.kept += grew
	l.s.o.Budget.Force(grew)
	l.counts = grown
}

// release drops what only the taking of runs needed.
func (l *Lane) release() {
	l.s.o.Budget.Give(l.kept)
	l.kept = 0
	l.counts, l.ids, l.uses, l.buf = nil, keyMap{}, nil, nil
}

// keyMap maps the keys of strings to their ids: open addressing.
type keyMap struct {
	slots []keySlot
	n     int
}

type keySlot struct {
	key uint64 // 0: free
	id  uint32
}

func (m *keyMap) bytes() int64 { return int64(len(m.slots)) * int64(unsafe.Sizeof(keySlot{})) }

func (m *keyMap) at(key, odd uint64) uint64 { return (key * odd) >> 32 & uint64(len(m.slots)-1) }

func (m *keyMap) get(key, odd uint64) uint32 {
	if m.n == 0 {
		return 0
	}
	for i := m.at(key, odd); ; i = (i + 1) & uint64(len(m.slots)-1) {
		switch m.slots[i].key {
		case key:
			return m.slots[i].id
		case 0:
			return 0
		}
	}
}

func (m *keyMap) put(key uint64, id uint32, odd uint64) (grew int64) {
	if m.n*4 >= len(m.slots)*3 {
		before, old := m.bytes(), m.slots
		m.slots = make([]keySlot, max(64, 2*len(old)))
		for _, s := range old {
			if s.key != 0 {
				m.insert(s, odd)
			}
		}
		grew = m.bytes() - before
	}
	m.insert(keySlot{key, id}, odd)
	m.n++
	return grew
}

func (m *keyMap) insert(s keySlot, odd uint64) {
	i := m.at(s.key, odd)
	for m.slots[i].key != 0 {
		i = (i + 1) & uint64(len(m.slots)-1)
	}
	m.slots[i] = s
}

func randomOdd() uint64 { return rand.Uint64() | 1 }
