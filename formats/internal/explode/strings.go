package explode

import (
	"math/bits"
	"slices"

	"github.com/symlake/symlake/formats/internal/dwarf"
	"github.com/symlake/symlake/formats/internal/native"
)

// table maps numbers that are not 0 to numbers. It is emptied in no time.
type table struct {
	slots []slot // a power of two of them in use
	gen   uint32
	used  int
}

type slot struct {
	key uint64
	val uint32
	gen uint32
}

const fewSlots = 1024

// reset empties the table. It goes on with room for as much as it had, not with all that it has grown to: what stands
// near is found fast.
func (t *table) reset() {
	t.gen++
	if t.gen == 0 || len(t.slots) == 0 {
		t.slots, t.gen = make([]slot, max(fewSlots, cap(t.slots))), 1
	}
	t.slots = t.slots[:min(cap(t.slots), max(fewSlots, 1<<bits.Len(uint(2*t.used))))]
	t.used = 0
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
	t.grow()
}

// grow doubles the slots in use.
func (t *table) grow() {
	old, n := t.slots, 2*len(t.slots)
	if n > cap(old) {
		t.slots = make([]slot, n)
		clear(t.slots) // the kernel maps a page twice that is read before it is written
	} else {
		old = slices.Clone(old)
		t.slots = t.slots[:n]
		clear(t.slots)
	}
	for i := range old {
		if old[i].gen == t.gen {
			s, _ := t.at(old[i].key)
			*s = old[i]
		}
	}
}

// texts is the string table of the parts that one part explodes. Names are
// used by many units, so it is kept from unit to unit.
type texts struct {
	list    []string
	id      any   // of the table, see symbol.Run
	bytes   int64 // of strings that are copies
	byKey   table
	byText  map[string]uint32 // of strings without a key
	origins table             // names of entries: Ref to index
	asked   []asked
}

// A table that holds more is begun anew with the next unit: what it costs to
// look at strings again is little next to units that have so many. All names
// and files of ceph-osd are 150,000.
const (
	keepTexts     = 512 << 10
	keepTextBytes = 8 << 20
)

// begin makes the table ready for a unit.
func (s *texts) begin() {
	s.origins.reset()
	if s.id != nil && len(s.list) <= keepTexts && s.bytes <= keepTextBytes {
		return
	}
	clear(s.list) // they alias the object
	s.list, s.id, s.bytes = append(s.list[:0], ""), new(int), 0
	s.byKey.reset()
	s.byText = map[string]uint32{}
}

// add is the index of a string with that key, of which copied bytes are not
// the object's.
func (s *texts) add(key uint64, text string, copied int) uint32 {
	if text == "" {
		return 0
	}
	place, ok := s.byKey.at(key)
	if ok {
		return place.val
	}
	i := s.append(text, copied)
	s.byKey.put(place, key, i)
	return i
}

// path is the index of a path that may have no key.
func (s *texts) path(key uint64, path []byte) uint32 {
	if len(path) == 0 {
		return 0
	}
	if key != 0 {
		return s.add(key, string(path), len(path))
	}
	if i, ok := s.byText[string(path)]; ok {
		return i
	}
	text := string(path)
	i := s.append(text, len(text))
	s.byText[text] = i
	return i
}

func (s *texts) append(text string, copied int) uint32 {
	if len(s.list) == cap(s.list) { // doubled, it leaves less behind than append would
		s.list = slices.Grow(s.list, max(len(s.list), 256))
	}
	s.list = append(s.list, text)
	s.bytes += int64(copied)
	return uint32(len(s.list) - 1)
}

// symbol is the index of the name of a symbol.
func (s *texts) symbol(i int, syms []native.Symbol) uint32 {
	return s.add(dwarf.FirstForeign<<60|uint64(i), syms[i].Name, 0)
}

// source is the index of the file that a symbol table names.
func (s *texts) source(file string) uint32 {
	if file == "" {
		return 0
	}
	if i, ok := s.byText[file]; ok {
		return i
	}
	i := s.append(file, 0)
	s.byText[file] = i
	return i
}
