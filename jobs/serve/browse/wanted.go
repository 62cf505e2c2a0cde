package browse

import (
	"cmp"
	"container/heap"
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/symlake/symlake/ingest/wanted"
	"github.com/symlake/symlake/jobs/wire"
	"github.com/symlake/symlake/sinks/catalog"
)

// WantedQuery says which wanted names a page has.
type WantedQuery struct {
	Text  string // in the name or its file, in any case; "": any
	From  string // Next of the page before
	Limit int
}

// maxNear ends the count of the other builds of a file.
const maxNear = 16

// ErrCursor says that a page cannot begin where its query says.
var ErrCursor = errors.New("want next of the page before")

// Wanted emits the names that stacks asked for in vain, most often asked for first, then latest first. The table of the
// store is bounded; a page reads all of it and keeps what it emits.
func Wanted(ctx context.Context, c *catalog.Catalog, q WantedQuery, emit func(*wire.Wanted) error) (End, error) {
	var end End
	before, err := parseWanted(q.From)
	if err != nil {
		return end, err
	}
	text, key := strings.ToLower(q.Text), wanted.Key(q.Text)
	var kept wantedHeap // the last of them on top
	err = c.Demand.EachWanted(ctx, func(w *catalog.Wanted) error {
		end.Passed++
		if before != nil && compareWanted(w, before) < 0 {
			return nil
		}
		if name := strings.ToLower(w.Name); text != "" && !strings.Contains(name, text) && !strings.Contains(name, key) && !strings.Contains(strings.ToLower(w.File), text) {
			return nil
		}
		if heap.Push(&kept, w); len(kept) > q.Limit+1 {
			heap.Pop(&kept)
		}
		return nil
	})
	if err != nil {
		return end, err
	}
	slices.SortFunc(kept, compareWanted)
	if len(kept) > q.Limit {
		end.Next = wantedCursor(kept[q.Limit])
		kept = kept[:q.Limit]
	}
	for _, w := range kept {
		out := wire.NewWanted(w)
		if out.Near, err = near(ctx, c, w); err != nil {
			return end, err
		}
		if err := emit(&out); err != nil {
			return end, err
		}
	}
	return end, nil
}

// compareWanted orders names by demand.
func compareWanted(a, b *catalog.Wanted) int {
	return cmp.Or(cmp.Compare(b.Asked, a.Asked), cmp.Compare(b.Last.UnixMilli(), a.Last.UnixMilli()), cmp.Compare(a.Name, b.Name))
}

// wantedHeap has the name on top that a page drops first.
type wantedHeap []*catalog.Wanted

func (h wantedHeap) Len() int           { return len(h) }
func (h wantedHeap) Less(i, j int) bool { return compareWanted(h[i], h[j]) > 0 }
func (h wantedHeap) Swap(i, j int)      { h[i], h[j] = h[j], h[i] }

// Push adds a *catalog.Wanted.
func (h *wantedHeap) Push(x any) { *h = append(*h, x.(*catalog.Wanted)) }

// Pop removes the last element.
func (h *wantedHeap) Pop() any {
	old := *h
	last := old[len(old)-1]
	*h = old[:len(old)-1]
	return last
}

// wantedCursor is ASKED.MILLISECONDS.NAME.
func wantedCursor(w *catalog.Wanted) string {
	return fmt.Sprintf("%d.%d.%s", w.Asked, w.Last.UnixMilli(), w.Name)
}

// parseWanted reads what wantedCursor wrote; nil of "".
func parseWanted(cursor string) (*catalog.Wanted, error) {
	if cursor == "" {
		return nil, nil
	}
	parts := strings.SplitN(cursor, ".", 3)
	if len(parts) < 3 {
		return nil, ErrCursor
	}
	asked, err1 := strconv.ParseUint(parts[0], 10, 64)
	last, err2 := strconv.ParseUint(parts[1], 10, 63)
	if err1 != nil || err2 != nil || parts[2] == "" {
		return nil, ErrCursor
	}
	return &catalog.Wanted{Name: parts[2], Asked: asked, Last: time.UnixMilli(int64(last))}, nil
}

// near says what the store knows of a name's file, and of objects with the name; nil: nothing.
func near(ctx context.Context, c *catalog.Catalog, w *catalog.Wanted) (*wire.Near, error) {
	n := &wire.Near{}
	file := w.File[strings.LastIndexAny(w.File, `/\`)+1:]
	for _, name := range []string{w.Name, file} {
		if name == "" {
			continue
		}
		refs, err := c.Names.Find(ctx, name, maxNear)
		if err != nil {
			return nil, err
		}
		for _, r := range refs {
			if r.Object == "" {
				n.Artifacts++
			} else if n.Object == "" {
				o, err := c.Ledger.Get(ctx, r.Object)
				if err != nil {
					return nil, err
				}
				if o != nil {
					n.Object, n.State, n.Reason = o.URL, string(o.State), o.Reason
				}
			}
		}
	}
	if *n == (wire.Near{}) {
		return nil, nil
	}
	n.Artifacts = min(n.Artifacts, maxNear)
	return n, nil
}
