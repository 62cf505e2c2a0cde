package hbase

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"time"

	"github.com/symlake/symlake/sinks"
	"github.com/symlake/symlake/sinks/hbase/internal/client"
	"github.com/symlake/symlake/sinks/hbase/internal/places"
)

// store is one namespace of one HBase.
type store struct {
	address
	c        *client.Client
	w        *writer
	records  *places.Catalog
	readOnly bool
	watched  watched
}

var errReadOnly = errors.New("store was opened for reading only")

const (
	// masterTime is how long a reader that has found the tables waits for the master's word on their schemas.
	masterTime = 100 * time.Millisecond
	// watchEvery is how old that word may become while the store is in use.
	watchEvery = time.Minute
)

// watched is the last word of the master on the schemas of the tables. A reader goes on without it: cells carry
// timestamps that no TTL reaches.
type watched struct {
	last  atomic.Int64 // when it was asked for, nanoseconds since 1970
	mu    sync.Mutex
	wrong error // sinks.ErrUnfit, or nil
}

func (w *watched) begin(now time.Time) { w.last.Store(now.UnixNano()) }

// unfit returns sinks.ErrUnfit if the master said lately that the tables would lose symbols.
func (w *watched) unfit() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.wrong
}

// fit returns sinks.ErrUnfit if the tables would lose symbols, as the master said last, and asks the master again when its
// word is old. It does not wait.
func (s *store) fit() error {
	now, last := time.Now().UnixNano(), s.watched.last.Load()
	if now-last > int64(watchEvery) && s.watched.last.CompareAndSwap(last, now) {
		s.watch()
	}
	return s.watched.unfit()
}

// watch asks the master for the schemas. The channel closes when it has answered, or does not.
func (s *store) watch() <-chan struct{} {
	s.watched.begin(time.Now())
	done := make(chan struct{})
	go func() {
		defer close(done)
		ctx, cancel := context.WithTimeout(context.Background(), contactTime)
		defer cancel()
		have, err := s.c.Glimpse(ctx, s.catalog(), s.blocks())
		if err == nil {
			_, err = s.compare(have)
		}
		if err != nil && !errors.Is(err, sinks.ErrUnfit) {
			return // the master is away, or denies its word to readers
		}
		s.watched.mu.Lock()
		s.watched.wrong = err
		s.watched.mu.Unlock()
	}()
	return done
}
