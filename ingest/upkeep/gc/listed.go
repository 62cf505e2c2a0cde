package gc

import (
	"context"
	"slices"
	"time"

	"github.com/symlake/symlake/formats/symbol"
	"github.com/symlake/symlake/ingest/record"
	"github.com/symlake/symlake/ingest/stored"
	"github.com/symlake/symlake/sinks"
	"github.com/symlake/symlake/sinks/catalog"
	"github.com/symlake/symlake/sinks/row"
)

const (
	// passAge is how long gc trusts the list of garbage where counters do not prove that the store has no other: rows
	// and names that no record has.
	passAge = 7 * 24 * time.Hour
	// listedPage is the number of listed records to read at a time.
	listedPage = 1024
)

// listing is the garbage that the catalog lists.
type listing struct {
	due      []symbol.ID // gc changes their records
	stale    []symbol.ID // their records have no garbage any more
	obsolete int64       // entries of replaced loads
	empty    int64       // records without a load
	rows     int64       // sum of the prefixes of entries with rows
}

// listed works on the artifacts that the catalog lists as garbage. It changes nothing and returns false unless the store's
// counters prove the list whole, and that there is nothing else to do. Then gc reads no other record.
func (g *collector) listed(ctx context.Context) (bool, error) {
	n, whole, err := g.cat.Counters.Read(ctx)
	if err != nil || !whole {
		return false, err
	}
	pass, err := g.cat.Obligations.Pass(ctx)
	if row.DoesNotOpen(err) {
		pass, err = catalog.Pass{}, nil // passed writes it anew
	}
	if err != nil {
		return false, err
	}
	loading := n[catalog.CountLoading]
	if loading > 0 && (g.Alone || pass.Lease.Before(g.before)) {
		return false, nil
	}
	l, err := g.list(ctx)
	if err != nil || l.obsolete < n[catalog.CountObsolete] || l.empty < n[catalog.CountEmpty] {
		return false, err
	}
	if ok, err := g.nothingElse(ctx, n, l.rows, pass.At); err != nil || !ok {
		return false, err
	}

	g.report.Artifacts = int(n[catalog.CountRecords])
	for i, id := range l.due {
		g.progress("load", i, len(l.due))
		if err := g.record(ctx, id); err != nil {
			return true, err
		}
	}
	if err := g.discharge(ctx, slices.Concat(l.stale, l.due)); err != nil {
		return true, err
	}
	if g.DryRun || g.Alone || loading > 0 {
		return true, nil
	}
	return true, g.cat.Obligations.SetPass(ctx, catalog.Pass{At: pass.At, Lease: g.report.Started.Add(record.LeaseTime)})
}

// ids returns the listed artifacts.
func (g *collector) ids(ctx context.Context) (ids []symbol.ID, err error) {
	err = g.cat.Obligations.EachGarbage(ctx, func(id symbol.ID) error {
		ids = append(ids, id)
		return nil
	})
	return ids, err
}

// list reads the listed records.
func (g *collector) list(ctx context.Context) (l listing, err error) {
	ids, err := g.ids(ctx)
	if err != nil {
		return l, err
	}
	read := 0
	for some := range slices.Chunk(ids, listedPage) {
		records, err := g.cat.Artifacts.GetAll(ctx, some, nil)
		if err != nil {
			return l, err
		}
		if err := g.appendListed(ctx, &l, some, records); err != nil {
			return l, err
		}
		read += len(some)
		g.progress("record", read, len(ids))
	}
	return l, nil
}

// appendListed adds the records of artifacts to a listing. A nil record has gone since it was listed.
func (g *collector) appendListed(ctx context.Context, l *listing, ids []symbol.ID, records []*catalog.Record) error {
	var loads []stored.Load // only entries name them
	for i, r := range records {
		if !r.HasGarbage() {
			l.stale = append(l.stale, ids[i])
		}
		if r == nil {
			continue
		}
		l.obsolete += int64(r.Obsolete())
		if r.IsLoadless() {
			l.empty++
		}
		if g.isDue(r) {
			l.due = append(l.due, r.ID)
		}
		for i, p := range r.Progress {
			is := func(l *row.Loaded) bool { return l != nil && l.Load == p.Load }
			again := slices.ContainsFunc(r.Progress[:i], func(o catalog.Progress) bool { return o.Load == p.Load })
			if !is(r.Published) && !is(r.Previous) && !again {
				loads = append(loads, stored.Load{Artifact: r.ID, ID: p.Load})
			}
		}
	}
	have, err := stored.HaveRows(ctx, g.Store.Blocks, loads)
	if err != nil {
		return err
	}
	for i, load := range loads {
		if have[i] {
			l.rows += sinks.Sum(row.LoadPrefix(load.Artifact, load.ID))
		}
	}
	return nil
}

// isDue reports whether a record has an entry that gc may remove, or holds no load.
func (g *collector) isDue(r *catalog.Record) bool {
	return r.IsLoadless() || slices.ContainsFunc(r.Progress, g.expired)
}

// nothingElse reports whether only listed records give gc work: records name the loads that have rows and no others, the rows
// are there, and names lead to the artifacts that have them. rows is the sum of the loads that entries alone name. While loads
// are in progress, and where counters n do not tell of rows, a pass over all records must be of late.
func (g *collector) nothingElse(ctx context.Context, n map[string]int64, rows int64, passed time.Time) (bool, error) {
	all, tells := n[sinks.CountStored]
	keeper, keeps := g.Store.Blocks.(sinks.Keeper)
	_, settles := g.Store.Catalog.(sinks.Settler)
	switch {
	case settles || tells && n[catalog.CountLoading] > 0:
		return passed.After(g.report.Started.Add(-passAge)) && !passed.After(g.report.Started), nil
	case !tells || !keeps || all != n[catalog.CountLoads]+rows || n[catalog.CountNames] != n[catalog.CountNamed]:
		return false, nil
	}
	return keeper.KeepsAll(ctx)
}

// discharge takes artifacts off the list that have no garbage any more.
func (g *collector) discharge(ctx context.Context, ids []symbol.ID) error {
	if g.DryRun {
		return nil
	}
	for some := range slices.Chunk(ids, listedPage) {
		records, err := g.cat.Artifacts.GetAll(ctx, some, nil)
		if err != nil {
			return err
		}
		var gone []symbol.ID
		for i, r := range records {
			if !r.HasGarbage() {
				gone = append(gone, some[i])
			}
		}
		if err := g.cat.Obligations.DischargeGarbage(ctx, gone); err != nil {
			return err
		}
		// A process may have found its artifact listed just before.
		if records, err = g.cat.Artifacts.GetAll(ctx, gone, nil); err != nil {
			return err
		}
		if err := g.relist(ctx, records); err != nil {
			return err
		}
	}
	return nil
}

// relist lists the artifacts of records with garbage.
func (g *collector) relist(ctx context.Context, records []*catalog.Record) error {
	var ids []symbol.ID
	for _, r := range records {
		if r.HasGarbage() {
			ids = append(ids, r.ID)
		}
	}
	return g.cat.Obligations.AddGarbage(ctx, ids)
}

// passed sets the list right, and notes that gc has read all records. garbage are the artifacts that had some. first is when
// the first lease of a load in progress ends, at most.
func (g *collector) passed(ctx context.Context, garbage []symbol.ID, first time.Time) error {
	if g.DryRun {
		return nil
	}
	if err := g.cat.Obligations.AddGarbage(ctx, garbage); err != nil {
		return err
	}
	ids, err := g.ids(ctx)
	if err == nil {
		err = g.discharge(ctx, ids)
	}
	if err != nil {
		return err
	}
	p := catalog.Pass{At: g.report.Started, Lease: first}
	if len(g.report.Damaged) > 0 {
		p.At = time.Time{} // the next gc tells it again
	}
	return g.cat.Obligations.SetPass(ctx, p)
}
