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

// Options says where symbols go and how much a run may cost.
type Options struct {
	Store   *sinks.Store
	Keyring *row.Keyring
	Lake    sinks.Lake        // the tables beside the store; nil: none
	Formats []*formats.Format // narrow ones first
	Limits  formats.Limits    // zero fields: their defaults

	// Workers is how many objects are read at once, and how many parts are exploded at once (0: one a core). Several workers
	// read more small objects at once.
	Workers int
	// MemoryBytes is shared by sort runs, interned names and staged objects (0: 256 MiB). Anything above
	// goes to Scratch, except names: a run rejects an artifact with more names than this and than 64 MiB.
	MemoryBytes int64
	// DiskBytes bounds the scratch files of all objects at work (0: no bound). A run rejects an object
	// that needs more.
	DiskBytes int64
	Scratch   string // folder for sealed scratch files ("": the system's)

	Force  bool // load loaded objects again, and replace pinned loads
	DryRun bool // list and open, write nothing
	Retry  bool // take rejected objects again
	Limit  int  // objects to take at most (0: no limit)
	// Deadline is the time from which the run takes no new object; the others stay pending (zero: none).
	// A tenth of the run's time later, open objects are put back as pending, too.
	Deadline time.Time
	// ObjectTime is the time after which the run rejects an object (0: an hour).
	ObjectTime time.Duration
	// Shard selects the objects with keys that hash to Shard of Shards (Shards 0: all).
	Shard, Shards int
	// Only, when not nil, are the objects to take, by URL. Nothing is listed.
	Only []string
	// HintsOnly takes the objects that the sources' hints name, and lists nothing.
	HintsOnly bool
	// Rederive takes objects that older parsers loaded, worst quality first, instead of new objects.
	Rederive bool
	// MinQuality holds back a load of a changed object, or of a newer parser, that covers too little of
	// its image: less than this share of the published load's cover, with or without lines (0: no load
	// is held back).
	MinQuality float64
	// NoUnwind leaves call frame information out.
	NoUnwind bool

	Run string // id of this run, noted in the ledger
	// Worker names this process in leases and accounts (zero: a new one).
	Worker row.WorkerID
	Owner  string // stands in the leases, for people: a host and process
	// Host and Process stand in this process's lease. Other processes' Alive judges by them.
	Host, Process string
	// Alive tells whether a process still runs, if this host can know. Otherwise the lease alone decides
	// (nil: always).
	Alive func(host, process string) (alive, known bool)
	// Isolate ingests one object in a process of its own, with its own limits. It returns the report, or
	// says how that process ended. A run isolates objects that were open whenever a process died (nil: it
	// rejects them).
	Isolate func(ctx context.Context, url string) (*report.Report, error)
	// Isolated says that this is such a process. It takes the object of Only even if another worker has
	// it.
	Isolated bool
	// Teller is the process that tells this one's report (zero: this one). An isolated process has no
	// account of its own.
	Teller row.WorkerID
	// TellLater leaves the report in the store for Outbox.Pending to tell.
	TellLater bool
	// Attempts says that Run was given, and that reports sum its attempts.
	Attempts bool
	// Names returns APP and BUILD from an object's user metadata (nil: symlake-app and symlake-build).
	Names func(url string, meta map[string]string) (app, build string)
	// Now is the clock (nil: time.Now).
	Now func() time.Time
	// Span is called when a stage of the run begins, from many goroutines. The returned function is called
	// when the stage ends (nil: none).
	Span func(ctx context.Context, stage, of string) (context.Context, func(error))
	// Taking is called once, before the run takes its first object. Until then the run compares lists and
	// needs little memory (nil: none).
	Taking func()
	// Progress is called after each object, from one goroutine at a time (nil: none).
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

// Event tells how far a run has come.
type Event struct {
	URL    string
	State  catalog.ObjectState // the object's outcome
	Reason string
	Done   int   // objects ended
	Total  int   // objects known to be new so far
	Bytes  int64 // bytes of the objects ended
}
