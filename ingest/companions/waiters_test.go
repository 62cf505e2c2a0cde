package companions

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/symlake/symlake/formats/symbol"
	"github.com/symlake/symlake/sinks"
	"github.com/symlake/symlake/sinks/catalog"
	"github.com/symlake/symlake/sinks/kek"
	"github.com/symlake/symlake/sinks/mem"
	"github.com/symlake/symlake/sinks/row"
)

// listed counts lists, and takes a while for each.
type listed struct {
	sinks.Catalog
	lists atomic.Int64
}

func (l *listed) List(ctx context.Context, s sinks.Span, emit func(sinks.Row) error) error {
	l.lists.Add(1)
	select {
	case <-time.After(time.Millisecond):
	case <-ctx.Done():
	}
	return l.Catalog.List(ctx, s, emit)
}

// Objects side by side find their waiters in few lists, and a store with many waiters is not listed for one object.
func TestFindWaiters(t *testing.T) {
	s := mem.New()
	ring, err := row.CreateKeyring(t.Context(), s.Catalog, kek.Ephemeral())
	if err != nil {
		t.Fatal(err)
	}
	count := &listed{Catalog: s.Catalog}
	c := catalog.New(count, ring)
	add := func(n int) {
		for i := range n {
			if err := c.Waiters.Add(t.Context(), fmt.Sprint("dwo:", i), catalog.Waiter{Artifact: symbol.ID{1, byte(i), byte(i >> 8)}, Object: "o"}); err != nil {
				t.Fatal(err)
			}
		}
	}
	find := func(w *waiters, i int) {
		got, err := w.find(t.Context(), c, []string{fmt.Sprint("dwo:", i), fmt.Sprint("file:", i)})
		if err != nil || len(got) != 1 || got[0].Companion != fmt.Sprint("dwo:", i) || got[0].Artifact != (symbol.ID{1, byte(i), byte(i >> 8)}) {
			t.Errorf("%d: %+v, %v", i, got, err)
		}
	}
	add(50)
	var w waiters
	var wg sync.WaitGroup
	for i := range 400 {
		wg.Go(func() { find(&w, i%50) })
	}
	wg.Wait()
	if n := count.lists.Load(); n > 100 {
		t.Errorf("%d lists for 400 objects", n)
	}
	add(1000)
	count.lists.Store(0)
	find(&w, 999)
	if n := count.lists.Load(); n != 3 {
		t.Errorf("%d lists, want one that ends early and one for each key", n)
	}
	if got, err := w.find(t.Context(), c, nil); err != nil || got != nil {
		t.Errorf("%v, %v", got, err)
	}
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := w.find(gone, c, []string{"dwo:1"}); err == nil {
		t.Error("no error of a context that is over")
	}
	find(&w, 7)
}
