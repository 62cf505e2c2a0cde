package tables

import (
	"sync"
	"unsafe"
)

// texts numbers strings: 0 is "". A string that comes again mostly has the number it had; what is remembered for
// that is bounded. Safe for concurrent use.
type texts struct {
	pile *pile

	mu    sync.Mutex
	known map[string]uint32
	bytes int
	most  int // bytes of known
}

func newTexts(p *pile, most int) (*texts, error) {
	t := &texts{pile: p, known: map[string]uint32{}, most: most}
	_, err := p.add(nil) // number 0
	return t, err
}

// textCost is what a known string takes beside its bytes.
const textCost = 64

func (t *texts) number(s string) (uint32, error) {
	if s == "" {
		return 0, nil
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if n, ok := t.known[s]; ok {
		return n, nil
	}
	if t.bytes > t.most {
		clear(t.known)
		t.bytes = 0
	}
	n, err := t.pile.add(unsafe.Slice(unsafe.StringData(s), len(s)))
	if err != nil {
		return 0, err
	}
	t.known[string([]byte(s))] = n // s may alias a block
	t.bytes += len(s) + textCost
	return n, nil
}

// near numbers the strings of one worker's batch: those at one address without a look at their bytes. It must be
// forgotten before the strings are.
type near struct {
	t     *texts
	known map[*byte]nearText
}

type nearText struct {
	size   int
	number uint32
}

func (n *near) number(s string) (uint32, error) {
	if s == "" {
		return 0, nil
	}
	p := unsafe.StringData(s)
	if k, ok := n.known[p]; ok && k.size == len(s) {
		return k.number, nil
	}
	number, err := n.t.number(s)
	if err == nil {
		n.known[p] = nearText{len(s), number}
	}
	return number, err
}
