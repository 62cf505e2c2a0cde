package pile

import (
	"sync"
	"unsafe"
)

// Texts numbers strings: 0 is "". It knows most strings again and gives them their old number, within a bound on the memory
// of known strings. Texts is safe for concurrent use.
type Texts struct {
	Pile *Pile

	mu    sync.Mutex
	known map[string]uint32
	bytes int
	most  int // bytes of known
}

// NewTexts returns Texts that keep strings in a pile, and that remember at most so many bytes of them.
func NewTexts(p *Pile, most int) (*Texts, error) {
	t := &Texts{Pile: p, known: map[string]uint32{}, most: most}
	_, err := p.Add(nil) // number 0
	return t, err
}

// TextCost is the memory that a known string takes beside its bytes.
const TextCost = 64

// Number returns the number of a string. It keeps a copy of a new one.
func (t *Texts) Number(s string) (uint32, error) {
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
	n, err := t.Pile.Add(unsafe.Slice(unsafe.StringData(s), len(s)))
	if err != nil {
		return 0, err
	}
	t.known[string([]byte(s))] = n // s may alias a block
	t.bytes += len(s) + TextCost
	return n, nil
}

// Near numbers the strings of one worker's batch, and knows a string again by its address. Call Forget before the memory of
// the strings is used again.
type Near struct {
	texts *Texts
	known map[*byte]nearText
}

type nearText struct {
	size   int
	number uint32
}

// NewNear returns a Near that asks t for the numbers of new strings.
func NewNear(t *Texts) *Near { return &Near{texts: t, known: map[*byte]nearText{}} }

// Forget forgets all addresses.
func (n *Near) Forget() { clear(n.known) }

// Number returns the number of a string.
func (n *Near) Number(s string) (uint32, error) {
	if s == "" {
		return 0, nil
	}
	p := unsafe.StringData(s)
	if k, ok := n.known[p]; ok && k.size == len(s) {
		return k.number, nil
	}
	number, err := n.texts.Number(s)
	if err == nil {
		n.known[p] = nearText{len(s), number}
	}
	return number, err
}
