package pile

import (
	"encoding/binary"
	"sort"
	"sync"

	"github.com/symlake/symlake/sinks/scratch"
)

// Pile keeps byte strings by number, in memory as long as the budget lasts, then in scratch. They are written in the
// order of their numbers and read again in it. Safe for concurrent use.
type Pile struct {
	Budget *scratch.Budget
	File   func() (*scratch.File, error)

	mu   sync.Mutex
	next uint32
	heap []heap
	held int64 // of the budget
}

// heap is consecutive strings, each behind its length.
type heap struct {
	first uint32
	bytes []byte  // nil: in scratch
	pages []int64 // full ones, but for the last
	size  int
}

// heapBytes ends a heap.
const heapBytes = 256 << 10

// Add takes strings and gives the number of the first; the others follow.
func (p *Pile) Add(all ...[]byte) (uint32, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	first := p.next
	for _, b := range all {
		if err := p.put(b); err != nil {
			return 0, err
		}
	}
	return first, nil
}

func (p *Pile) put(b []byte) error {
	last := len(p.heap) - 1
	if last < 0 || len(p.heap[last].bytes) >= heapBytes {
		if last >= 0 {
			if err := p.close(&p.heap[last]); err != nil {
				return err
			}
		}
		p.heap = append(p.heap, heap{first: p.next, bytes: make([]byte, 0, heapBytes+heapBytes/8)})
		last++
	}
	h := &p.heap[last]
	h.bytes = binary.AppendUvarint(h.bytes, uint64(len(b)))
	h.bytes = append(h.bytes, b...)
	p.next++
	return nil
}

// close keeps a full heap in memory, or writes it to scratch.
func (p *Pile) close(h *heap) error {
	if n := int64(cap(h.bytes)); p.Budget.Take(n) {
		p.held += n
		return nil
	}
	f, err := p.File()
	if err != nil {
		return err
	}
	h.size = len(h.bytes)
	for rest := h.bytes; len(rest) > 0; {
		n := min(len(rest), scratch.PageBytes)
		at, err := f.Append(rest[:n])
		if err != nil {
			return err
		}
		h.pages, rest = append(h.pages, at), rest[n:]
	}
	h.bytes = nil
	return nil
}

// Read hands out the strings with these numbers, which ascend. They are valid during the call. Nothing is added meanwhile.
func (p *Pile) Read(numbers []uint32, emit func(i int, b []byte)) error {
	var room []byte
	for i := 0; i < len(numbers); {
		at := sort.Search(len(p.heap), func(k int) bool { return p.heap[k].first > numbers[i] }) - 1
		h := &p.heap[at]
		b := h.bytes
		if b == nil {
			if cap(room) < h.size {
				room = make([]byte, h.size)
			}
			b = room[:h.size]
			f, err := p.File()
			if err != nil {
				return err
			}
			for k, page := range h.pages {
				from := k * scratch.PageBytes
				if err := f.Read(page, b[from:min(from+scratch.PageBytes, h.size)]); err != nil {
					return err
				}
			}
		}
		end := p.next
		if at+1 < len(p.heap) {
			end = p.heap[at+1].first
		}
		for n := h.first; n < end && i < len(numbers); n++ {
			size, k := binary.Uvarint(b)
			if n == numbers[i] {
				emit(i, b[k:k+int(size)])
				i++
			}
			b = b[k+int(size):]
		}
	}
	return nil
}

// Release gives the budget back.
func (p *Pile) Release() {
	p.Budget.Give(p.held)
	p.held, p.heap = 0, nil
}
