package browse

import (
	"context"
	"strings"

	"github.com/symlake/symlake/ingest/ledger"
	"github.com/symlake/symlake/ingest/report"
	"github.com/symlake/symlake/jobs/wire"
	"github.com/symlake/symlake/sinks/catalog"
)

// ObjectQuery says which objects a page has.
type ObjectQuery struct {
	Prefix string // of their URLs
	From   string // URL that the page begins with
	Until  string // last URL; "": no bound
	State  catalog.ObjectState
	Run    string // that touched them last; "": any
	Limit  int
}

// maxMembers bounds the members of all objects of a page: one object may have 10,000.
const maxMembers = 20_000

// Objects emits entries of the ledger in the order of their URLs, each with its open conflicts. The state conflict also
// finds an object if one of its artifacts is in conflict.
func Objects(ctx context.Context, c *catalog.Catalog, q ObjectQuery, emit func(*wire.Object) error) (End, error) {
	var end End
	var page []*catalog.Object
	members := 0
	err := c.Ledger.From(ctx, max(q.From, q.Prefix), func(o *catalog.Object) error {
		if !strings.HasPrefix(o.URL, q.Prefix) || q.Until != "" && o.URL > q.Until {
			return errFull
		}
		if len(page) >= q.Limit || end.Passed >= MaxPassed || members >= maxMembers {
			end.Next = o.URL
			return errFull
		}
		end.Passed++
		if (q.Run == "" || o.Run == q.Run) && q.wants(o) {
			page = append(page, o)
			members += len(o.Artifacts)
		}
		return nil
	})
	if err = ended(err); err != nil {
		return end, err
	}
	for _, o := range page {
		out := wire.NewObject(o)
		if !ledger.Undisputed(o) {
			err := c.Conflicts.Each(ctx, o.URL, func(x *catalog.Conflict) error {
				out.Conflicts = append(out.Conflicts, report.NewConflict(x))
				return nil
			})
			if err != nil {
				return end, err
			}
		}
		if err := emit(&out); err != nil {
			return end, err
		}
	}
	return end, nil
}

// wants reports whether the query wants objects in the state of o.
func (q *ObjectQuery) wants(o *catalog.Object) bool {
	if q.State == "" || o.State == q.State {
		return true
	}
	if q.State != catalog.ObjectConflict {
		return false
	}
	for _, a := range o.Artifacts {
		if a.Outcome == ledger.OutcomeConflict {
			return true
		}
	}
	return false
}
