package catalog

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/symlake/symlake/sinks"
	"github.com/symlake/symlake/sinks/catalog/audit"
	"github.com/symlake/symlake/sinks/row"
	"github.com/symlake/symlake/sinks/sinktest"
)

// audited is a catalog with n events of a chain.
func audited(t *testing.T, n int) *Catalog {
	t.Helper()
	c, _ := newCatalog(t)
	for i := range n {
		noted(t, c, fmt.Sprint(i))
	}
	return c
}

func noted(t *testing.T, c *Catalog, detail string) {
	t.Helper()
	if err := c.Audit.Add(ctx, audit.Event{At: time.Unix(7, 0), Who: "me", What: "gc", Detail: detail}); err != nil {
		t.Fatal(err)
	}
}

func chainOf(t *testing.T, c *Catalog) *audit.Chain {
	t.Helper()
	chain, err := c.Audit.Chain(ctx)
	if err != nil {
		t.Fatal(err)
	}
	return chain
}

// audit is the details of all events.
func auditOf(t *testing.T, c *Catalog) string {
	t.Helper()
	var all []string
	if err := c.Audit.Each(ctx, func(e audit.Event) error { all = append(all, e.Detail); return nil }); err != nil {
		t.Fatal(err)
	}
	return strings.Join(all, " ")
}

// auditRecords returns the records of the audit, the events by their order.
func auditRecords(t *testing.T, c *Catalog) (events []sinks.Row, head []byte) {
	t.Helper()
	err := c.Audit.store.List(ctx, sinks.Under([]byte{row.RecordEvent}), func(r sinks.Row) error { events = append(events, r); return nil })
	if err == nil {
		head, err = c.Audit.store.Get(ctx, []byte{row.RecordHead})
	}
	if err != nil {
		t.Fatal(err)
	}
	return events, head
}

func swapped(t *testing.T, c *Catalog, key, old, new []byte) {
	t.Helper()
	if err := c.Audit.store.Swap(ctx, key, old, new); err != nil {
		t.Fatal(err)
	}
}

// Any change of the events shows, to a chain read alone or against a head from before.
func TestAuditChain(t *testing.T) {
	for _, tt := range []struct {
		name  string
		do    func(c *Catalog, events []sinks.Row, head []byte)
		wants string // of the problems; "": none
		has   bool   // the head from before is still in the chain
	}{
		{"nothing", func(*Catalog, []sinks.Row, []byte) {}, "", true},
		{"one more", func(c *Catalog, _ []sinks.Row, _ []byte) { noted(t, c, "more") }, "", true},
		{"an event removed", func(c *Catalog, e []sinks.Row, _ []byte) { swapped(t, c, e[2].Key, e[2].Value, nil) }, "does not follow", true},
		{"the first one removed", func(c *Catalog, e []sinks.Row, _ []byte) { swapped(t, c, e[0].Key, e[0].Value, nil) }, "does not follow", true},
		{"two swapped", func(c *Catalog, e []sinks.Row, _ []byte) {
			swapped(t, c, e[1].Key, e[1].Value, e[2].Value)
			swapped(t, c, e[2].Key, e[2].Value, e[1].Value)
		}, "the seal is broken", true},
		{"an event edited, by a holder of the key", func(c *Catalog, e []sinks.Row, _ []byte) {
			f, _, err := c.Audit.event(ctx, e[2])
			f.Who = "you"
			plain, merr := json.Marshal(f)
			if err := errors.Join(err, merr); err != nil {
				t.Fatal(err)
			}
			swapped(t, c, e[2].Key, e[2].Value, c.Audit.ring.SealRecord(e[2].Key, plain))
		}, "does not follow", true},
		{"an event added without a link", func(c *Catalog, e []sinks.Row, _ []byte) {
			key := audit.Key(time.Unix(8, 0).UnixNano())
			swapped(t, c, key, nil, c.Audit.ring.SealRecord(key, []byte(`{"who":"you","what":"gc"}`)))
		}, "follows no other", true},
		{"the last two removed", func(c *Catalog, e []sinks.Row, _ []byte) {
			swapped(t, c, e[4].Key, e[4].Value, nil)
			swapped(t, c, e[3].Key, e[3].Value, nil)
		}, "does not follow", true}, // the head holds the last
		{"the head removed", func(c *Catalog, _ []sinks.Row, head []byte) { swapped(t, c, []byte{row.RecordHead}, head, nil) }, "the head is gone", true},
		{"the head damaged", func(c *Catalog, _ []sinks.Row, head []byte) {
			bad := append([]byte(nil), head...)
			bad[len(bad)-1] ^= 1
			swapped(t, c, []byte{row.RecordHead}, head, bad)
		}, "head of the audit", true},
		{"all of it removed", func(c *Catalog, e []sinks.Row, head []byte) {
			for _, r := range e {
				swapped(t, c, r.Key, r.Value, nil)
			}
			swapped(t, c, []byte{row.RecordHead}, head, nil)
		}, "", false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			c := audited(t, 5)
			was := chainOf(t, c)
			if len(was.Problems) > 0 || was.Events != 5 || !was.Has(was.Head) || len(was.Head) != 64 {
				t.Fatalf("%+v", was)
			}
			events, head := auditRecords(t, c)
			tt.do(c, events, head)
			now := chainOf(t, c)
			switch said := fmt.Sprint(now.Problems); {
			case tt.wants == "" && len(now.Problems) > 0, !strings.Contains(said, tt.wants):
				t.Errorf("problems %s, want %q", said, tt.wants)
			}
			if now.Has(was.Head) != tt.has {
				t.Errorf("the old head is in the chain: %v", !tt.has)
			}
		})
	}
}

// A catalog that is put back to an earlier state is whole in itself. Only the head of a later time tells.
func TestAuditRolledBack(t *testing.T) {
	c := audited(t, 3)
	early := chainOf(t, c).Head
	events, head := auditRecords(t, c)
	noted(t, c, "3")
	late := chainOf(t, c).Head
	now, newer := auditRecords(t, c)
	swapped(t, c, []byte{row.RecordHead}, newer, head)
	if said := fmt.Sprint(chainOf(t, c).Problems); !strings.Contains(said, "1 events follow") {
		t.Errorf("the head alone put back: %s", said)
	}
	swapped(t, c, now[3].Key, now[3].Value, nil)
	chain := chainOf(t, c)
	if len(events) != 3 || len(chain.Problems) > 0 || !chain.Has(early) || chain.Has(late) {
		t.Errorf("%+v", chain)
	}
}

// Events of an older program are covered by the chain that begins behind them.
func TestAuditBefore(t *testing.T) {
	c, _ := newCatalog(t)
	for i := range 3 {
		key := audit.Key(int64(i + 1))
		swapped(t, c, key, nil, c.Audit.ring.SealRecord(key, fmt.Appendf(nil, `{"who":"me","what":"load","detail":"old%d"}`, i)))
	}
	old := chainOf(t, c)
	if old.Events != 0 || old.Before != 3 || !old.CopiedBefore || len(old.Problems) > 0 {
		t.Fatalf("%+v", old)
	}
	noted(t, c, "new")
	chain := chainOf(t, c)
	if chain.Events != 1 || chain.Before != 3 || !chain.Has(old.Head) || len(chain.Problems) > 0 {
		t.Fatalf("%+v", chain)
	}
	if got := auditOf(t, c); got != "old0 old1 old2 new" {
		t.Error(got)
	}
	events, _ := auditRecords(t, c)
	swapped(t, c, events[1].Key, events[1].Value, nil)
	if chain := chainOf(t, c); len(chain.Problems) == 0 || chain.Has(old.Head) {
		t.Errorf("%+v", chain)
	}
}

// dying fails every swap from the n-th on.
type dying struct {
	sinks.Catalog
	left int
}

var errDead = errors.New("dead")

func (d *dying) swap(ctx context.Context, ch sinks.Change) error {
	if d.left--; d.left < 0 {
		return errDead
	}
	return sinktest.SwapOne(ctx, d.Catalog, ch)
}

func (d *dying) Swap(ctx context.Context, key, old, new []byte) error {
	return d.swap(ctx, sinks.Change{Key: key, Old: old, New: new})
}

func (d *dying) SwapAll(ctx context.Context, changes []sinks.Change) []error {
	return sinktest.SwapEach(changes, func(ch sinks.Change) error { return d.swap(ctx, ch) })
}

// A writer that dies at any write loses no event that it had committed, and leaves a chain that goes on.
func TestAuditDies(t *testing.T) {
	for n := range 8 {
		c := audited(t, 2)
		d := &dying{c.Audit.store, n}
		mortal := New(d, c.Audit.ring)
		committed := []string{"0", "1"}
		for i := range 4 {
			swaps := d.left
			err := mortal.Audit.Add(ctx, audit.Event{At: time.Unix(7, 0), Who: "me", What: "gc", Detail: fmt.Sprint("x", i)})
			if swaps > 0 { // the head was swapped
				committed = append(committed, fmt.Sprint("x", i))
			}
			if err != nil && !errors.Is(err, errDead) {
				t.Fatal(err)
			}
		}
		for range 2 {
			if chain := chainOf(t, c); len(chain.Problems) > 0 || chain.Events != len(committed) {
				t.Errorf("death at %d: %+v", n, chain)
			}
			if got, want := auditOf(t, c), strings.Join(committed, " "); got != want {
				t.Errorf("death at %d: %s, want %s", n, got, want)
			}
			noted(t, c, "after")
			committed = append(committed, "after")
		}
	}
}

// Many append at once: each event has its place.
func TestAuditTogether(t *testing.T) {
	c, _ := newCatalog(t)
	var all sync.WaitGroup
	for i := range 8 {
		all.Go(func() {
			for k := range 10 {
				if err := c.Audit.Add(ctx, audit.Event{At: time.Unix(7, 0), Who: "me", What: "gc", Detail: fmt.Sprint(i, k)}); err != nil {
					t.Error(err)
				}
				if chain, err := c.Audit.Chain(ctx); err != nil || len(chain.Problems) > 0 {
					t.Errorf("while others append: %+v %v", chain, err)
				}
			}
		})
	}
	all.Wait()
	if chain := chainOf(t, c); len(chain.Problems) > 0 || chain.Events != 80 {
		t.Errorf("%+v", chain)
	}
}

// A lost head stops no command, and the next event tells of the loss.
func TestAuditHeadLost(t *testing.T) {
	c := audited(t, 3)
	_, head := auditRecords(t, c)
	swapped(t, c, []byte{row.RecordHead}, head, nil)
	noted(t, c, "3")
	if got := auditOf(t, c); !strings.Contains(got, "0 1 2 the head of the audit was gone") || !strings.HasSuffix(got, " 3") {
		t.Error(got)
	}
	if chain := chainOf(t, c); len(chain.Problems) > 0 || chain.Events != 5 {
		t.Errorf("%+v", chain)
	}
}

// A list passes the place of an event before another process stores it, and then finds the next one. That is no damage.
func TestAuditBetween(t *testing.T) {
	behind := func() (*Catalog, *int) {
		quiet := audited(t, 3)
		dying := New(&dying{quiet.Audit.store, 1}, quiet.Audit.ring)
		if err := dying.Audit.Add(ctx, audit.Event{At: time.Unix(7, 0), Who: "me", What: "gc", Detail: "3"}); !errors.Is(err, errDead) {
			t.Fatal(err)
		}
		head, err := quiet.Audit.head(ctx)
		if err != nil {
			t.Fatal(err)
		}
		between := 0
		bounds := [][]byte{audit.Key(head.At - 1), audit.Key(head.At + 1)}
		s := sinktest.Regions(&sinks.Store{Catalog: quiet.Audit.store}, bounds, func() {
			if between++; between == 2 {
				noted(t, quiet, "4")
			}
		})
		return New(s.Catalog, quiet.Audit.ring), &between
	}
	c, between := behind()
	if got := chainOf(t, c); len(got.Problems) > 0 || got.Events != 5 || *between < 3 {
		t.Errorf("%+v after %d regions", got, *between)
	}
	c, _ = behind()
	if got := auditOf(t, c); got != "0 1 2 3" {
		t.Errorf("events %s", got)
	}
}
