// Package places keeps the distinct places of native code that a profile leads to, and asks for each once.
//
// A [Set] gives each place a dense id, for forms that are read twice. A [Spool] gives none and has no bound: it moves
// places to a file. Both ask image by image, with addresses ascending, so that each block of symbols is read once.
//
// A place takes 34 to 39 bytes: 22 to 27, and 12 more while it is asked for. Callers number their images; an image may stand for any part of a question, such as
// whether its addresses are return addresses.
package places

import (
	"cmp"
	"math/bits"
	"math/rand/v2"
	"slices"
)

// Place is an address of an image.
type Place struct {
	Image   uint32
	Address uint64
}

// compare orders places as they are asked for.
func compare(a, b Place) int {
	return cmp.Or(cmp.Compare(a.Image, b.Image), cmp.Compare(a.Address, b.Address))
}

// None is the id of no place.
const None = -1

const (
	pagePlaces  = 1 << 12 // a page of places never moves
	pageBytes   = pagePlaces * 12
	shards      = 1 << 6 // tables grow one by one, so that little is there twice
	firstSlots  = 1 << 4
	slotBytes   = 4
	orderBytes  = 16 // of a place while it is asked for
	idBits      = 26 // of a slot
	mostPlaces  = 1<<idBits - 1
	spoolPlaces = 1 << 10 // of a run are read at a time at least
)

// Set is distinct places, each with an id from 0, in the order of their first. One goroutine.
type Set struct {
	room  int64
	taken int64
	seed  [2]uint64
	n     int
	pages []*page
	slots [shards][]uint32 // a part of the hash, and the id and one more; 0: free
	used  [shards]int
}

// page is the places of consecutive ids.
type page struct {
	address [pagePlaces]uint64
	image   [pagePlaces]uint32
}

// New returns an empty set that takes room bytes at most.
func New(room int64) *Set {
	return &Set{room: room, seed: [2]uint64{rand.Uint64(), rand.Uint64() | 1}}
}

// Len returns how many places the set has.
func (s *Set) Len() int { return s.n }

// Place returns the place of an id.
func (s *Set) Place(id int) Place {
	p := s.pages[id/pagePlaces]
	return Place{p.image[id%pagePlaces], p.address[id%pagePlaces]}
}

// Find returns the id of a place, or None.
func (s *Set) Find(p Place) int {
	shard, at, _ := s.find(p)
	if len(s.slots[shard]) == 0 {
		return None
	}
	return int(s.slots[shard][at]&mostPlaces) - 1
}

// Add returns the id of a place. ok is false if the place is new and the set has no room for it.
func (s *Set) Add(p Place) (id int, ok bool) {
	shard, at, mark := s.find(p)
	if slots := s.slots[shard]; len(slots) > 0 && slots[at] > 0 {
		return int(slots[at]&mostPlaces) - 1, true
	}
	if s.used[shard]*4 >= len(s.slots[shard])*3 {
		if !s.grow(shard) {
			return None, false
		}
		shard, at, mark = s.find(p)
	}
	if s.n%pagePlaces == 0 {
		if !s.take(pageBytes+pagePlaces*orderBytes) || s.n > mostPlaces-pagePlaces {
			return None, false
		}
		if s.n/pagePlaces == len(s.pages) {
			s.pages = append(s.pages, new(page))
		}
	}
	id = s.n
	s.n++
	q := s.pages[id/pagePlaces]
	q.image[id%pagePlaces], q.address[id%pagePlaces] = p.Image, p.Address
	s.slots[shard][at] = mark | uint32(id) + 1
	s.used[shard]++
	return id, true
}

// take counts memory.
func (s *Set) take(n int64) bool {
	if s.taken+n > s.room {
		return false
	}
	s.taken += n
	return true
}

// find returns the slot that has a place, or the free one where it goes, and the part of its hash that slots hold.
func (s *Set) find(p Place) (shard, at int, mark uint32) {
	hi, lo := bits.Mul64(p.Address^s.seed[0], uint64(p.Image)<<1^s.seed[1])
	hi, lo = bits.Mul64(hi^lo^s.seed[1], 0x9e3779b97f4a7c15)
	hash := hi ^ lo
	shard, mark = int(hash%shards), uint32(hash>>8)<<idBits
	slots := s.slots[shard]
	if len(slots) == 0 {
		return shard, 0, mark
	}
	for at = int(hash >> 32 & uint64(len(slots)-1)); slots[at] > 0; at = (at + 1) & (len(slots) - 1) {
		if slots[at]&^mostPlaces == mark && s.Place(int(slots[at]&mostPlaces)-1) == p {
			break
		}
	}
	return shard, at, mark
}

// grow doubles the table of a shard, if there is room.
func (s *Set) grow(shard int) bool {
	old := s.slots[shard]
	size := max(firstSlots, 2*len(old))
	if !s.take(int64(size-len(old)) * slotBytes) {
		return false
	}
	s.slots[shard] = make([]uint32, size)
	for _, slot := range old {
		if slot > 0 {
			_, at, _ := s.find(s.Place(int(slot&mostPlaces) - 1))
			s.slots[shard][at] = slot
		}
	}
	return true
}

// clear makes the set empty and keeps its memory.
func (s *Set) clear() {
	s.n, s.taken = 0, 0
	for i := range s.slots {
		clear(s.slots[i])
		s.used[i] = 0
		s.taken += int64(len(s.slots[i])) * slotBytes
	}
}

// placed is a place and its id.
type placed struct {
	address uint64
	image   uint32
	id      uint32
}

// order returns the places in their order.
func (s *Set) order() []placed {
	all := make([]placed, s.n)
	for i := range all {
		p := s.Place(i)
		all[i] = placed{p.Address, p.Image, uint32(i)}
	}
	slices.SortFunc(all, func(a, b placed) int {
		if a.image != b.image {
			return cmp.Compare(a.image, b.image)
		}
		return cmp.Compare(a.address, b.address)
	})
	return all
}
