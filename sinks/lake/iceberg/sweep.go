package iceberg

import (
	"context"
	"maps"
	"path"
	"slices"

	"github.com/symlake/symlake/sinks/bucket"
)

// A reader needs the lists and manifests of its state while it plans a query; data files and deletes stay for the grace. A commit
// writes some 5 KB of them, so those of 1,000 commits within the grace take 18 MB in four tables, where the whole metadata of a lake
// may take 5 MB. So they stay for the grace as far as they take keepBytes, which is some 90 commits of a table, and for the newest
// keepStates states anyhow.
const (
	keepStates = 32
	keepBytes  = 384 << 10
)

// sweep deletes lists and manifests of older states once in keepStates commits, but for what a snapshot of the history names. So
// they take few bytes, however many commits come within the grace. all are the snapshots of the table after a commit, and
// sequence is the commit's. What sweep leaves after a fault the next one deletes, or Clean.
//
// The states that name a manifest are neighbors. So if one of the newest states names it, the first of these names it too, or
// the manifest is younger.
func (t *Tables) sweep(ctx context.Context, s *shape, all []snapshot, sequence int64) error {
	floor := sequence - keepStates
	if floor <= 0 || sequence%keepStates != 0 {
		return nil
	}
	folder := t.folder(s.table.Name) + "metadata/"
	type file struct {
		key, kind string
		sequence  int64
	}
	var files []file
	bytes := map[int64]int64{}
	err := t.o.Bucket.List(ctx, folder+ownPrefix, "", func(e bucket.Entry) error {
		if kind, n, ok := sequenceOf(path.Base(e.Key)); ok {
			files = append(files, file{e.Key, kind, n})
			bytes[n] += e.Size
		}
		return nil
	})
	if err != nil {
		return err
	}
	floor = floorOf(bytes, floor)
	var old []string
	first, firsts := int64(0), []string(nil) // lists of the first of the newest states, and of attempts that failed
	for _, f := range files {
		switch {
		case f.sequence > floor:
			continue
		case f.kind != listKind || f.sequence < first:
		case f.sequence > first:
			first, firsts = f.sequence, []string{t.location(f.key)}
		default:
			firsts = append(firsts, t.location(f.key))
		}
		old = append(old, f.key)
	}
	if first == 0 {
		return nil
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

// floorOf returns up to which commit lists and manifests go: up to floor, or an older one, so that those of later commits take
// keepBytes at most. bytes are their sizes by commit. 0: all stay.
func floorOf(bytes map[int64]int64, floor int64) int64 {
	total := int64(0)
	for _, n := range slices.Backward(slices.Sorted(maps.Keys(bytes))) {
		if total += bytes[n]; n <= floor && total > keepBytes {
			return n
		}
	}
	return 0
}
