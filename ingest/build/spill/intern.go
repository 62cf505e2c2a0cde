package spill

import (
	"hash/maphash"
	"math/bits"
	"sync"
	"sync/atomic"
	"unsafe"

	"github.com/symlake/symlake/sinks/scratch"
)

const (
	mostShardBits = 5 // workers meet in one of 32 shards
	mostShards    = 1 << mostShardBits
	textBytes     = 64 << 10 // strings are copied into pieces of this size
)

// interner holds each string once, for all lanes. An id is the string's index
// in its shard, then the shard; 0 is "".
type interner struct {
	seed    maphash.Seed
	budget  *scratch.Budget
	lasting bool         // strings are not copied
	total   atomic.Int64 // bytes of strings, copied or not, and tables
	bits    int          // of an id that say which shard it is of
	shards  []shard
}

type shard struct {
	mu      sync.Mutex
	slots   []slot // open addressing, a power of two
	count   uint32
	strings [][]string // firstStrings of them, then in each list twice as many as in the one before
	text    []byte     // the piece being filled
}

const firstStrings = 4

// place is where string i of a shard is: in which list, and where in it.
func place(i uint32) (list int, at uint32) {
	list = bits.Len32(i/firstStrings+1) - 1
	return list, i - firstStrings*(1<<list-1)
}

// string is the one with that id in the shard.
func (sh *shard) string(id uint32) string {
	list, at := place(id - 1)
	return sh.strings[list][at]
}

// add keeps a string and gives its id in the shard.
func (sh *shard) add(s string) uint32 {
	list, _ := place(sh.count)
	if list == len(sh.strings) {
		sh.strings = append(sh.strings, make([]string, 0, firstStrings<<list))
	}
	sh.strings[list] = append(sh.strings[list], s)
	sh.count++
	return sh.count
}

type slot struct{ hash, id uint32 } // id 0: free

// newInterner returns an interner. With few, it is small: a single lane adds few strings.
func newInterner(b *scratch.Budget, lasting, few bool) *interner {
	bits := mostShardBits
	if few {
		bits = 0
	}
	return &interner{seed: maphash.MakeSeed(), budget: b, lasting: lasting, bits: bits, shards: make([]shard, 1<<bits)}
}

// shard returns which shard has the strings of a hash.
func (in *interner) shard(h uint64) uint32 { return uint32(h) & uint32(len(in.shards)-1) }

// id gives the number of a string that is not "".
func (in *interner) id(s string) uint32 {
	id, _ := in.known(maphash.String(in.seed, s), s, true)
	return id
}

// known returns the id of a string with that hash and the kept string; 0 if it is absent and may not be added.
func (in *interner) known(h uint64, s string, mayAdd bool) (id uint32, kept string) {
	at := in.shard(h)
	sh := &in.shards[at]
	sh.mu.Lock()
	id, kept, grew := sh.find(h, s, mayAdd, in.lasting)
	sh.mu.Unlock()
	if grew != 0 {
		in.account(grew)
	}
	if id == 0 {
		return 0, ""
	}
	return id<<in.bits | at, kept
}

// batch is what ids works with.
type batch struct {
	hashes []uint64
	order  []int32 // strings by their shards
}

// ids returns the numbers of a list of strings, 0 of "". It looks up the strings of a shard together: with a lock for
// each string, each would wait alone for its memory.
func (in *interner) ids(b *batch, list []string, to []use) {
	b.hashes = resize(b.hashes, len(list))
	b.order = resize(b.order, len(list))
	var ends [mostShards]int32
	for i, s := range list {
		h := maphash.String(in.seed, s)
		b.hashes[i] = h
		ends[in.shard(h)]++
	}
	sum := int32(0)
	for at, n := range ends {
		ends[at] = sum
		sum += n
	}
	for i, h := range b.hashes {
		end := &ends[in.shard(h)]
		b.order[*end] = int32(i)
		*end++
	}
	total, from := int64(0), int32(0)
	for at := range in.shards {
		if from == ends[at] {
			continue
		}
		sh := &in.shards[at]
		sh.mu.Lock()
		for _, i := range b.order[from:ends[at]] {
			if list[i] == "" {
				continue
			}
			id, _, grew := sh.find(b.hashes[i], list[i], true, in.lasting)
			to[i].id = id<<in.bits | uint32(at)
			total += grew
		}
		sh.mu.Unlock()
		from = ends[at]
	}
	in.account(total)
}

// find is the id in the shard of a string with that hash, as interner.known says, and by how much the shard grew.
func (sh *shard) find(h uint64, s string, mayAdd, lasting bool) (id uint32, kept string, grew int64) {
	if int(sh.count)*4 >= len(sh.slots)*3 {
		grew = sh.grow()
	}
	hash := uint32(h >> 32)
	mask := uint32(len(sh.slots) - 1)
	i := hash & mask
	for ; sh.slots[i].id != 0; i = (i + 1) & mask {
		if sh.slots[i].hash != hash {
			continue
		}
		if kept = sh.string(sh.slots[i].id); kept == s {
			return sh.slots[i].id, kept, grew
		}
	}
	if !mayAdd {
		return 0, "", grew
	}
	kept = s
	if lasting {
		grew += int64(len(s))
	} else {
		var copied int64
		kept, copied = sh.keep(s)
		grew += copied
	}
	id = sh.add(kept)
	sh.slots[i] = slot{hash, id}
	return id, kept, grew + int64(unsafe.Sizeof(s))
}

func (in *interner) account(n int64) {
	in.total.Add(n)
	in.budget.Force(n)
}

// keep copies s, which may die with its object.
func (sh *shard) keep(s string) (kept string, grew int64) {
	if len(s) > textBytes/8 {
		return string([]byte(s)), int64(len(s))
	}
	if len(s) > cap(sh.text)-len(sh.text) {
		n := min(textBytes, max(128, 2*cap(sh.text))) // small objects have few strings
		sh.text = make([]byte, 0, max(n, len(s)))
		grew = int64(cap(sh.text))
	}
	at := len(sh.text)
	sh.text = append(sh.text, s...)
	return unsafe.String(&sh.text[at], len(s)), grew // those bytes are never written again
}

func (sh *shard) grow() (grew int64) {
	old := sh.slots
	sh.slots = make([]slot, max(4, 2*len(old)))
	clear(sh.slots) // the kernel maps a page twice that is read before it is written
	mask := uint32(len(sh.slots) - 1)
	for _, s := range old {
		if s.id == 0 {
			continue
		}
		i := s.hash & mask
		for sh.slots[i].id != 0 {
			i = (i + 1) & mask
		}
		sh.slots[i] = s
	}
	return int64(len(sh.slots)-len(old)) * int64(unsafe.Sizeof(slot{}))
}

// number gives the strings that are used one row of numbers, from 1: final[id] is the new one, and runs[number] what counts
// has for the id. They show the order of arrival, so nothing may depend on them. Taken from each
// shard in turn, the strings stand about as they came: strings used together are near in
// memory, as are the bytes of names in a mapped file.
func (in *interner) number(counts []uint32) (strs []string, runs, final []uint32) {
	count, longest := uint32(0), uint32(0)
	for at := range in.shards {
		count += in.shards[at].count
		longest = max(longest, in.shards[at].count)
	}
	strs, runs = make([]string, 1, count+1), make([]uint32, 1, count+1)
	final = make([]uint32, (longest+1)<<in.bits)
	for i := range longest {
		list, k := place(i)
		for at := range in.shards {
			id := (i+1)<<in.bits | uint32(at)
			if sh := &in.shards[at]; i < sh.count && int(id) < len(counts) && counts[id] != 0 {
				final[id] = uint32(len(strs))
				strs, runs = append(strs, sh.strings[list][k]), append(runs, counts[id])
			}
		}
	}
	return strs, runs, final
}
