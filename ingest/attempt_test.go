package ingest

import (
	"context"
	"fmt"
	"github.com/symlake/symlake/sinks/sinktest"
	"sync/atomic"
	"testing"

	"github.com/symlake/symlake/ingest/discover"
	"github.com/symlake/symlake/sinks"
	"github.com/symlake/symlake/sinks/catalog"
)

// stopping is a catalog that ends the run while it notes its third attempt.
type stopping struct {
	sinks.Catalog
	stop  func()
	noted atomic.Int32
}

func (s *stopping) swap(ctx context.Context, ch sinks.Change) error {
	if ch.Key[0] == 'o' && s.noted.Add(1) == 3 {
		s.stop()
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	return sinktest.SwapOne(ctx, s.Catalog, ch)
}

func (s *stopping) Swap(ctx context.Context, key, old, new []byte) error {
	return s.swap(ctx, sinks.Change{Key: key, Old: old, New: new})
}

func (s *stopping) SwapAll(ctx context.Context, changes []sinks.Change) []error {
	return sinktest.SwapEach(changes, func(ch sinks.Change) error { return s.swap(ctx, ch) })
}

// A run that is asked to stop while it notes attempts leaves no object that looks as if a process had
// died of it.
func TestStopWhileAttemptsAreNoted(t *testing.T) {
	w := newWorld(t)
	for i := range 40 {
		w.put(fmt.Sprintf("lib%02d.so", i), fmt.Sprintf("FAKE\nid %040x\nf 0 8 f%d 1\n", i+1, i))
	}
	ctx, cancel := context.WithCancel(t.Context())
	o, store := w.o, *w.store
	store.Catalog = &stopping{Catalog: w.store.Catalog, stop: cancel}
	o.Store = &store
	if _, err := Run(ctx, []discover.Source{w.src}, o); err == nil {
		t.Fatal("the run was not stopped")
	}
	err := w.cat.Ledger.Each(t.Context(), "", func(o *catalog.Object) error {
		if o.State == catalog.ObjectLoading {
			t.Errorf("%s is still loading", o.URL)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	w.run()
	w.verify()
}
