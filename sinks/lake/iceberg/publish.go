package iceberg

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/symlake/symlake/sinks/internal/icemeta"
)

// Open names the tables, and reads nothing.
func Open(o Options) (*Tables, error) {
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Grace == 0 {
		o.Grace = 24 * time.Hour
	}
	t := &Tables{o: o, at: icemeta.Location(o.Bucket.URL(""))}
	for _, table := range o.Tables {
		t.shapes = append(t.shapes, newShape(table))
	}
	if o.Catalog.URL == "" {
		t.catalog = &files{b: o.Bucket, put: t.create, folder: t.folder, now: o.Now}
		return t, nil
	}
	r, err := newREST(o.Catalog)
	if err != nil {
		return nil, err
	}
	t.catalog = r
	return t, nil
}

// Result tells of a table after Publish.
type Result struct {
	Table    string
	Log      uint64 // number of the log that it stands at; 0: none
	Snapshot int64  // its newest snapshot; 0: none
	Changed  bool   // Publish committed to it, or would have
	Err      error  // why it is behind; nil: it is not

	shows bool // the snapshot is what Publish was given
}

// maxTries bounds how often another writer may be faster.
const maxTries = 20

// Publish makes the tables hold what st says. A table that cannot be changed does not hold up the others: its result has the
// error. With dry it changes nothing, and tells which tables would change. An error says that the bucket fails.
func (t *Tables) Publish(ctx context.Context, st *State, dry bool) ([]Result, error) {
	was, err := t.shown(ctx, st.Lake)
	if err != nil {
		return nil, err
	}
	all := make([]Result, len(t.shapes))
	var group sync.WaitGroup
	for i, s := range t.shapes {
		group.Go(func() { all[i] = t.publish(ctx, s, st, was.Tables[s.table.Name], dry) })
	}
	group.Wait()
	if dry || st.Sealed {
		return all, nil
	}
	facts := map[string]fact{}
	for i := range all {
		if r := &all[i]; r.shows {
			facts[r.Table] = fact{r.Snapshot, st.Log, st.Mark}
		}
	}
	return all, t.note(ctx, was, facts)
}

func (t *Tables) publish(ctx context.Context, s *shape, st *State, from fact, dry bool) (r Result) {
	r.Table = s.table.Name
	fail := func(err error) Result {
		r.Err = fmt.Errorf("iceberg table %s in %s: %w", r.Table, t.catalog.name(), err)
		return r
	}
	var mine int64 // the snapshot of a commit without an answer
	var lost error
	var missing int64 // a snapshot that lacks a file
	for range maxTries {
		base, err := t.catalog.load(ctx, s.table.Name)
		if err != nil {
			return fail(err)
		}
		if base == nil {
			r.Changed = !st.Sealed
			if st.Sealed || dry {
				return r
			}
			if err := t.begin(ctx, s); err != nil && !errors.Is(err, errChanged) {
				return fail(err)
			}
			continue
		}
		r.stand(base.metadata)
		if err := t.check(s, base); err != nil {
			return fail(err)
		}
		if mine != 0 && r.Snapshot == mine {
			r.shows = true
			return r
		}
		if newer(base.Head(), st) {
			return r
		}
		next, keys, err := t.prepare(ctx, s, base, st, from, dry)
		if errors.Is(err, errMissing) && missing != r.Snapshot {
			missing = r.Snapshot // another publisher may have gone on, and deleted it
			continue
		}
		if err == nil && next != nil && !dry {
			if err = t.catalog.commit(ctx, s.table.Name, base, next); errors.Is(err, errUnclear) {
				if lost != nil {
					return fail(err)
				}
				mine, lost, err = next.id(), err, errChanged
			} else if err == nil {
				r.Log, r.Changed, r.shows = st.Log, true, true
				r.Snapshot = t.committed(ctx, s, base, next, r.Snapshot)
				return r
			}
		}
		switch {
		case errors.Is(err, errChanged):
			if mine == 0 {
				t.o.Bucket.Delete(context.WithoutCancel(ctx), keys) // what stays is deleted by Clean
			}
			if err := context.Cause(ctx); err != nil {
				return fail(err)
			}
			continue
		case err != nil:
			return fail(err)
		}
		r.Changed, r.shows = r.Changed || next != nil, true
		return r
	}
	return fail(fmt.Errorf("%w: others were faster %d times", errChanged, maxTries))
}

// committed returns the newest snapshot after a commit, was before it, and deletes metadata that nobody needs. What stays after
// a fault is deleted later: the table is published.
func (t *Tables) committed(ctx context.Context, s *shape, base *standing, c *change, was int64) int64 {
	if c.snapshot == nil {
		return was
	}
	_ = t.sweep(ctx, s, append(slices.Clone(base.Snapshots), *c.snapshot), c.snapshot.Sequence)
	return c.snapshot.ID
}

func (c *change) id() int64 {
	if c.snapshot == nil {
		return 0
	}
	return c.snapshot.ID
}

// stand notes where a table stands.
func (r *Result) stand(m *metadata) {
	if s := m.Head(); s != nil {
		r.Snapshot = s.ID
		r.Log, _ = strconv.ParseUint(s.Summary[logSummary], 10, 64)
	}
}

// newer reports whether a snapshot shows a later state of the lake than st.
func newer(s *snapshot, st *State) bool {
	if s == nil || s.Summary[lakeSummary] != st.Lake {
		return false
	}
	n, err := strconv.ParseUint(s.Summary[logSummary], 10, 64)
	return err == nil && n > st.Log
}

// begin makes a table.
func (t *Tables) begin(ctx context.Context, s *shape) error {
	m, err := s.empty(strings.TrimSuffix(t.location(t.folder(s.table.Name)), "/"), t.o.Now())
	if err != nil {
		return err
	}
	return t.catalog.create(ctx, s, m)
}

// check reports what keeps the table from being changed.
func (t *Tables) check(s *shape, base *standing) error {
	if base.Properties[versionProperty] != version {
		return fmt.Errorf("%w: symlake did not make it: it has no property %s=%s. Drop it, or name another place for symlake's tables", ErrForeign, versionProperty, version)
	}
	if c := base.Head(); c != nil && !own(c) {
		return fmt.Errorf("%w: its newest snapshot %d (%s of %s) is none of symlake's. Roll the table back to a snapshot with %s, or drop it, and run symlake lake publish",
			ErrForeign, c.ID, c.Summary["operation"], time.UnixMilli(c.Made).UTC().Format(time.RFC3339), logSummary)
	}
	if base.DefaultSpec != 0 {
		return fmt.Errorf("%w: its partition spec is %d, not symlake's", ErrForeign, base.DefaultSpec)
	}
	if place := strings.TrimSuffix(base.Location, "/"); place+"/" != t.location(t.folder(s.table.Name)) && !t.catalog.moves() {
		return fmt.Errorf("%w: it is at %s, so it belongs to another lake. Give each lake a namespace of its own (lake.catalog_namespace)", ErrForeign, place)
	}
	now, err := schemaNow(base.metadata)
	if err != nil {
		return err
	}
	ids := now.ids()
	for _, f := range s.schema.Fields {
		if id, ok := ids[f.Name]; ok && id != f.ID {
			return fmt.Errorf("%w: its column %s has the id %d, and %d in the files", ErrForeign, f.Name, id, f.ID)
		}
	}
	return nil
}
