package explode

import (
	"github.com/symlake/symlake/formats/internal/dwarf"
	"github.com/symlake/symlake/formats/internal/native"
)

// table maps numbers that are not 0 to numbers. It is emptied in no time.
type table struct {
	slots []slot
	gen   uint32
	used  int
}

type slot struct {
	key uint64
	val uint32
	gen uint32
}

func (t *table) reset() {
	t.gen++
	t.used = 0
	if t.gen == 0 || len(t.slots) == 0 {
		t.slots, t.gen = make([]slot, max(1024, len(t.slots))), 1
	}
}

// at is the place of key: its value if ok, else where it is to be put.
func (t *table) at(key uint64) (s *slot, ok bool) {
	mask := uint64(len(t.slots) - 1)
	for i := key * 0x9e3779b97f4a7c15 >> 20; ; i++ {
		s = &t.slots[i&mask]
		if s.gen != t.gen {
			return s, false
		}
		if s.key == key {
			return s, true
		}
	}
}

// put fills a place that at gave for key.
func (t *table) put(s *slot, key uint64, val uint32) {
	s.key, s.val, s.gen = key, val, t.gen
	if t.used++; t.used*2 < len(t.slots) {
		return
	}
	old := t.slots
	t.slots = make([]slot, 2*len(old))
	for i := range old {
		if old[i].gen == t.gen {
			s, _ := t.at(old[i].key)
			*s = old[i]
		}
	}
}

// texts is the string table of a part.
type texts struct {
	list    []string
	keys    []uint64
	byKey   table
	byText  map[string]uint32 // of strings without a key
	origins table             // names of entries: Ref to index
}

func (s *texts) reset() {
	clear(s.list) // they alias the object
	s.list, s.keys = append(s.list[:0], ""), append(s.keys[:0], 0)
	s.byKey.reset()
	s.origins.reset()
	if len(s.byText) > keepTexts {
		s.byText = nil // emptying a large map for each small unit would take long
	}
	clear(s.byText)
}

// keepTexts is how many strings without a key a table may have held to be
// used again.
const keepTexts = 4096

// add is the index of a string with that key; 0 is no key.
func (s *texts) add(key uint64, text string) uint32 {
	if text == "" {
		return 0
	}
	if key == 0 {
		if i, ok := s.byText[text]; ok {
			return i
		}
		if s.byText == nil {
			s.byText = map[string]uint32{}
		}
		i := s.append(0, text)
		s.byText[text] = i
		return i
	}
	place, ok := s.byKey.at(key)
	if ok {
		return place.val
	}
	i := s.append(key, text)
	s.byKey.put(place, key, i)
	return i
}

func (s *texts) append(key uint64, text string) uint32 {
	s.list, s.keys = append(s.list, text), append(s.keys, key)
	return uint32(len(s.list) - 1)
}

// symbol is the index of the name of a symbol.
func (s *texts) symbol(i int, syms []native.Symbol) uint32 {
	return s.add(dwarf.FirstForeign<<60|uint64(i), syms[i].Name)
}

// nameOf is the index of a node's name.
func (p *part) nameOf(n *node) (uint32, error) {
	if n.name != 0 {
		return n.name - 1, nil
	}
	s := &p.strings
	place, ok := s.origins.at(uint64(n.origin))
	if ok {
		n.name = place.val + 1
		return place.val, nil
	}
	text, err := p.r.Name(n.origin)
	if err != nil {
		return 0, err
	}
	var i uint32
	if text != 0 {
		if known, ok := s.byKey.at(uint64(text)); ok {
			i = known.val
		} else if i = s.add(uint64(text), p.r.String(text)); p.r.Err() != nil {
			return 0, p.r.Err()
		}
	}
	s.origins.put(place, uint64(n.origin), i)
	n.name = i + 1
	return i, nil
}
