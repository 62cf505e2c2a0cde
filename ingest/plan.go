package ingest

import (
	"cmp"
	"container/heap"
	"context"
	"slices"
	"time"

	"github.com/symlake/symlake/ingest/discover"
	"github.com/symlake/symlake/sinks/catalog"
)

// Planned is an object that a run would take.
type Planned struct {
	URL      string              `json:"url"`
	Size     int64               `json:"size"`
	ETag     string              `json:"etag"`
	Modified time.Time           `json:"modified,omitzero"`
	State    catalog.ObjectState `json:"state"` // pending: never opened
	Attempts int                 `json:"attempts,omitempty"`
	Reason   string              `json:"reason,omitempty"` // of the last attempt
}

// planned is a heap, the smallest first.
type planned []Planned

func (p planned) Len() int           { return len(p) }
func (p planned) Less(a, b int) bool { return comparePlanned(p[a], p[b]) > 0 }
func (p planned) Swap(a, b int)      { p[a], p[b] = p[b], p[a] }
func (p *planned) Push(x any)        { *p = append(*p, x.(Planned)) }
func (p *planned) Pop() any {
	old := *p
	x := old[len(old)-1]
	*p = old[:len(old)-1]
	return x
}

func comparePlanned(a, b Planned) int {
	return cmp.Or(cmp.Compare(b.Size, a.Size), cmp.Compare(a.URL, b.URL))
}

// Plan lists what a run over srcs would take, big objects first, at most limit of them, and says how many more
// there are. It writes nothing.
func Plan(ctx context.Context, srcs []discover.Source, o Options, limit int) (list []Planned, more int, err error) {
	o.DryRun = true
	j := newJob(o)
	if err := j.open(srcs); err != nil {
		return nil, 0, err
	}
	if err := j.crew.Look(ctx); err != nil {
		return nil, 0, err
	}
	var top planned
	total := 0
	for _, s := range j.sources {
		err := j.lister.List(ctx, s, func(_ context.Context, r *discover.Round) error {
			for _, t := range append(r.Tasks, r.Suspects...) {
				p := Planned{URL: t.URL, Size: t.Entry.Size, ETag: t.Entry.ETag, Modified: t.Entry.Modified, State: catalog.ObjectPending}
				if t.Ledger != nil {
					p.State, p.Attempts, p.Reason = t.Ledger.State, t.Ledger.Attempts, t.Ledger.Reason
				}
				total++
				heap.Push(&top, p)
				if len(top) > limit {
					heap.Pop(&top)
				}
			}
			return nil
		})
		if err != nil {
			return nil, 0, err
		}
	}
	slices.SortFunc(top, comparePlanned)
	return top, total - len(top), nil
}
