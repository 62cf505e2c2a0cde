package lookup

import (
	"time"

	"github.com/symlake/symlake/formats/symbol"
)

// Observer hears what a client does, for metrics. Its functions are called from
// any goroutine, on the way of an answer: they must be quick. Nil functions are not called.
type Observer struct {
	// Answered: frames of artifacts of a kind ("": it is not known) were answered with a status.
	Answered func(kind symbol.Kind, status symbol.Status, frames int)
	// Cached: so many rows were wanted, and hits of them were found decoded.
	Cached func(rows, hits int)
	// Read: something was read past the client's own caches.
	Read func(Read)
}

// Read is one round trip past the client's own caches.
type Read struct {
	From Level
	Rows int // asked for
	Hits int // given
	Bad  int // given, and not the row that was asked for
	Took time.Duration
	Err  error // of the whole trip
}

// Level is where a round trip leads.
type Level string

// The levels behind the client's own caches.
const (
	LevelStore   Level = "store"   // rows of the store
	LevelShared  Level = "shared"  // rows of Options.Shared
	LevelCatalog Level = "catalog" // records and names: Rows is how many were asked for
)

func (o *Observer) answered(kind symbol.Kind, status symbol.Status, n int) {
	if o.Answered != nil && n > 0 {
		o.Answered(kind, status, n)
	}
}

func (o *Observer) cached(rows, hits int) {
	if o.Cached != nil && rows > 0 {
		o.Cached(rows, hits)
	}
}

func (o *Observer) read(r Read, since time.Time) {
	if o.Read != nil {
		r.Took = time.Since(since)
		o.Read(r)
	}
}
