package spill

import (
	"hash/maphash"
	"math/bits"
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
	seed    maphash.Seed
	budget  *scratch.Budget
	lasting bool         // strings are not copied
	total   atomic.Int64 // bytes of strings, copied or not, and tables
	shards  [shardCount]shard
}

type shard struct {
	mu      sync.Mutex
	slots   []slot // open addressing, a power of two
	count   uint32
	strings [][]string // firstStrings of them, then in each list twice as many as in the one before
	text    []byte     // the piece being filled
}

const firstStrings = 16

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

func newInterner(b *scratch.Budget, lasting bool) *interner {
	return &interner{seed: maphash.MakeSeed(), budget: b, lasting: lasting}
}

// id gives the number of a string that is not "".
func (in *interner) id(s string) uint32 {
	id, _ := in.known(maphash.String(in.seed, s), s, true)
	return id
}

// known is id of a string with that hash, and the string as it is kept; 0 for one that is not there yet when it may not be added.
func (in *interner) known(h uint64, s string, mayAdd bool) (id uint32, kept string) {
	at := uint32(h & (shardCount - 1))
	sh := &in.shards[at]
	sh.mu.Lock()
	defer sh.mu.Unlock()
	if int(sh.count)*4 >= len(sh.slots)*3 {
		in.account(sh.grow())
	}
	hash := uint32(h >> 32)
	mask := uint32(len(sh.slots) - 1)
	i := hash & mask
	for ; sh.slots[i].id != 0; i = (i + 1) & mask {
		if sh.slots[i].hash != hash {
			continue
		}
		if kept = sh.string(sh.slots[i].id); kept == s {
			return sh.slots[i].id<<shardBits | at, kept
		}
	}
	if !mayAdd {
		return 0, ""
	}
	kept, grew := s, int64(len(s))
	if !in.lasting {
		kept, grew = sh.keep(s)
	}
	in.account(grew + int64(unsafe.Sizeof(s)))
	sh.slots[i] = slot{hash, sh.add(kept)}
	return sh.count<<shardBits | at, kept
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

// number gives the strings one row of numbers, from 1: final[id] is the new
// one. Who came first shows in them, so nothing may depend on their order. One of
// each shard after the other, they stand about as they came: what is used together is near in
// memory, the bytes of names in a mapped file too.
func (in *interner) number() (strs []string, final []uint32) {
	count, longest := uint32(0), uint32(0)
	for at := range in.shards {
		count += in.shards[at].count
		longest = max(longest, in.shards[at].count)
	}
	strs = make([]string, 1, count+1)
	final = make([]uint32, (longest+1)<<shardBits)
	for i := range longest {
		list, k := place(i)
		for at := range in.shards {
			if sh := &in.shards[at]; i < sh.count {
				final[(i+1)<<shardBits|uint32(at)] = uint32(len(strs))
				strs = append(strs, sh.strings[list][k])
			}
		}
	}
	return strs, final
}
