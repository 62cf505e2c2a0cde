package trace

import (
	"hash/maphash"
	"strings"
)

// names interns the names of one trace. A trace names some hundred thousand
// methods in an order that no cache foresees, so a name is found by two looks at memory: at its
// slot, and at its text. Its facts lie elsewhere.
type names struct {
	seed   maphash.Seed
	slots  []nameSlot // open addressing: a power of two, three of four taken at most
	texts  []string   // in which keys lie one behind the other
	last   strings.Builder
	filled int      // index of last's in texts
	slabs  [][]Name // by ID: of slabNames each
	count  int
	bytes  int
}

// nameSlot is where a key's text lies.
type nameSlot struct {
	hash uint32
	next int32  // the ID that follows the name's; 0: the slot is free
	at   uint32 // texts' index << textBits, and the offset there
	size uint32
}

const (
	// textBytes are allocated at once for keys; a key longer than an eighth of it has a text of its own.
	textBits  = 16
	textBytes = 1 << textBits
	slabNames = 256
)

// hash is a key's, 0 before the first name.
func (n *names) hash(key []byte) uint32 {
	if len(n.slots) == 0 {
		return 0
	}
	return uint32(maphash.Bytes(n.seed, key))
}

// A search for many names takes three steps, each for all of them: it waits for memory once then, not by name. near
// looks where a hash's slots begin.
func (n *names) near(hash uint32) uint32 {
	if len(n.slots) == 0 {
		return 0
	}
	return n.slots[hash&uint32(len(n.slots)-1)].hash
}

// slot gives the first slot of a hash, free if there is none, and looks at its text.
func (n *names) slot(hash uint32) (s nameSlot, near uint32) {
	mask := uint32(len(n.slots) - 1)
	for i := hash; len(n.slots) > 0; i++ {
		if s = n.slots[i&mask]; s.hash == hash || s.next == 0 {
			break
		}
	}
	if s.size > 0 {
		near = uint32(n.texts[s.at>>textBits][s.at%textBytes])
	}
	return s, near
}

// is reports whether a slot is a key's: almost always, if it is its hash's.
func (n *names) is(s *nameSlot, hash uint32, key []byte) bool {
	return s.hash == hash && s.size == uint32(len(key)) && s.next > 0 && n.texts[s.at>>textBits][s.at%textBytes:][:s.size] == string(key)
}

// find gives the ID for a key, -1 if it is new.
func (n *names) find(hash uint32, key []byte) int32 {
	mask := uint32(len(n.slots) - 1)
	for i := hash; len(n.slots) > 0; i++ {
		s := &n.slots[i&mask]
		if s.next == 0 {
			break
		}
		if n.is(s, hash, key) {
			return s.next - 1
		}
	}
	return -1
}

// get gives the ID for a key, -1 if it is new.
func (n *names) get(key []byte) int32 {
	if n.count == 0 {
		return -1
	}
	return n.find(n.hash(key), key)
}

// of gives the name with an ID, without looking at it.
func (n *names) of(id int32) *Name { return &n.slabs[id/slabNames][id%slabNames] }

// full: the next name does not fit.
func (n *names) full(more int) bool {
	return n.count >= MaxNames || n.bytes+more > MaxNameBytes
}

// add enters a name, made of its key, which is new or is to mean another name from now on; full was asked before.
func (n *names) add(key []byte, of func(key string) Name) int32 {
	if 4*n.count >= 3*len(n.slots) {
		n.grow()
	}
	at, text := n.keep(key)
	id := int32(n.count)
	if id%slabNames == 0 {
		n.slabs = append(n.slabs, make([]Name, slabNames))
	}
	made := n.of(id)
	*made = of(text)
	made.ID = id
	h := n.hash(key)
	mask := uint32(len(n.slots) - 1)
	i := h & mask
	for n.slots[i].next > 0 && !n.is(&n.slots[i], h, key) {
		i = (i + 1) & mask
	}
	n.slots[i] = nameSlot{hash: h, next: id + 1, at: at, size: uint32(len(key))}
	n.count++
	n.bytes += len(key)
	return id
}

// keep copies a key to the texts.
func (n *names) keep(key []byte) (at uint32, text string) {
	if len(key) > textBytes/8 {
		text = string(key)
		n.texts = append(n.texts, text)
		return uint32(len(n.texts)-1) << textBits, text
	}
	from := n.last.Len()
	if n.last.Cap() == 0 || from+len(key) > textBytes {
		n.last, from = strings.Builder{}, 0
		n.last.Grow(textBytes)
		n.filled = len(n.texts)
		n.texts = append(n.texts, "")
	}
	n.last.Write(key)
	n.texts[n.filled] = n.last.String() // it has room: earlier entries do not move
	return uint32(n.filled<<textBits | from), n.texts[n.filled][from:]
}

func (n *names) grow() {
	old := n.slots
	if old == nil {
		n.seed = maphash.MakeSeed()
	}
	n.slots = make([]nameSlot, max(1<<10, 2*len(old)))
	mask := uint32(len(n.slots) - 1)
	for _, s := range old {
		if s.next == 0 {
			continue
		}
		i := s.hash & mask
		for n.slots[i].next > 0 {
			i = (i + 1) & mask
		}
		n.slots[i] = s
	}
}
