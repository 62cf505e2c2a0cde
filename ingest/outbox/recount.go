package outbox

import (
	"context"
	"encoding/json"

	"github.com/symlake/symlake/ingest/ledger"
	"github.com/symlake/symlake/ingest/parallel"
	"github.com/symlake/symlake/ingest/report"
	"github.com/symlake/symlake/ingest/wanted"
	"github.com/symlake/symlake/sinks/catalog"
	"github.com/symlake/symlake/sinks/row"
)

// recount closes accounts with the counts that the ledger and the records give.
func (b *Outbox) recount(ctx context.Context, accounts []*catalog.Account) error {
	c := &recount{reports: map[row.WorkerID]*report.Report{}, arrived: map[row.WorkerID][]*catalog.Wanted{}, wanted: map[string]*catalog.Wanted{}, conflicts: map[string][]report.Conflict{}}
	for _, a := range accounts {
		c.reports[a.ID] = &report.Report{Job: "ingest", Run: a.Run, Shard: a.Shard, Account: a.ID.String(), Started: a.Started, Recounted: 1,
			Error: "the process died", Rejected: []report.Rejection{}, Objects: report.ObjectCounts{Skipped: map[string]int{}}}
	}
	err := b.Crew.Catalog.Conflicts.Each(ctx, "", func(x *catalog.Conflict) error {
		c.conflicts[x.KeptOut.URL] = append(c.conflicts[x.KeptOut.URL], report.NewConflict(x))
		return nil
	})
	if err == nil {
		err = b.Crew.Catalog.Demand.EachWanted(ctx, func(w *catalog.Wanted) error {
			c.wanted[wanted.Key(w.Name)] = w
			return nil
		})
	}
	if err == nil {
		err = b.Crew.Catalog.Artifacts.Each(ctx, func(rec *catalog.Record) error { c.record(rec); return nil })
	}
	if err == nil {
		err = b.Crew.Catalog.Ledger.Each(ctx, "", func(o *catalog.Object) error { c.object(o); return nil })
	}
	for _, a := range accounts {
		if err != nil {
			return err
		}
		var text []byte
		if text, err = json.Marshal(c.reports[a.ID]); err != nil {
			return err
		}
		err = change(ctx, b.Crew.Catalog, a, func(now *catalog.Account) bool {
			if !now.Ended.IsZero() {
				return false
			}
			now.Ended, now.Report, now.Teller = b.Now(), text, nil
			return true
		})
		if err == nil {
			err = parallel.Each(c.arrived[a.ID], func(w *catalog.Wanted) error { return b.Crew.Catalog.Demand.RemoveWanted(ctx, w) })
		}
	}
	return err
}

// recount counts loads and ledger entries by the accounts that they name.
type recount struct {
	reports map[row.WorkerID]*report.Report
	wanted  map[string]*catalog.Wanted
	arrived map[row.WorkerID][]*catalog.Wanted
	// conflicts are the open conflicts, by URL of their object.
	conflicts map[string][]report.Conflict
}

// record counts the loads of an artifact.
func (c *recount) record(rec *catalog.Record) {
	for _, l := range []*row.Loaded{rec.Published, rec.Previous} {
		if l == nil || c.reports[l.By] == nil {
			continue
		}
		r := c.reports[l.By]
		r.CountLoad(l)
		for _, w := range l.Quality.Warnings {
			r.Append(&r.Warnings, report.Rejection{URL: ledger.Place(l.Source.URL, l.Source.Member), Error: w})
		}
		if l != rec.Published {
			continue
		}
		r.Missing = append(r.Missing, l.Quality.Missing[:min(len(l.Quality.Missing), max(0, report.MaxListed-len(r.Missing)))]...)
		for _, n := range rec.Names {
			key := wanted.Key(n.Text)
			if w := c.wanted[key]; w != nil {
				delete(c.wanted, key)
				r.AddWanted(w, rec.ID)
				c.arrived[l.By] = append(c.arrived[l.By], w)
			}
		}
	}
}

// object counts a ledger entry.
func (c *recount) object(o *catalog.Object) {
	r := c.reports[o.By]
	if r == nil {
		return
	}
	n := &r.Objects
	state := o.State
	if o.Again {
		state = ledger.EndedAs(o)
	}
	switch state {
	default:
		return
	case catalog.ObjectLoaded:
		n.Loaded++
	case catalog.ObjectKept:
		n.Kept++
	case catalog.ObjectConflict:
		n.Conflict++
	case catalog.ObjectSkipped:
		n.Skipped[ledger.ShortReason(o.Reason)]++
	case catalog.ObjectRejected:
		n.Rejected++
	case catalog.ObjectFailed:
		n.Failed++
		r.Append(&r.Failed, report.Rejection{URL: o.URL, Error: o.Reason})
	}
	n.Seen++
	n.New++
	r.Bytes.Read += o.Size
	if state == catalog.ObjectFailed {
		return // the report of its last attempt tells its parts
	}
	rejected := report.Rejected(o)
	if state == catalog.ObjectRejected && len(rejected) == 0 {
		rejected = []report.Rejection{{URL: o.URL, Error: o.Reason}}
	}
	r.Append(&r.Rejected, rejected...)
	r.AddConflicts(c.conflicts[o.URL]...)
	for _, a := range o.Artifacts {
		if a.Outcome == ledger.OutcomeHeld {
			r.Append(&r.Held, report.Rejection{URL: ledger.Place(o.URL, a.Member), Error: a.Error})
		}
	}
}
