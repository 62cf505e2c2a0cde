package lake

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/symlake/symlake/formats/symbol"
	"github.com/symlake/symlake/sinks"
	"github.com/symlake/symlake/sinks/bucket"
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
	// Go starts a goroutine that encodes beside the writer, one a file, which ends with the file. It takes up to twice the
	// memory. nil: the writer encodes.
	Go func(func())
}

// Lake implements sinks.Lake.
type Lake struct {
	o Options
	b bucket.Bucket

	mu     sync.Mutex
	seen   uint64 // number of the newest manifest so far
	probed bool
	cached *state
}

// state is a manifest with its table live.
type state struct {
	manifest *manifest // nil: there is none
	live     map[symbol.ID]liveRow
}

// Open opens the lake in a bucket; there may be none yet.
func Open(o Options) *Lake {
	if o.Now == nil {
		o.Now = time.Now
	}
	return &Lake{o: o, b: o.Bucket}
}

// probe tries twice whether the bucket refuses to overwrite an object.
func (l *Lake) probe(ctx context.Context) error {
	l.mu.Lock()
	done := l.probed || l.o.SingleWriter
	l.mu.Unlock()
	if done {
		return nil
	}
	key := "_probe/" + rand.Text()
	defer l.b.Delete(context.WithoutCancel(ctx), []string{key})
	if err := l.b.Create(ctx, key, "", bytes.NewReader([]byte("1"))); err != nil {
		return fmt.Errorf("try the bucket of the lake: %w", err)
	}
	for range 2 {
		err := l.b.Create(ctx, key, "", bytes.NewReader([]byte("2")))
		if err == nil {
			return fmt.Errorf("%s: %w", l.b.URL(""), sinks.ErrLakeUnsafe)
		}
		if !errors.Is(err, bucket.ErrChanged) {
			return fmt.Errorf("try the bucket of the lake: %w", err)
		}
	}
	l.mu.Lock()
	l.probed = true
	l.mu.Unlock()
	return nil
}

// liveRow is the row of the table live for an artifact.
type liveRow struct {
	load     sinks.Load
	revision sinks.LakeRevision
	file     string // of its ranges or classes
	facts    string // of its row of artifacts
	names    string // of its rows of names
}

// next is a manifest in the making.
type next struct {
	manifest
	live map[symbol.ID]liveRow
}
