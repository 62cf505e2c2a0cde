package catalog

import (
	"context"
	"errors"
	"fmt"

	"github.com/symlake/symlake/formats/symbol"
	"github.com/symlake/symlake/sinks"
	"github.com/symlake/symlake/sinks/row"
)

// Waiter is an artifact that lacks a companion, and the object that brought the artifact.
type Waiter struct {
	Artifact symbol.ID
	Object   string
	// InVain names the state of the companion that Object was read beside without use: see
	// [Waiters.MarkInVain]. "": Object was read before the companion came.
	InVain string
}

// Waiters are the "w" records: one for each waiter and companion. A companion is named as in
// symbol.Quality.Missing: "dwo:NAME", "dwz:BUILD-ID".
type Waiters struct{ records }

func (w Waiters) key(companion string, x Waiter) []byte {
	return w.refKey(row.RecordWaiter, w.ring.Tag(row.RecordWaiter, companion), x.Artifact, x.Object)
}

// Add notes that x lacks a companion. Adding it again changes nothing.
func (w Waiters) Add(ctx context.Context, companion string, x Waiter) error {
	f := refForm{Name: companion, Artifact: idText(x.Artifact), Object: x.Object, InVain: x.InVain}
	if err := w.addRef(ctx, w.key(companion, x), f); err != nil {
		return fmt.Errorf("add waiter for %q: %w", companion, err)
	}
	return nil
}

// AddAll adds waiters as Add does, in one request, and returns an error for each. companions[i] is the companion that
// list[i] lacks.
func (w Waiters) AddAll(ctx context.Context, companions []string, list []Waiter) []error {
	errs := make([]error, len(list))
	changes := make([]sinks.Change, len(list))
	for i, x := range list {
		key := w.key(companions[i], x)
		plain, err := plainOf(&refForm{Name: companions[i], Artifact: idText(x.Artifact), Object: x.Object, InVain: x.InVain})
		if err != nil { // no form of ours fails
			errs[i] = err
			return errs
		}
		changes[i] = sinks.Change{Key: key, New: w.ring.SealRecord(key, plain)}
	}
	for i, err := range w.store.SwapAll(ctx, changes) {
		if err != nil && !errors.Is(err, sinks.ErrConflict) {
			errs[i] = fmt.Errorf("add waiter for %q: %w", companions[i], err)
		}
	}
	return errs
}

// MarkInVain notes that x's object was read beside the companion in that state, and lacks it all the
// same. It leaves a waiter alone that is gone, or that another process changed.
func (w Waiters) MarkInVain(ctx context.Context, companion string, x Waiter, state string) error {
	key := w.key(companion, x)
	old, err := w.store.Get(ctx, key)
	if err == nil && old != nil {
		_, err = w.replace(ctx, key, old, &refForm{Name: companion, Artifact: idText(x.Artifact), Object: x.Object, InVain: state})
	}
	if err != nil && !errors.Is(err, sinks.ErrConflict) {
		return fmt.Errorf("note that %s waits for %q in vain: %w", x.Object, companion, err)
	}
	return nil
}

// For returns the waiters that lack a companion, by artifact.
func (w Waiters) For(ctx context.Context, companion string) ([]Waiter, error) {
	var all []Waiter
	prefix := append([]byte{row.RecordWaiter}, w.ring.Tag(row.RecordWaiter, companion)...)
	err := w.eachRef(ctx, prefix, 0, func(f refForm, id symbol.ID) error {
		all = append(all, Waiter{id, f.Object, f.InVain})
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("look up waiters for %q: %w", companion, err)
	}
	return all, nil
}

// Each emits every waiter with the companion that it lacks. The order means nothing.
func (w Waiters) Each(ctx context.Context, emit func(companion string, x Waiter) error) error {
	err := w.eachRef(ctx, []byte{row.RecordWaiter}, 0, func(f refForm, id symbol.ID) error {
		return emit(f.Name, Waiter{id, f.Object, f.InVain})
	})
	if err != nil {
		return fmt.Errorf("list waiters: %w", err)
	}
	return nil
}

// Remove undoes Add. An absent waiter is no error.
func (w Waiters) Remove(ctx context.Context, companion string, x Waiter) error {
	if err := w.remove(ctx, w.key(companion, x)); err != nil {
		return fmt.Errorf("remove waiter for %q: %w", companion, err)
	}
	return nil
}
