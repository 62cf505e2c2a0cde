package explode

import (
	"slices"

	"github.com/symlake/symlake/formats/internal/dwarf"
	"github.com/symlake/symlake/formats/internal/native"
)

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
	for i := range s.byKey {
		s.byKey[i].reset()
	}
	s.byText = map[string]uint32{}
}

// add returns the index of a string with that key. copied bytes of it are not
// the object's.
func (s *texts) add(key uint64, text string, copied int) uint32 {
	if i := s.known(key); i != 0 {
		return i
	}
	return s.enter(key, text, copied)
}

// enter is add of a string that is not known yet.
func (s *texts) enter(key uint64, text string, copied int) uint32 {
	if text == "" {
		return 0
	}
	i := s.append(text, copied)
	s.byKey[key>>keyShift].put(key&keyMask, i)
	return i
}

// Keys are texts, and numbers of symbols in the same space.
const (
	keyShift = 60
	keyMask  = 1<<keyShift - 1
)

// known is the index of the string with that key, 0 if there is none.
func (s *texts) known(key uint64) uint32 { return s.byKey[key>>keyShift].get(key & keyMask) }

// path is the index of a path that may have no key.
func (s *texts) path(key uint64, path []byte) uint32 {
	if len(path) == 0 {
		return 0
	}
	if key != 0 {
		if i := s.known(key); i != 0 {
			return i
		}
		return s.enter(key, string(path), len(path))
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
	return s.add(dwarf.FirstForeign<<keyShift|uint64(i), native.FunctionName(syms[i].Name), 0)
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
