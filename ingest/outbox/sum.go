package outbox

import (
	"context"
	"slices"

	"github.com/symlake/symlake/ingest/report"
	"github.com/symlake/symlake/sinks/catalog"
)

// sum adds accounts up, oldest first. Attempts of one shard of a run count as one run. It returns nil
// if there are no accounts.
func (b *Outbox) sum(ctx context.Context, accounts []*catalog.Account) (*report.Report, error) {
	if len(accounts) == 0 {
		return nil, nil
	}
	type part struct{ run, shard string }
	byPart := map[part][]*catalog.Account{}
	var parts []part
	for _, a := range accounts {
		p := part{a.Run, a.Shard}
		if byPart[p] == nil {
			parts = append(parts, p)
		}
		byPart[p] = append(byPart[p], a)
	}
	total := &report.Report{Job: "report", Started: accounts[0].Started, Rejected: []report.Rejection{}, Objects: report.ObjectCounts{Skipped: map[string]int{}}, Stages: map[string]float64{}}
	for _, p := range parts {
		attempts := byPart[p]
		last := attempts[len(attempts)-1]
		r, err := ReportOf(last)
		if err == nil {
			err = b.addAttempts(ctx, r, attempts[:len(attempts)-1])
		}
		if err != nil {
			return nil, err
		}
		total.Add(r)
		for _, a := range attempts {
			total.Accounts = append(total.Accounts, a.ID.String())
		}
		if !slices.Contains(total.Runs, p.run) {
			total.Runs = append(total.Runs, p.run)
		}
	}
	return total, nil
}

// addAttempts adds earlier attempts of a run to the report of its last attempt. It leaves out
// failures of objects that have ended since.
func (b *Outbox) addAttempts(ctx context.Context, r *report.Report, attempts []*catalog.Account) error {
	for _, a := range attempts {
		o, err := ReportOf(a)
		if err != nil {
			return err
		}
		n := &o.Objects
		n.New = n.Loaded + n.Kept + n.Conflict + n.Rejected
		for _, skipped := range n.Skipped {
			n.New += skipped
		}
		n.Seen, n.Pending, n.Gone, n.Elsewhere, n.Failed = 0, 0, 0, 0, 0
		o.Missing, o.Sources, o.Seconds, o.Error = nil, nil, 0, ""
		failed := o.Failed
		o.Failed = nil
		r.Add(o)
		if r.Attempts == 0 {
			r.Attempts = 1
		}
		r.Attempts++
		for _, f := range failed {
			now, err := b.Crew.Catalog.Ledger.Get(ctx, f.URL)
			if err != nil {
				return err
			}
			told := slices.ContainsFunc(r.Failed, func(x report.Rejection) bool { return x.URL == f.URL })
			if !told && now != nil && now.State == catalog.ObjectFailed && now.By == a.ID {
				r.Objects.Failed++
				r.Append(&r.Failed, f)
			}
		}
	}
	return nil
}
