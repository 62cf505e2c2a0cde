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

// Options says what goes from where to where.
type Options struct {
	From, To  Store
	Artifacts []symbol.ID // none: all
	// BatchBytes of rows share a batch of the target and become visible
	// together (0: 2 GiB): the more, the fewer files in a store of regions.
	BatchBytes int64
	Force      bool             // replace what is better, pinned or shredded in the target, and copy the rows of what is there
	Owner      string           // who holds the leases: a host and process, for people
	Run        string           // id of this run, for the report
	Now        func() time.Time // nil: time.Now
	// Progress hears of every batch and of every thousand records looked at,
	// from one goroutine at a time (nil: nobody).
	Progress func(Report)
}

// Report is what a copy did: the last line that the job prints.
type Report struct {
	Job     string    `json:"job"`
	Run     string    `json:"run,omitempty"`
	From    string    `json:"from,omitempty"` // URLs, filled in by the caller
	To      string    `json:"to,omitempty"`
	Started time.Time `json:"started"`
	Seconds float64   `json:"seconds"`

	Artifacts Counts `json:"artifacts"`
	Batches   int    `json:"batches"`
	Rows      uint64 `json:"rows"`    // of ranges, as their records count them
	Bytes     uint64 `json:"bytes"`   // keys and values
	Objects   int    `json:"objects"` // ledger entries that are new or newer in the target
	Waiters   int    `json:"waiters"` // of companions that nothing has yet

	Failed []report.Rejection `json:"failed,omitempty"` // artifacts; not copied, nor the ledger of their objects
	Untold int                `json:"untold,omitempty"` // how many more failed than Failed names
	Notes  []string           `json:"notes,omitempty"`  // what the target store has to say, filled in by the caller
}

// Counts counts the artifacts of the source by what became of them.
type Counts struct {
	Seen      int `json:"seen"`
	Copied    int `json:"copied"`
	There     int `json:"there"`               // the target has that load, or the same content, with its rows
	Kept      int `json:"kept"`                // what the target has is better, pinned or shredded
	Conflicts int `json:"conflicts,omitempty"` // another owner holds them in the target
	Shredded  int `json:"shredded"`            // nothing can open them any more
	Failed    int `json:"failed"`
}

const (
	copyBytes = 2 << 30
	// copyLoads bounds what is remembered of a batch, some 100 bytes each.
	copyLoads = 1 << 16
	// copyPage is how many records of the source are held at once.
	copyPage = 256
)

// errFull ends the listing of a page.
var errFull = errors.New("the page is full")

// errDoomed: gc began to drop a load of that id and has not ended.
var errDoomed = errors.New("gc has not finished removing an earlier copy of this load: run gc, then load again")

// Copy brings the published loads of one store into another: rows as they are,
// data keys wrapped anew, then names, waiters and ledger, so that an ingest
// into the target finds nothing new. Which load wins where the target has one
// already is what [Run] goes by.
//
// A death anywhere leaves the target with whole loads and with entries that the
// next Copy takes over; what it published before is not read again.
// Loads go in order of their artifacts, so that a store that keeps rows in
// order takes them as they come. The error is that of a store or of ctx;
// artifacts of the source that do not read back are in the report only.
func Copy(ctx context.Context, o Options) (*Report, error) {
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.BatchBytes <= 0 {
		o.BatchBytes = copyBytes
	}
	c := &copier{Options: o, from: catalog.New(o.From.Store.Catalog, o.From.Keyring),
		to: catalog.New(o.To.Store.Catalog, o.To.Keyring), failed: make(map[symbol.ID]bool), again: make(map[symbol.ID]bool)}
	c.report = &Report{Job: "load", Run: o.Run, Started: o.Now()}
	err := c.run(ctx)
	c.report.Seconds = o.Now().Sub(c.report.Started).Seconds()
	return c.report, err
}

type copier struct {
	Options
	from, to *catalog.Catalog

	mu     sync.Mutex
	report *Report
	failed map[symbol.ID]bool
	again  map[symbol.ID]bool // artifacts whose rows the target lacks, or that are forced
}

// item is a load on its way. Its records are read again when they are needed.
type item struct {
	id    symbol.ID
	load  sinks.Load
	there sinks.Load // what the target publishes of the same content; zero: another one
	again bool       // the target publishes this very load: only its rows are copied
	err   error
}

func (c *copier) run(ctx context.Context) error {
	from, more := symbol.ID{}, true
	ids := slices.Clone(c.Artifacts)
	slices.SortFunc(ids, func(a, b symbol.ID) int { return slices.Compare(a[:], b[:]) })
	ids = slices.Compact(ids)
	for more {
		var batch []*item
		bytes := uint64(0)
		for more && bytes < uint64(c.BatchBytes) && len(batch) < copyLoads {
			var page []*catalog.Record
			var err error
			if c.Artifacts != nil {
				page, ids, err = c.IsNamed(ctx, ids)
				more = len(ids) > 0
			} else {
				page, from, more, err = c.page(ctx, from)
			}
			if err != nil {
				return err
			}
			items, n, err := c.consider(ctx, page)
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

// page reads records of the source from an ID on. It ends before any is
// worked on: a listing holds up the store's housekeeping.
func (c *copier) page(ctx context.Context, from symbol.ID) (page []*catalog.Record, next symbol.ID, more bool, err error) {
	err = c.from.Artifacts.From(ctx, from, func(r *catalog.Record) error {
		if len(page) == copyPage {
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

// IsNamed reads the records of the next ids, and gives those that are left.
func (c *copier) IsNamed(ctx context.Context, ids []symbol.ID) (page []*catalog.Record, rest []symbol.ID, err error) {
	n := min(len(ids), copyPage)
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

// consider settles which of the records' loads are to be copied and enters
// those into the target's records.
func (c *copier) consider(ctx context.Context, page []*catalog.Record) (items []*item, bytes uint64, err error) {
	list, errs := make([]*item, len(page)), make([]error, len(page))
	parallel.Do(len(page), func(i int) { list[i], errs[i] = c.one(ctx, page[i]) })
	if err := errors.Join(errs...); err != nil {
		return nil, 0, err
	}
	if err := c.present(ctx, list); err != nil {
		return nil, 0, err
	}
	for i, it := range list {
		if it != nil {
			items = append(items, it)
			bytes += page[i].Published.Bytes
		}
	}
	c.tell()
	return items, bytes, nil
}

func (c *copier) tell() {
	if c.Progress != nil {
		c.Progress(*c.report)
	}
}

// count adds one to a count of the report.
func (c *copier) count(n *int) {
	c.mu.Lock()
	*n++
	c.mu.Unlock()
}

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

// one is the load to be copied of an artifact, entered in the target's record;
// nil: there is none.
func (c *copier) one(ctx context.Context, src *catalog.Record) (*item, error) {
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
		return nil, c.keepOut(ctx, src, dst)
	case v == trust.Confirm:
		c.count(&n.Kept)
		if err := c.confirm(ctx, src); err != nil {
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

// addNames gives the names of the source to what the target has.
func (c *copier) addNames(ctx context.Context, src, dst *catalog.Record) error {
	if dst.State.Removed() {
		return nil
	}
	return record.AddNames(ctx, c.to, dst, src.Names)
}

// claim decides between what the source has published and what the target has.
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
