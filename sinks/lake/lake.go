package lake

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync"
	"time"

	"github.com/symlake/symlake/sinks"
	"github.com/symlake/symlake/sinks/bucket"
	"github.com/symlake/symlake/sinks/lake/iceberg"
	"github.com/symlake/symlake/sinks/lake/journal"
)

// Options says where a lake is and how it is written.
type Options struct {
	Bucket  bucket.Bucket
	Profile string         // sinks.LakeSealed or sinks.LakePlain; must be the profile of an existing lake
	Keys    sinks.LakeKeys // sinks.LakePlain uses Names alone
	// OneKey seals all files of a master key with one data key, for readers that take only one.
	OneKey bool
	// SingleWriter says that no other process writes this lake, so a bucket that cannot refuse to overwrite will do.
	SingleWriter bool
	Scratch      string           // folder for unfinished files that the bucket has no place for ("": the system's)
	Now          func() time.Time // nil: time.Now
	Run          string           // id of the run that writes, for the log ("": none)
	// Heads remembers the end of the log, so that a lake which was rolled back is an error (nil: nothing does).
	Heads sinks.LakeHeads
	// Catalog has the Iceberg tables of a plain lake; the zero value is the lake's own folder. NoTables: it has none.
	Catalog  iceberg.Catalog
	NoTables bool
	// Go starts a goroutine that encodes beside the writer, one a file, which ends with the file. It takes up to twice the
	// memory. Some files get their places at once then. nil: the writer encodes, and files get their places one by one.
	Go func(func())
}

// Lake implements sinks.Lake.
type Lake struct {
	o Options
	b bucket.Bucket

	log *journal.Log

	mu     sync.Mutex
	probed bool
	// What this process knows of the log.
	tail   journal.Tail    // of its last entry so far
	state  *journal.State  // at the tail; nil: not read
	recent []*journal.Read // the last entries up to the tail, as far as this process met them
	old    *legacy         // what there is before the first entry
}

// Open opens the lake in a bucket; there may be none yet.
func Open(o Options) *Lake {
	if o.Now == nil {
		o.Now = time.Now
	}
	l := &Lake{o: o, b: o.Bucket}
	l.log = &journal.Log{Bucket: o.Bucket, Keys: o.Keys, Create: l.create}
	return l
}

// probe tries twice whether the bucket refuses to overwrite an object. mu is held.
func (l *Lake) probe(ctx context.Context) error {
	if l.probed || l.o.SingleWriter {
		return nil
	}
	switch safe, err := bucket.Conditional(ctx, l.b); {
	case err != nil:
		return err
	case !safe:
		return fmt.Errorf("%s: %w", l.b.URL(""), sinks.ErrLakeUnsafe)
	}
	l.probed = true
	return nil
}

// create writes an object, or returns bucket.ErrChanged if the key is taken.
func (l *Lake) create(ctx context.Context, key string, r io.Reader) error {
	if l.o.SingleWriter {
		if _, _, err := l.b.Stat(ctx, key); err == nil {
			return fmt.Errorf("%s exists: %w", l.b.URL(key), bucket.ErrChanged)
		} else if !errors.Is(err, bucket.ErrNotFound) {
			return err
		}
	}
	return l.b.Create(ctx, key, "", r)
}
