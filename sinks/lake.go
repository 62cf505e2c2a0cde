package sinks

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"time"

	"github.com/symlake/symlake/formats/symbol"
)

// ErrLakeProfile says that the lake has another profile than the wanted one.
var ErrLakeProfile = errors.New("the lake has another profile")

// ErrLakeUnsafe says that the bucket of the lake overwrites objects that must be new, so two writers could
// lose each other's files, and that the lake was not opened for a single writer.
var ErrLakeUnsafe = errors.New("the bucket ignores If-None-Match")

// The profiles of a lake. Durable.
const (
	LakeSealed = "sealed" // files under Parquet Modular Encryption
	LakePlain  = "plain"  // files without encryption, with page index and Bloom filters
)

// Lake is the published loads as tables for others to query: a projection of the
// store, made while rows are encoded or from rows later. Safe for concurrent use,
// also by several processes.
type Lake interface {
	// Live gives what the lake names at present: one load an artifact.
	Live(ctx context.Context) (map[symbol.ID]LakeMark, error)
	// Noted reports whether the store has noted the end of the lake's log, so that no other process has written the lake
	// without telling.
	Noted(ctx context.Context) (bool, error)
	// Note has the store note the present end of the log.
	Note(ctx context.Context) error
	// Holds reports whether the lake has the rows of a load of a, named at present or not: a load
	// that is published again after another one is then named without its rows.
	Holds(ctx context.Context, a *symbol.Artifact, l Load) (bool, error)
	// Begin opens files for the rows of many loads.
	Begin(ctx context.Context) (LakeBatch, error)
	// Drop stops naming artifacts. Their rows go with the next compaction.
	Drop(ctx context.Context, ids []symbol.ID) error
	// Keys counts the files that count, and the objects of the log, by the version of the master key that they need. Whoever still reads others has it already.
	Keys(ctx context.Context) (map[uint32]int, error)
	// Compact rewrites small files, and files with rows of no more use, from the
	// rows of o.Export. It deletes files without a name since o.Grace.
	Compact(ctx context.Context, o LakeCompact) (*LakeCompacted, error)
	// Publish brings the Iceberg tables of a plain lake up to what it names now. A table whose catalog refuses has an error
	// of its own, and the others go on. nil: the lake has no tables.
	Publish(ctx context.Context, o LakePublish) ([]LakeTable, error)
}

// LakePublish says what Publish does.
type LakePublish struct {
	Run    string // id of the run, for the tables' history ("": the one that the lake was opened for)
	Erase  bool   // older snapshots leave the history at once
	DryRun bool
}

// LakeTable tells where an Iceberg table stands.
type LakeTable struct {
	Name     string
	Log      uint64 // number of the lake's log that the table shows; 0: none yet
	Newest   uint64 // number of the last entry of the log
	Snapshot int64  // 0: none
	Changed  bool   // Publish changed it, or would change it
	Err      error  // why it is behind; nil: it shows what the lake names
}

// LakeHead is the end of a lake's log, as a store remembers it: a log cannot tell that its last entries are gone.
type LakeHead struct {
	Lake   string // id of the lake
	Number uint64 // of the last entry; 0: the store has seen none
	MAC    string // of that entry
}

// LakeHeads remembers the end of the log of each lake.
type LakeHeads interface {
	// LakeHead returns the end of a lake's log; the zero LakeHead: the store has seen none.
	LakeHead(ctx context.Context, lake string) (LakeHead, error)
	// AdvanceLakeHead notes an end, unless the store has seen a later one.
	AdvanceLakeHead(ctx context.Context, h LakeHead) error
}

// LakeMark is what the lake names of an artifact: a load, and in which revision
// of its facts (names and counts, which change without a new load).
type LakeMark struct {
	Load     Load
	Revision LakeRevision
}

// LakeRevision is a hash of a load's facts.
type LakeRevision [8]byte

// LakeRows takes the rows of a load: runs of code, runs of a script or classes, by the kind of its
// artifact.
type LakeRows interface {
	// Write takes a run of code: swept, so after and apart from the load's runs before.
	Write(r *symbol.Run) error
	// WriteScript takes a run of a script, as Write does with code.
	WriteScript(s *symbol.Script) error
	// WriteClass takes a class of a mapping.
	WriteClass(c *symbol.Class) error
}

// LakeBatch takes the rows of loads, one load after the other, and then names the published loads. One
// goroutine at a time. A failed batch stays failed.
type LakeBatch interface {
	LakeRows
	// Load begins the rows of a load of a: rows that follow belong to it.
	Load(a *symbol.Artifact, l Load) error
	// EndLoad tells that the load has all its rows. The batch may write them out while the caller does something else. An
	// error is returned by Commit.
	EndLoad()
	// Commit finishes the files and names loads in one step, in place of every other load of their
	// artifacts. Rows of a load are this batch's, or those the lake has of it already (ErrConflict:
	// it has none). Other loads of the batch stay without a name.
	Commit(ctx context.Context, loads []*LakeLoad) (LakeCommitted, error)
	// Abort drops the written rows; after Commit it does nothing.
	Abort()
}

// LakeLoad is what the lake tells of a load besides its rows.
type LakeLoad struct {
	Artifact symbol.Artifact // Names: all of the record, apps' too
	Load     Load
	Format   string
	Parser   int
	Ranges   uint64
	Quality  symbol.Quality
	URL      string // of the source object
	Member   string
	ETag     string
	Size     int64
	At       time.Time
	// Fresh says that the batch wrote the rows of the load, and that the load was published after the batch began: the
	// lake cannot have named it before.
	Fresh bool `json:"-"`
}

// Revision is the hash of all that the lake tells of the load besides its rows.
func (l *LakeLoad) Revision() LakeRevision {
	text, err := json.Marshal(l)
	if err != nil {
		panic(err) // it holds texts, numbers and a time
	}
	sum := sha256.Sum256(text)
	return LakeRevision(sum[:])
}

// LakeCommitted is what a batch added.
type LakeCommitted struct {
	Files []string // keys of data files
	Bytes int64
	Rows  uint64
}

// LakeCompact says what Compact does.
type LakeCompact struct {
	// Export writes the rows of an artifact's published load to b, after b.Load, and gives its
	// facts; with b nil the facts alone. nil: the artifact is gone, and leaves the lake. It may be
	// another load than the lake named.
	Export func(ctx context.Context, id symbol.ID, b LakeBatch) (*LakeLoad, error)
	// TargetBytes is the size of a file worth leaving alone (0: 128 MiB).
	TargetBytes int64
	// Grace is how long files that are no longer named stay for readers (0: 24 hours).
	Grace time.Duration
	// Profile converts the lake ("": as it is).
	Profile string
	Rekey   bool // seal every file anew, under the newest key
	// Erase leaves alone what has no rows of no more use, and deletes at once, without grace, files that are named no longer.
	Erase  bool
	DryRun bool
	Now    func() time.Time // nil: time.Now
	// Progress is called after each artifact of the files that are rewritten, from one goroutine (nil: none).
	Progress func(done, total int)
}

// LakeCompacted is what Compact did, or would do.
type LakeCompacted struct {
	Rewritten int   // files read, in effect
	Written   int   // files in their place
	Dropped   int   // artifacts that left the lake
	Deleted   int   // files that the log named no more, and old entries of the log
	Unnamed   int   // files without a name, younger than the grace: being written, or left by a dead process
	Before    int64 // bytes of the files named, before and after
	After     int64
	Tables    []LakeTable
}

// LakeKeys is what a sealed lake is sealed with, and what file names are hashed with.
type LakeKeys struct {
	Names  []byte // keys the hash of file names; it never changes
	Newest uint32 // version of the master key that seals new files
	// Master gives a version of the master key: 32 bytes.
	Master func(ctx context.Context, version uint32) ([]byte, error)
}
