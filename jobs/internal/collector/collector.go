// Package collector tunes Go's garbage collector to the one command of a process. It is the only place that does.
//
// Two numbers follow from the memory that a command may use, which is limits.memory where the configuration bounds the
// command: the limit above which the runtime collects all the time, and the size of the heap at the first collection.
// Most processes end before that one. A GOGC or GOMEMLIMIT of the environment stands.
package collector

import (
	"math"
	"os"
	"runtime"
	"runtime/debug"
	"strconv"
	"sync"
	"sync/atomic"
)

// Profile is how a kind of work fills the memory that it may use.
type Profile struct {
	// First is the share of that memory, in hundredths, at which the first collection comes.
	First int
	// Percent is the garbage, in hundredths of the live heap, that each later collection waits for.
	Percent int
}

// The profiles, with the measurement that chose each.
var (
	// Start holds from main until the command says more. The look-up of one address ends before 32 MB of the default
	// 512 MB; collections took a quarter of its time.
	Start = Profile{6, 100}
	// Lookup fills caches until the process ends: most collections find nothing to free.
	Lookup = Profile{3, 200}
	// Serve fills caches that have a size, and answers beside them.
	Serve = Profile{10, 100}
	// List compares listings with the ledger. That takes little memory, and most runs of ingest do nothing else.
	// At 80 percent the collector took a tenth of the time of a run that finds nothing new, for 3 MB less.
	List = Profile{3, 150}
	// Ingest explodes objects. 40 MB of the default hold an object with 30 MB of DWARF to its end; 32 MB came near the
	// end, while all of it lived. At 100 percent the collector costs a fifteenth of a run.
	Ingest = Profile{8, 200}
	// Lake is an ingest that writes tables, too: they make half of all garbage, and it is dead soon. At 400 percent the
	// garbage of an ingest of ceph-osd took 350 MB, at 50 percent 50 MB in the same time.
	Lake = Profile{15, 50}
	// Stream passes rows or events through and keeps little of them.
	Stream = Profile{6, 50}
	// Trace converts method traces within a memory of its own, and keeps little beside their names.
	Trace = Profile{57, 50}
)

// room is the memory in bytes beside a budget: the program, its stacks, and garbage between two collections. Without it
// a command that uses its whole budget would collect all the time.
const room = 40 << 20

// minHeap is the heap in bytes at which the runtime collects first at 100 percent.
const minHeap = 4 << 20

// Collector tunes the collector of this process. Its methods may be called at any time, by any goroutine.
type Collector struct {
	mu      sync.Mutex
	fixed   bool // the environment has GOGC
	limited bool // the environment has GOMEMLIMIT
	waiting bool // for the first collection
	percent int  // from the first collection on
}

// New starts with the profile Start of memory bytes. A process calls it once, first of all.
func New(memory int64) *Collector {
	c := &Collector{fixed: os.Getenv("GOGC") != "", limited: os.Getenv("GOMEMLIMIT") != ""}
	if c.fixed {
		return c
	}
	c.waiting = true
	first := new([16]byte)
	runtime.AddCleanup(first, (*Collector).collected, c)
	c.pace(Start, memory)
	return c
}

// collected runs after the first collection.
func (c *Collector) collected() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.waiting = false
	set(c.percent)
}

// Use changes the profile, for work that may use memory bytes. The runtime's limit becomes memory and some room.
func (c *Collector) Use(p Profile, memory int64) {
	if !c.limited {
		debug.SetMemoryLimit(min(memory, math.MaxInt64-room) + room)
	}
	if !c.fixed {
		c.pace(p, memory)
	}
}

// pace sets the size of the heap at the next collection.
func (c *Collector) pace(p Profile, memory int64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.percent = p.Percent
	if c.waiting {
		set(int(max(memory/minHeap*int64(p.First), 100)))
		return
	}
	set(p.Percent)
}

// now is the percentage that set has set; 0: none yet.
var now atomic.Int64

func set(percent int) {
	debug.SetGCPercent(percent)
	now.Store(int64(percent))
}

// Percent returns the garbage, in hundredths of the live heap, that the next collection waits for. Off is infinite.
func Percent() float64 {
	if p := now.Load(); p != 0 {
		return float64(p)
	}
	if os.Getenv("GOGC") == "off" {
		return math.Inf(1)
	}
	if p, err := strconv.Atoi(os.Getenv("GOGC")); err == nil {
		return float64(p)
	}
	return 100
}
