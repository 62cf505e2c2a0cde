package ingest

import (
	"context"
	"runtime"
	"time"

	"github.com/symlake/symlake/formats"
	"github.com/symlake/symlake/ingest/report"
	"github.com/symlake/symlake/sinks"
	"github.com/symlake/symlake/sinks/catalog"
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
	// DiskBytes is what scratch files of all objects at work may take (0: no bound); an object that needs more is rejected.
	DiskBytes int64
	Scratch   string // folder for sealed scratch files ("": the system's)

	Force  bool // load again what is loaded, and replace what is pinned
	DryRun bool // list and open, write nothing
	Retry  bool // take up rejected objects again
	Limit  int  // objects taken at most (0: no limit)
	// Deadline stops the taking of new objects; those left stay pending (zero: none). What is open a tenth of
	// the run's time later is put back as pending, too.
	Deadline time.Time
	// ObjectTime is how long one object may take (0: an hour): above, it is rejected.
	ObjectTime time.Duration
	// Shard of Shards: only objects whose key hashes to it (Shards 0: all).
	Shard, Shards int
	// Only, when not nil, are the objects to take, by URL; nothing is listed.
	Only []string
	// HintsOnly takes what the sources' hints name, and lists nothing.
	HintsOnly bool
	// Rederive loads again what older parsers made, worst quality first, instead of what is new.
	Rederive bool
	// MinQuality holds back a load of a changed object, or of a newer parser, that covers less of its image, or less of it
	// with lines, than this share of what the published load does (0: none is held back).
	MinQuality float64

	Run string // id of this run, noted in the ledger
	// Worker names this process in leases and accounts (zero: a new one).
	Worker row.WorkerID
	Owner  string // who holds the leases: a host and process, for people
	// Host and Process are what Alive judges by: they stand in this process's lease.
	Host, Process string
	// Alive tells whether a process still runs, for those that can be known from here: of this
	// host. Of others, the lease alone decides (nil: always).
	Alive func(host, process string) (alive, known bool)
	// Isolate ingests one object in a process of its own, with its own limits, and gives its report, or says
	// how that process ended: for objects that were open whenever a process died. nil: they are rejected.
	Isolate func(ctx context.Context, url string) (*report.Report, error)
	// Isolated: this is such a process. It takes the object of Only whoever holds it.
	Isolated bool
	// Teller is the process that tells what this one does (zero: this one). An isolated process
	// has no account of its own.
	Teller row.WorkerID
	// TellLater leaves what this run did in the store for Pending to tell.
	TellLater bool
	// Attempts says that Run was given, and that reports sum its attempts.
	Attempts bool
	// Names gives APP and BUILD from an object's user metadata. nil: the
	// metadata symlake-app and symlake-build.
	Names func(url string, meta map[string]string) (app, build string)
	// Now is the clock (nil: time.Now).
	Now func() time.Time
	// Span hears when a stage of the run begins, and by the function it returns when it ends, from many goroutines (nil: nobody).
	Span func(ctx context.Context, stage, of string) (context.Context, func(error))
	// Taking hears once that the first object is about to be taken; until then the run compares lists, and needs little memory (nil:
	// nobody).
	Taking func()
	// Progress hears of every object's end, from one goroutine at a time (nil: nobody).
	Progress func(Event)
}

func (o Options) withDefaults() Options {
	if o.Workers <= 0 {
		o.Workers = runtime.GOMAXPROCS(0)
	}
	if o.MemoryBytes <= 0 {
		o.MemoryBytes = 256 << 20
	}
	if o.ObjectTime <= 0 {
		o.ObjectTime = time.Hour
	}
	if o.Worker == (row.WorkerID{}) {
		o.Worker = row.NewWorkerID()
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	o.Limits = o.Limits.WithDefaults()
	return o
}

// Event tells how far a run is.
type Event struct {
	URL    string
	State  catalog.ObjectState // the object's outcome
	Reason string
	Done   int   // objects ended
	Total  int   // objects known to be new so far
	Bytes  int64 // bytes of the objects ended
}
