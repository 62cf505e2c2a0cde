// Package transfer copies what one store has published into another store: rows byte for byte, data
// keys wrapped anew, names, waiters, conflicts and the ledger. Afterwards an ingest into the target
// finds nothing new.
//
// A copy enters, commits and publishes as an ingest does, with many loads in a batch:
//
//	page      read records of the source in order of their artifacts
//	choose    compare each record with the target's; enter the loads to copy, with a lease
//	batch     write the rows of all entered loads, then commit them together
//	publish   names, then one compare-and-set of the target's record
//	ledger    waiters, conflicts, and the entries of objects whose artifacts the target has
//
// If the process dies, the target has whole loads, and entries that the next copy takes over.
package transfer

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/symlake/symlake/formats/symbol"
	"github.com/symlake/symlake/ingest/companions"
	"github.com/symlake/symlake/ingest/parallel"
	"github.com/symlake/symlake/ingest/record"
	"github.com/symlake/symlake/ingest/report"
	"github.com/symlake/symlake/ingest/trust"
	"github.com/symlake/symlake/sinks"
	"github.com/symlake/symlake/sinks/catalog"
	"github.com/symlake/symlake/sinks/row"
)

// Store is a store with its keys open.
type Store struct {
	Store   *sinks.Store
	Keyring *row.Keyring
}

// Options says what to copy, and how.
type Options struct {
	From, To  Store
	Artifacts []symbol.ID // none: all
	// BatchBytes of rows share a batch of the target and become visible together (0: 2 GiB). Larger
	// batches make fewer files in a store of regions.
	BatchBytes int64
	// Force replaces loads of the target that are better, pinned or shredded. It also copies the
	// rows of loads that the target has.
	Force bool
	Owner string           // stands in the leases, for people: a host and process
	Run   string           // id of this run, for the report
	Now   func() time.Time // nil: time.Now
	// Progress is called after each batch and each page of records, from one goroutine at a time.
	Progress func(Report)
	// Moved is called with the bytes of rows copied so far, from one goroutine at a time (nil: none).
	Moved func(bytes uint64)
}

// Report tells what a copy did. The job prints it as its last line.
type Report struct {
	Job     string    `json:"job"`
	Run     string    `json:"run,omitempty"`
	From    string    `json:"from,omitempty"` // a URL; the caller sets it
	To      string    `json:"to,omitempty"`   // a URL; the caller sets it
	Started time.Time `json:"started"`
	Seconds float64   `json:"seconds"`

	Artifacts Counts `json:"artifacts"`
	Batches   int    `json:"batches"`
	Rows      uint64 `json:"rows"`    // of ranges, as their records count them
	Bytes     uint64 `json:"bytes"`   // keys and values
	Objects   int    `json:"objects"` // ledger entries that are new or newer in the target
	Waiters   int    `json:"waiters"` // that wait for companions

	// Failed are artifacts that were not copied. The ledger entries of their objects stay behind, too.
	Failed []report.Rejection `json:"failed,omitempty"`
	Untold int                `json:"untold,omitempty"` // failures beyond the list
	Notes  []string           `json:"notes,omitempty"`  // of the target store; the caller sets them
}

// Counts counts the artifacts of the source by their outcome.
type Counts struct {
	Seen      int `json:"seen"`
	Copied    int `json:"copied"`
	There     int `json:"there"`               // the target has that load or equal content, with its rows
	Kept      int `json:"kept"`                // the target's load is better, pinned or shredded
	Conflicts int `json:"conflicts,omitempty"` // another owner holds them in the target
	Shredded  int `json:"shredded"`            // their keys were destroyed
	Failed    int `json:"failed"`
}

const (
	batchBytes = 2 << 30 // default of Options.BatchBytes
	// batchLoads bounds the loads of a batch: each takes some 100 bytes of memory.
	batchLoads = 1 << 16
	// pageRecords is the number of the source's records in memory at once.
	pageRecords = 256
)

// errFull ends the listing of a page.
var errFull = errors.New("the page is full")

// errDoomed says that gc has begun to drop a load of the same id and has not finished.
var errDoomed = errors.New("gc has not finished removing an earlier copy of this load: run gc, then load again")

// Copy copies the published loads of o.From into o.To. If both have a load of an artifact, Copy
// decides as an ingest does (package trust).
//
// A copy that was cut short can be repeated: the next one takes over its entries, and does not read
// again a published load. Loads go in order of their artifacts, as a store that keeps rows in
// order likes them best.
//
// Copy returns the errors of the stores and of ctx. Artifacts that do not read back are in the report only.
func Copy(ctx context.Context, o Options) (*Report, error) {
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.BatchBytes <= 0 {
		o.BatchBytes = batchBytes
	}
	c := &copier{Options: o, from: catalog.New(o.From.Store.Catalog, o.From.Keyring),
		to: catalog.New(o.To.Store.Catalog, o.To.Keyring), failed: make(map[symbol.ID]bool), again: make(map[symbol.ID]bool)}
	c.report = &Report{Job: "load", Run: o.Run, Started: o.Now()}
	err := c.run(ctx)
	c.report.Seconds = o.Now().Sub(c.report.Started).Seconds()
	return c.report, err
}

// copier is one copy at work.
type copier struct {
	Options
	from, to *catalog.Catalog

	mu     sync.Mutex
	report *Report
	moved  uint64 // bytes of rows
	failed map[symbol.ID]bool
	again  map[symbol.ID]bool // the target lacks their rows, or Force is set
}

// item is a load to copy. Its records are read again when they are needed.
type item struct {
	id       symbol.ID
	load     sinks.Load
	there    sinks.Load // the target publishes this load of equal content; zero: it publishes none
	rowsOnly bool       // the target publishes this very load and lacks its rows
	err      error
}

func (c *copier) run(ctx context.Context) error {
	if err := c.to.Obligations.DropPass(ctx); err != nil {
		return err
	}
	from, more := symbol.ID{}, true
	ids := slices.Clone(c.Artifacts)
	slices.SortFunc(ids, func(a, b symbol.ID) int { return slices.Compare(a[:], b[:]) })
	ids = slices.Compact(ids)
	for more {
		var batch []*item
		bytes := uint64(0)
		for more && bytes < uint64(c.BatchBytes) && len(batch) < batchLoads {
			var page []*catalog.Record
			var err error
			if c.Artifacts != nil {
				page, ids, err = c.named(ctx, ids)
				more = len(ids) > 0
			} else {
				page, from, more, err = c.page(ctx, from)
			}
			if err != nil {
				return err
			}
			items, n, err := c.choose(ctx, page)
			if err != nil {
				return err
			}
			batch, bytes = append(batch, items...), bytes+n
		}
		if err := c.batch(ctx, batch); err != nil {
			return err
		}
	}
	if err := errors.Join(c.waiters(ctx), c.conflicts(ctx)); err != nil {
		return err
	}
	if err := c.ledger(ctx); err != nil {
		return err
	}
	if err := c.companions(ctx); err != nil {
		return err
	}

	// A waiter of either store may have found its companion in the other.
	return companions.Join(ctx, c.to)
}

// page reads records of the source from an ID on. The listing ends before any record is worked on,
// because an open listing holds up the store's housekeeping.
func (c *copier) page(ctx context.Context, from symbol.ID) (page []*catalog.Record, next symbol.ID, more bool, err error) {
	err = c.from.Artifacts.From(ctx, from, func(r *catalog.Record) error {
		if len(page) == pageRecords {
			next, more = r.ID, true
			return errFull
		}
		page = append(page, r)
		return nil
	})
	if err == errFull {
		err = nil
	}
	if err != nil {
		err = fmt.Errorf("list artifacts of the source: %w", err)
	}
	return page, next, more, err
}

// named reads the records of the next ids. rest are the ids after them.
func (c *copier) named(ctx context.Context, ids []symbol.ID) (page []*catalog.Record, rest []symbol.ID, err error) {
	n := min(len(ids), pageRecords)
	for _, id := range ids[:n] {
		r, err := c.from.Artifacts.Get(ctx, id)
		if err != nil {
			return nil, nil, err
		}
		if r != nil {
			page = append(page, r)
		}
	}
	return page, ids[n:], nil
}

// choose returns the loads of a page to copy, and the bytes of their rows. It has entered each in the
// target's record.
func (c *copier) choose(ctx context.Context, page []*catalog.Record) (items []*item, bytes uint64, err error) {
	list, errs := make([]*item, len(page)), make([]error, len(page))
	parallel.Do(len(page), func(i int) { list[i], errs[i] = c.compare(ctx, page[i]) })
	if err := errors.Join(errs...); err != nil {
		return nil, 0, err
	}
	if err := c.skipPresent(ctx, list); err != nil {
		return nil, 0, err
	}
	for i, it := range list {
		if it != nil {
			items = append(items, it)
			bytes += page[i].Published.Bytes
		}
	}
	c.progress()
	return items, bytes, nil
}

func (c *copier) progress() {
	if c.Progress != nil {
		c.Progress(*c.report)
	}
}

// count adds 1 to a count of the report.
func (c *copier) count(n *int) {
	c.mu.Lock()
	*n++
	c.mu.Unlock()
}

// fail reports an artifact that was not copied.
func (c *copier) fail(id symbol.ID, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	r := c.report
	r.Artifacts.Failed++
	c.failed[id] = true
	if len(r.Failed) == report.MaxListed {
		r.Untold++
		return
	}
	r.Failed = append(r.Failed, report.Rejection{URL: "artifact " + id.String(), Error: err.Error()})
}

// compare returns the load of an artifact to copy, or nil. It has entered that load in the target's
// record, unless skipPresent is to decide.
func (c *copier) compare(ctx context.Context, src *catalog.Record) (*item, error) {
	if src.Published == nil {
		return nil, nil
	}
	n := &c.report.Artifacts
	c.count(&n.Seen)
	dst, err := c.to.Artifacts.Get(ctx, src.ID)
	if err != nil {
		return nil, err
	}
	switch v := c.claim(src, dst); {
	case len(src.Published.WrappedKey) == 0:
		c.count(&n.Shredded)
		return nil, nil
	case v == trust.Same && dst.Published.Bytes == 0:
		c.count(&n.There)
	case v == trust.Same:
		return &item{id: src.ID, load: src.Published.Load, there: dst.Published.Load}, c.addNames(ctx, src, dst)
	case v == trust.Dispute:
		return nil, c.recordConflict(ctx, src, dst)
	case v == trust.Confirm:
		c.count(&n.Kept)
		if err := c.confirmOwner(ctx, src); err != nil {
			return nil, err
		}
		if dst, err = c.to.Artifacts.Get(ctx, src.ID); err != nil || dst == nil {
			return nil, err
		}
	case v == trust.Keep:
		c.count(&n.Kept)
	default:
		err := c.enter(ctx, src.ID, src.Published.Load)
		if errors.Is(err, errDoomed) {
			c.fail(src.ID, err)
			return nil, nil
		}
		return &item{id: src.ID, load: src.Published.Load}, err
	}
	return nil, c.addNames(ctx, src, dst)
}

// addNames adds the names of the source's record to the target's.
func (c *copier) addNames(ctx context.Context, src, dst *catalog.Record) error {
	if dst.State.Removed() {
		return nil
	}
	return record.AddNames(ctx, c.to, dst, src.Names)
}

// claim decides between the load that the source publishes and the target's.
func (c *copier) claim(src, dst *catalog.Record) trust.Verdict {
	if dst == nil || dst.Published == nil && dst.State == catalog.Live {
		return trust.Load
	}
	l, p := src.Published, dst.Published
	if p != nil && len(p.WrappedKey) > 0 && (p.Load == l.Load || p.Digest == l.Digest && record.IsFrom(p, l.Source.URL, l.Source.Member) && p.Source.ETag == l.Source.ETag) {
		if c.isAgain(src.ID) {
			return trust.Load
		}
		return trust.Same
	}
	if p == nil || dst.State != catalog.Live && !c.Force {
		if c.Force {
			return trust.Load
		}
		return trust.Keep
	}
	if r := trust.Relate(l.Claimed(), l.Source.URL, p); r != trust.Own {
		return trust.Decide(r, p, l)
	}
	switch {
	case c.Force:
		return trust.Load
	case record.IsFrom(p, l.Source.URL, l.Source.Member):
		if l.At.After(p.At) {
			return trust.Load
		}
		return trust.Keep
	case trust.Beats(l, p):
		return trust.Load
	}
	return trust.Keep
}
