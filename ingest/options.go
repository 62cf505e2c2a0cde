package ingest

import (
	"runtime"
	"time"

	"github.com/symlake/symlake/formats"
	"github.com/symlake/symlake/sinks"
	"github.com/symlake/symlake/sinks/bucket"
	"github.com/symlake/symlake/sinks/row"
)

// Options says where symbols go and what a run may cost.
type Options struct {
	Store   *sinks.Store
	Keyring *row.Keyring
	Lake    sinks.Lake        // the tables beside the store; nil: none
	Formats []*formats.Format // narrow ones first
	Limits  formats.Limits    // zero fields: their defaults

	Workers int // objects at once, and parts exploded at once (0: one a core)
	// MemoryBytes is shared by sort runs, interned names and staged objects (0:
	// 256 MiB); what is above goes to Scratch. Names cannot: an artifact with
	// more of them than this, and than 64 MiB, is rejected.
	MemoryBytes int64
	Scratch     string // folder for sealed scratch files ("": the system's)

	Force  bool // load again what is loaded, and replace what is pinned
	DryRun bool // list and open, write nothing
	Retry  bool // take up rejected objects again
	Limit  int  // objects taken at most (0: no limit)
	// Deadline stops the taking of new objects; those left stay pending (zero: none).
	Deadline time.Time
	// Shard of Shards: only objects whose key hashes to it (Shards 0: all).
	Shard, Shards int

	Run   string // id of this run, noted in the ledger
	Owner string // who holds the leases: a host and process, for people
	// Names gives APP and BUILD from an object's user metadata. nil: the
	// metadata symlake-app and symlake-build.
	Names func(url string, meta map[string]string) (app, build string)
	// Now is the clock (nil: time.Now).
	Now func() time.Time
	// Progress hears of every object's end, from one goroutine at a time (nil: nobody).
	Progress func(Event)
}

// Source is a bucket, or one object of it, and what of it is wanted.
type Source struct {
	Bucket  bucket.Bucket
	Key     string   // one object; "": everything
	Include []string // globs over keys; none: everything. ** crosses folders
	Exclude []string
	Names   string // pattern that finds APP and BUILD in keys: "android/{app}/{build}/**"
}

// Event tells how far a run is.
type Event struct {
	URL    string
	State  row.ObjectState // the object's outcome
	Reason string
	Done   int   // objects ended
	Total  int   // objects known to be new so far
	Bytes  int64 // bytes of the objects ended
}

const (
	// leaseTime is how long a load may take before gc calls it abandoned.
	leaseTime = 24 * time.Hour
	// maxAttempts is how often an object may have been open when the process died.
	maxAttempts = 2
)

func (o Options) withDefaults() Options {
	if o.Workers <= 0 {
		o.Workers = runtime.GOMAXPROCS(0)
	}
	if o.MemoryBytes <= 0 {
		o.MemoryBytes = 256 << 20
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Names == nil {
		o.Names = metadataNames
	}
	o.Limits = o.Limits.WithDefaults()
	return o
}

// metadataNames reads the user metadata that an uploader may set.
func metadataNames(_ string, meta map[string]string) (app, build string) {
	return meta["symlake-app"], meta["symlake-build"]
}
