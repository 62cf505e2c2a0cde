package iceberg

import (
	"context"
	"path"

	"github.com/symlake/symlake/sinks/bucket"
)

// keepStates is how many of a table's newest states have their lists and manifests. A reader needs them while it plans a query;
// data files and deletes stay for the grace.
const keepStates = 32

// sweep deletes lists and manifests that neither the newest keepStates states of a table name nor a snapshot of its history, once
// in so many commits. So there are few of them, however many commits come within the grace. all are the snapshots of the
// table after a commit, and sequence is the commit's. What sweep leaves after a fault the next one deletes, or Clean.
//
// The states that name a manifest are neighbors. So if one of the newest states names it, the first of these names it too, or
// the manifest is younger.
func (t *Tables) sweep(ctx context.Context, s *shape, all []snapshot, sequence int64) error {
	floor := sequence - keepStates
	if floor <= 0 || sequence%keepStates != 0 {
		return nil
	}
	folder := t.folder(s.table.Name) + "metadata/"
	var old []string
	first, firsts := int64(0), []string(nil) // lists of the first of the newest states, and of attempts that failed
	err := t.o.Bucket.List(ctx, folder+ownPrefix, "", func(e bucket.Entry) error {
		kind, n, ok := sequenceOf(path.Base(e.Key))
		if !ok || n > floor {
			return nil
		}
		old = append(old, e.Key)
		switch {
		case kind != listKind || n < first:
		case n > first:
			first, firsts = n, []string{t.location(e.Key)}
		default:
			firsts = append(firsts, t.location(e.Key))
		}
		return nil
	})
	if err != nil || first == 0 {
		return err
	}
	named := map[string]bool{}
	for i := range all {
		if !own(&all[i]) {
			return nil // nothing is known of its files
		}
		if all[i].Sequence <= floor {
			firsts = append(firsts, all[i].List)
		}
	}
	for _, list := range firsts {
		manifests, err := t.listed(ctx, &snapshot{List: list})
		if err != nil {
			return err
		}
		named[list] = true
		for _, m := range manifests {
			named[m.Path] = true
		}
	}
	var drop []string
	for _, key := range old {
		if !named[t.location(key)] {
			drop = append(drop, key)
		}
	}
	if len(drop) == 0 {
		return nil
	}
	return t.o.Bucket.Delete(ctx, drop)
}
