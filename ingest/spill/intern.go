package spill

import (
	"cmp"
	"encoding/binary"
	"hash/maphash"
	"math/bits"
	"slices"
	"sync"
	"sync/atomic"
	"unsafe"

	"github.com/symlake/symlake/ingest/scratch"
)

const (
	shardBits  = 5 // workers meet in one of 32 shards
	shardCount = 1 << shardBits
	textBytes  = 64 << 10 // strings are copied into pieces of this size
)

// interner holds each string once, for all lanes. An id is the string's index
// in its shard, then the shard; 0 is "".
type interner struct {
	seed   maphash.Seed
	budget *scratch.Budget
	total  atomic.Int64 // bytes of strings and tables
	shards [shardCount]shard
}

type shard struct {
	mu      sync.Mutex
	slots   []slot // open addressing, a power of two
	strings []string
	text    []byte // the piece being filled
}

type slot struct{ hash, id uint32 } // id 0: free

func newInterner(b *scratch.Budget) *interner {
	return &interner{seed: maphash.MakeSeed(), budget: b}
}

// id gives the number of a string that is not "".
func (in *interner) id(s string) uint32 {
	h := maphash.String(in.seed, s)
	at := uint32(h & (shardCount - 1))
	sh := &in.shards[at]
	sh.mu.Lock()
	defer sh.mu.Unlock()
	if len(sh.strings)*4 >= len(sh.slots)*3 {
		in.account(sh.grow())
	}
	hash := uint32(h >> 32)
	mask := uint32(len(sh.slots) - 1)
	i := hash & mask
	for ; sh.slots[i].id != 0; i = (i + 1) & mask {
		if sh.slots[i].hash == hash && sh.strings[sh.slots[i].id-1] == s {
			return sh.slots[i].id<<shardBits | at
		}
	}
	kept, grew := sh.keep(s)
	in.account(grew + int64(unsafe.Sizeof(s)))
	sh.strings = append(sh.strings, kept)
	sh.slots[i] = slot{hash, uint32(len(sh.strings))}
	return uint32(len(sh.strings))<<shardBits | at
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
		n := min(textBytes, max(1024, 2*cap(sh.text))) // small objects have few strings
		sh.text = make([]byte, 0, max(n, len(s)))
		grew = int64(cap(sh.text))
	}
	at := len(sh.text)
	sh.text = append(sh.text, s...)
	return unsafe.String(&sh.text[at], len(s)), grew // those bytes are never written again
}

func (sh *shard) grow() (grew int64) {
	old := sh.slots
	sh.slots = make([]slot, max(16, 2*len(old)))
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

// order numbers the strings anew, from 1, by a fixed hash and then by text, so
// that who came first does not show. final[id] is the new number.
func (in *interner) order() (strs []string, final []uint32) {
	type entry struct {
		hash uint64
		id   uint32
	}
	var all []entry
	longest := 0
	for at := range in.shards {
		longest = max(longest, len(in.shards[at].strings))
		for i, s := range in.shards[at].strings {
			all = append(all, entry{fixedHash(s), uint32(i+1)<<shardBits | uint32(at)})
		}
	}
	text := func(id uint32) string { return in.shards[id&(shardCount-1)].strings[id>>shardBits-1] }
	slices.SortFunc(all, func(a, b entry) int {
		if c := cmp.Compare(a.hash, b.hash); c != 0 {
			return c
		}
		return cmp.Compare(text(a.id), text(b.id))
	})
	strs = make([]string, 1, len(all)+1)
	final = make([]uint32, (longest+1)<<shardBits)
	for i, e := range all {
		strs = append(strs, text(e.id))
		final[e.id] = uint32(i + 1)
	}
	return strs, final
}

// fixedHash spreads; it need not resist anyone, equal hashes are settled by
// text. It must never change within a run of the program, that is all.
func fixedHash(s string) uint64 {
	const m = 0x9e3779b97f4a7c15
	h := uint64(len(s)) * m
	b := unsafe.Slice(unsafe.StringData(s), len(s))
	for ; len(b) >= 8; b = b[8:] {
		hi, lo := bits.Mul64(h^binary.LittleEndian.Uint64(b), m)
		h = hi ^ lo
	}
	var tail uint64
	for i, c := range b {
		tail |= uint64(c) << (8 * i)
	}
	hi, lo := bits.Mul64(h^tail, m)
	return hi ^ lo
}
