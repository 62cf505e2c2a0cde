package ingest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/symlake/symlake/formats/symbol"
	"github.com/symlake/symlake/sinks"
	"github.com/symlake/symlake/sinks/row"
)

// A conflict is a durable record: see row.Conflict. An ingest finds it and tells it; a person
// settles it by Accept or Dismiss. A forced ingest does not.

// Conflict is a conflict as reports and listings tell it.
type Conflict struct {
	Artifact string     `json:"artifact"`
	Kept     row.Origin `json:"kept"`     // what stays published, with its owner
	KeptOut  row.Origin `json:"kept_out"` // what may not replace it
	At       time.Time  `json:"at"`
	Accepted bool       `json:"accepted,omitempty"` // the next ingest of its source loads it
}

// NewConflict is c as it is told.
func NewConflict(c *row.Conflict) Conflict {
	return Conflict{Artifact: c.Artifact.String(), Kept: c.Kept, KeptOut: c.KeptOut, At: c.At, Accepted: !c.Accepted.IsZero()}
}

// ErrNoConflict says that an object has no conflict to settle.
var ErrNoConflict = errors.New("it has no conflict")

// keepOut notes that l may not replace what rec publishes: in the audit, then as a record, then in
// the object's outcome.
func (x *object) keepOut(ctx context.Context, rec *row.Record, l *row.Loaded) error {
	j := x.j
	c := row.NewConflict(rec.ID, rec.Published, l, j.o.Now())
	for !j.o.DryRun {
		old, err := j.cat.Conflict(ctx, rec.ID, x.t.url, l.Source.Member)
		if err != nil {
			return environment(err)
		}
		if c.Tells(old) {
			c = old
			break
		}
		if old != nil {
			c.At = old.At
		}
		if old == nil || old.KeptOut != c.KeptOut {
			err = j.cat.Audit(ctx, row.Event{At: j.o.Now(), Who: j.o.Owner, What: "conflict", Detail: c.String()})
		}
		if err == nil {
			err = j.cat.SwapConflict(ctx, old, c)
		}
		if err == nil {
			break
		}
		if !errors.Is(err, sinks.ErrConflict) {
			return environment(err)
		}
	}
	x.mu.Lock()
	x.conflicts = append(x.conflicts, c)
	x.mu.Unlock()
	p := c.Kept
	x.noteArtifact(row.ObjectArtifact{ID: rec.ID, Member: l.Source.Member, Outcome: outcomeConflict,
		Error: fmt.Sprintf("conflict: artifact %s belongs to owner %q of rank %d, by %s; objects --accept settles it", rec.ID, p.Owner, p.Rank, join(p.URL, p.Member))})
	return nil
}

// settleConflicts removes the conflicts of earlier attempts that the object has no longer, before
// the ledger says what became of it. An attempt that failed removes none.
func (x *object) settleConflicts(ctx context.Context, o *row.Object) error {
	if x.t.was == nil || o.State == row.ObjectFailed || o.State == row.ObjectPending || undisputed(x.t.was) {
		return nil
	}
	return eachConflict(ctx, x.j.cat, o.URL, func(c *row.Conflict) error {
		if slices.ContainsFunc(x.conflicts, func(k *row.Conflict) bool { return k.Artifact == c.Artifact && k.KeptOut.Member == c.KeptOut.Member }) {
			return nil
		}
		return removeConflict(ctx, x.j.cat, c)
	})
}

// undisputed reports whether an entry says that its object has no conflict: the entry is that of an
// attempt that ended, and names all artifacts.
func undisputed(o *row.Object) bool {
	switch o.State {
	case row.ObjectLoaded, row.ObjectKept, row.ObjectSkipped, row.ObjectRejected:
		return len(o.Artifacts) < maxNoted && !slices.ContainsFunc(o.Artifacts, func(a row.ObjectArtifact) bool { return a.Outcome == outcomeConflict })
	}
	return false
}

// eachConflict reads the conflicts of an object, then calls f for each: a listing holds up the store.
func eachConflict(ctx context.Context, c *row.Catalog, url string, f func(*row.Conflict) error) error {
	var list []*row.Conflict
	err := c.Conflicts(ctx, url, func(x *row.Conflict) error {
		list = append(list, x)
		return nil
	})
	for _, x := range list {
		if err == nil {
			err = f(x)
		}
	}
	return err
}

// removeConflict removes a conflict; a conflict that is gone or has changed stays as it is.
func removeConflict(ctx context.Context, c *row.Catalog, x *row.Conflict) error {
	err := c.SwapConflict(ctx, x, nil)
	if errors.Is(err, sinks.ErrConflict) {
		return nil
	}
	return err
}

// disputed reports whether the ledger knows of a conflict about an artifact of t's object.
func (t *task) disputed(id symbol.ID, member string) bool {
	return t.old != nil && slices.ContainsFunc(t.old.Artifacts, func(a row.ObjectArtifact) bool {
		return a.ID == id && a.Member == member && a.Outcome == outcomeConflict
	})
}

// conflict adds conflicts to a report that it does not name yet.
func (r *Report) conflict(list ...Conflict) {
	for _, told := range list {
		if slices.ContainsFunc(r.Conflicts, func(o Conflict) bool {
			return o.Artifact == told.Artifact && o.KeptOut.URL == told.KeptOut.URL && o.KeptOut.Member == told.KeptOut.Member
		}) {
			continue
		}
		r.Conflicted++
		if len(r.Conflicts) < maxTold {
			r.Conflicts = append(r.Conflicts, told)
		}
	}
}

// stateOf is the state of an object whose artifacts are settled.
func stateOf(list []row.ObjectArtifact) row.ObjectState {
	has := func(outcome string) bool {
		return slices.ContainsFunc(list, func(a row.ObjectArtifact) bool { return a.Outcome == outcome })
	}
	switch {
	case has(outcomeLoaded):
		return row.ObjectLoaded
	case has(outcomeConflict):
		return row.ObjectConflict
	}
	return row.ObjectKept
}

// Accept decides the conflicts of an object in its favor, and puts it back as pending: the next
// ingest of its source publishes it in place of what kept it out, as long as its content is the one
// that the conflicts tell of. note hears of each conflict before it is changed.
func Accept(ctx context.Context, c *row.Catalog, url string, now time.Time, note func(*row.Conflict) error) error {
	old, err := c.Object(ctx, url)
	if err != nil {
		return err
	}
	found := 0
	err = eachConflict(ctx, c, url, func(x *row.Conflict) error {
		found++
		rec, err := c.Artifact(ctx, x.Artifact)
		if err != nil {
			return err
		}
		switch {
		case old == nil || old.State == row.ObjectGone:
			return fmt.Errorf("accept %s: the object is gone from its source: dismiss the conflict", url)
		case old.State == row.ObjectLoading || old.State == row.ObjectPublished:
			return fmt.Errorf("accept %s: an ingest has it open: try again when that has ended", url)
		case rec == nil || rec.State.Removed():
			return fmt.Errorf("accept %s: artifact %s was removed: ingest --force brings it back", url, x.Artifact)
		}
		next := *x
		next.Accepted = now
		if err := note(&next); err != nil {
			return err
		}
		return c.SwapConflict(ctx, x, &next)
	})
	if err != nil {
		return err
	}
	if found == 0 {
		return fmt.Errorf("object %s: %w", url, ErrNoConflict)
	}
	next := *old
	next.State, next.Reason, next.Attempts = row.ObjectPending, "", 0
	if err := renameObject(ctx, c, named(old), &next); err != nil {
		return err
	}
	return c.SwapObject(ctx, old, &next)
}

// accepted reports whether a conflict of an object is accepted: [Accept] may have died before it put
// the object back as pending.
func (j *job) accepted(ctx context.Context, o *row.Object) (is bool, err error) {
	err = j.cat.Conflicts(ctx, o.URL, func(c *row.Conflict) error {
		is = is || !c.Accepted.IsZero()
		return nil
	})
	return is, err
}

// Dismiss ends the conflicts of an object: what is published stays, and the object counts as kept
// until it changes. note hears of each conflict before it is removed.
func Dismiss(ctx context.Context, c *row.Catalog, url string, note func(*row.Conflict) error) error {
	found := 0
	err := eachConflict(ctx, c, url, func(x *row.Conflict) error {
		found++
		if err := note(x); err != nil {
			return err
		}
		if err := turn(ctx, c, x.KeptOut.Source, x.Artifact, outcomeConflict, outcomeKept); err != nil {
			return err
		}
		return removeConflict(ctx, c, x)
	})
	if err == nil && found == 0 {
		err = fmt.Errorf("object %s: %w", url, ErrNoConflict)
	}
	return err
}
