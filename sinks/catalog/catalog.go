// Package catalog reads and writes the catalog of a store: small records that change, beside the
// blocks, which do not. Package sinks/row specifies their stored form.
//
// A [Catalog] has one part for each kind of record. Each part has few methods, named alike: Get
// returns one record or nil, Each emits all of them, Swap replaces one in one step, Add and Remove
// change nothing where nothing is to be changed.
//
// Invariants:
//   - A record that does not open is an error that names it (row.ErrUnauthentic, row.ErrSealed). It
//     never reads as an absent record.
//   - A change is one compare-and-set of one record, and is durable when the method returns. Where
//     another process changed the record meanwhile, Swap returns sinks.ErrConflict.
//   - A record that a method returned is read only. To change one, copy it and swap.
//   - Nothing here waits, and nothing starts a goroutine.
//   - Records of earlier versions are read as they are, and written in the form of today. [Keys.Old] finds them, and
//     [Keys.Renew] writes them anew.
package catalog

import (
	"context"

	"github.com/symlake/symlake/sinks"
	"github.com/symlake/symlake/sinks/row"
)

// Catalog is the catalog of one store. Safe for concurrent use.
type Catalog struct {
	Artifacts   Artifacts   // the published loads
	Names       Names       // the names that lead to artifacts and objects
	Ledger      Ledger      // the objects that were listed, and how each ended
	Waiters     Waiters     // the artifacts that lack a companion
	Obligations Obligations // the work that some process still owes
	Workers     Workers     // the leases of processes that ingest
	Accounts    Accounts    // the reports that such processes have yet to tell
	Conflicts   Conflicts   // the objects that another owner's load keeps out
	Sources     Sources     // the state of sources between runs
	Demand      Demand      // the names and artifacts that look-ups asked for
	Audit       Audit       // the chain of events
	Lakes       Lakes       // what the lake cannot tell of itself
	Keys        Keys        // the records that need an older store key
	Counters    Counters    // sums over artifacts and objects
}

// New returns the catalog of the store that ring's keys came from.
func New(store sinks.Catalog, ring *row.Keyring) *Catalog {
	r, g := records{keyCounting{store}, ring}, new(lag)
	return &Catalog{
		Artifacts:   Artifacts{r, g},
		Names:       Names{r},
		Ledger:      Ledger{r},
		Waiters:     Waiters{r},
		Obligations: Obligations{r},
		Workers:     Workers{r},
		Accounts:    Accounts{r},
		Conflicts:   Conflicts{r},
		Sources:     Sources{r},
		Demand:      Demand{r},
		Audit:       Audit{r},
		Lakes:       Lakes{r, g},
		Keys:        Keys{r},
		Counters:    Counters{r},
	}
}

// SettleCounters makes the store's counters whole again, if they may cease to be so: then it may read all records.
func (c *Catalog) SettleCounters(ctx context.Context) error {
	return c.Counters.settle(ctx, func(ctx context.Context, count func(counted) error) error {
		err := c.Artifacts.Each(ctx, func(r *Record) error { return count(r) })
		if err != nil {
			return err
		}
		return c.Ledger.Each(ctx, "", func(o *Object) error { return count(o) })
	})
}
