package catalog

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/symlake/symlake/formats/symbol"
	"github.com/symlake/symlake/sinks"
	"github.com/symlake/symlake/sinks/row"
)

// Ref is the target of a name: an artifact, or the URL of an object that is not loaded (pending,
// loading, rejected). Exactly one is set.
type Ref struct {
	Artifact symbol.ID
	Object   string
}

// Pair is a name and one of its targets, as the catalog lists them.
type Pair struct {
	Name string // "" if the target is an artifact: the artifact's record has the text
	Ref

	key []byte
}

// Names are the "n" records: one for each pair of a name and its target. Names match in any case.
//
// The record of an object's name is sealed and holds the texts. The record of an artifact's name is a mark: its key says it
// all. Earlier versions sealed a text for these, too, under a key with 16 zeros at its end. Readers know both.
type Names struct{ records }

func (n Names) tag(name string) []byte { return n.ring.Tag(row.RecordName, strings.ToLower(name)) }

// prefix begins the keys of a name.
func (n Names) prefix(name string) []byte { return append([]byte{row.RecordName}, n.tag(name)...) }

// oldNameKey is the key that earlier versions gave to a name of an artifact.
func oldNameKey(key []byte) []byte { return append(bytes.Clone(key), make([]byte, row.TagBytes)...) }

// nameKeyBytes is the length of the key of an artifact's name.
const nameKeyBytes = 1 + row.TagBytes + len(symbol.ID{})

// Add makes name lead to r, besides its other targets. Adding a pair again changes nothing.
func (n Names) Add(ctx context.Context, name string, r Ref) error {
	var err error
	if r.Object != "" {
		key := n.refKey(row.RecordName, n.tag(name), r.Artifact, r.Object)
		err = n.addRef(ctx, key, refForm{Name: name, Object: r.Object})
	} else {
		err = n.mark(ctx, n.nameKey(name, r.Artifact))
	}
	if err != nil {
		return fmt.Errorf("add name %q: %w", name, err)
	}
	return nil
}

// AddAll makes names lead to artifacts as Add does, in one request, and returns an error for each pair of a Name and its
// Artifact.
func (n Names) AddAll(ctx context.Context, pairs []Pair) []error {
	changes := make([]sinks.Change, 0, len(pairs))
	at := make(map[string]int, len(pairs)) // of changes, by key: a call changes no record twice
	which := make([]int, len(pairs))
	for i, p := range pairs {
		key := n.nameKey(p.Name, p.Artifact)
		c, is := at[string(key)]
		if !is {
			c = len(changes)
			at[string(key)] = c
			changes = append(changes, n.marking(key))
		}
		which[i] = c
	}
	swapped := n.store.SwapAll(ctx, changes)
	errs := make([]error, len(pairs))
	for i, p := range pairs {
		if err := swapped[which[i]]; err != nil && !errors.Is(err, sinks.ErrConflict) {
			errs[i] = fmt.Errorf("add name %q: %w", p.Name, err)
		}
	}
	return errs
}

// CountNames sums the keys of the names that lead to artifacts. It equals CountNamed if each leads to an artifact with that
// name, and back. Names in the form of earlier versions do not count.
const CountNames = "names"

// marking is the change that adds the mark of a key.
func (n Names) marking(key []byte) sinks.Change {
	return sinks.Change{Key: key, New: n.ring.Mark(key), Counts: []sinks.Count{countKey(CountNames, key)}, Same: true}
}

// mark adds a record that is a mark. It may be there already.
func (n Names) mark(ctx context.Context, key []byte) error {
	err := n.store.SwapAll(ctx, []sinks.Change{n.marking(key)})[0]
	if errors.Is(err, sinks.ErrConflict) {
		return nil
	}
	return err
}

// Remove undoes Add. An absent pair is no error.
func (n Names) Remove(ctx context.Context, name string, r Ref) error {
	key := n.nameKey(name, r.Artifact)
	if r.Object != "" {
		key = n.refKey(row.RecordName, n.tag(name), r.Artifact, r.Object)
	}
	if err := n.removeKey(ctx, key); err != nil {
		return fmt.Errorf("remove name %q: %w", name, err)
	}
	return nil
}

// removeKey removes a pair, in either form.
func (n Names) removeKey(ctx context.Context, key []byte) error {
	if len(key) != nameKeyBytes {
		return n.remove(ctx, key)
	}
	for {
		keys := [][]byte{key, oldNameKey(key)}
		values, err := n.store.GetAll(ctx, keys)
		if err != nil {
			return err
		}
		var changes []sinks.Change
		for i, value := range values {
			if value == nil {
				continue
			}
			ch := sinks.Change{Key: keys[i], Old: value}
			if i == 0 {
				c := countKey(CountNames, key)
				c.By = -c.By
				ch.Counts = []sinks.Count{c}
			}
			changes = append(changes, ch)
		}
		if len(changes) == 0 {
			return nil
		}
		if err := errors.Join(n.store.SwapAll(ctx, changes)...); !errors.Is(err, sinks.ErrConflict) {
			return err
		}
	}
}

// RemovePair removes a pair that Each emitted.
func (n Names) RemovePair(ctx context.Context, p Pair) error {
	if err := n.removeKey(ctx, p.key); err != nil {
		return fmt.Errorf("remove name %x: %w", p.key, err)
	}
	return nil
}

// RestorePair adds a pair again that led to an artifact and that RemovePair removed.
func (n Names) RestorePair(ctx context.Context, p Pair) error {
	if err := n.mark(ctx, p.key); err != nil {
		return fmt.Errorf("add name %x: %w", p.key, err)
	}
	return nil
}

// Find returns the targets of a name, at most limit of them (0: all): objects first, then artifacts
// by ID.
func (n Names) Find(ctx context.Context, name string, limit int) ([]Ref, error) {
	var refs []Ref
	err := n.each(ctx, sinks.Under(n.prefix(name)), func(p Pair) error {
		if refs = append(refs, p.Ref); len(refs) == limit {
			return errEnough
		}
		return nil
	})
	if err != nil && err != errEnough {
		return nil, fmt.Errorf("look up name %q: %w", name, err)
	}
	return refs, nil
}

// Artifacts returns the artifacts with a name, ascending by ID and beginning with from, at most limit of them.
func (n Names) Artifacts(ctx context.Context, name string, from symbol.ID, limit int) ([]symbol.ID, error) {
	if from == (symbol.ID{}) {
		from[len(from)-1] = 1 // below are the objects with the name
	}
	s := sinks.Under(n.prefix(name))
	s.From = n.nameKey(name, from)

	var ids []symbol.ID
	err := n.each(ctx, s, func(p Pair) error {
		if ids = append(ids, p.Artifact); len(ids) == limit {
			return errEnough
		}
		return nil
	})
	if err != nil && err != errEnough {
		return nil, fmt.Errorf("list the artifacts of name %q: %w", name, err)
	}
	return ids, nil
}

// Has reports whether name leads to that artifact.
func (n Names) Has(ctx context.Context, name string, id symbol.ID) (bool, error) {
	has, err := n.has(ctx, n.nameKey(name, id))
	if err != nil {
		return false, fmt.Errorf("look up name %q: %w", name, err)
	}
	return has, nil
}

// HasAll reports for each of names whether it leads to that artifact, in one request.
func (n Names) HasAll(ctx context.Context, names []symbol.Name, id symbol.ID) ([]bool, error) {
	keys := make([][]byte, 0, 2*len(names))
	for _, name := range names {
		key := n.nameKey(name.Text, id)
		keys = append(keys, key, oldNameKey(key))
	}
	values, err := n.store.GetAll(ctx, keys)
	if err != nil {
		return nil, fmt.Errorf("look up %d names of artifact %s: %w", len(names), id, err)
	}
	has := make([]bool, len(names))
	for i := range has {
		has[i] = values[2*i] != nil || values[2*i+1] != nil
	}
	return has, nil
}

// HasPair reports whether the catalog still has a pair that led to an artifact when Each emitted it.
func (n Names) HasPair(ctx context.Context, p Pair) (bool, error) {
	has, err := n.has(ctx, p.key)
	if err != nil {
		return false, fmt.Errorf("look up name %x: %w", p.key, err)
	}
	return has, nil
}

// has reports whether an artifact's name is there, in either form.
func (n Names) has(ctx context.Context, key []byte) (bool, error) {
	values, err := n.store.GetAll(ctx, [][]byte{key, oldNameKey(key)})
	if err != nil {
		return false, err
	}
	return values[0] != nil || values[1] != nil, nil
}

// Each emits every pair. The order means nothing.
func (n Names) Each(ctx context.Context, emit func(Pair) error) error {
	if err := n.each(ctx, sinks.Under([]byte{row.RecordName}), emit); err != nil {
		return fmt.Errorf("list names: %w", err)
	}
	return nil
}

// OfObjects emits the pairs with an object as target. The order means nothing.
func (n Names) OfObjects(ctx context.Context, emit func(name, url string) error) error {
	err := n.each(ctx, sinks.Under([]byte{row.RecordName}), func(p Pair) error {
		if p.Object == "" {
			return nil
		}
		return emit(p.Name, p.Object)
	})
	if err != nil {
		return fmt.Errorf("list names of objects: %w", err)
	}
	return nil
}

// each emits the pairs of a span in the order of their keys. A pair that is there in both forms comes once.
func (n Names) each(ctx context.Context, s sinks.Span, emit func(Pair) error) error {
	var last []byte // the key of the last artifact's name, in the form of today
	return n.store.List(ctx, s, func(rec sinks.Row) error {
		p, err := n.pair(ctx, rec)
		if err != nil {
			return err
		}
		if p.Object == "" {
			if bytes.Equal(p.key, last) {
				return nil
			}
			last = p.key
		}
		return emit(p)
	})
}

// pair opens a record.
func (n Names) pair(ctx context.Context, rec sinks.Row) (Pair, error) {
	if len(rec.Key) != nameKeyBytes {
		f, id, err := n.ref(ctx, rec)
		key := rec.Key
		if f.Object == "" {
			key = rec.Key[:min(nameKeyBytes, len(rec.Key))]
		}
		return Pair{f.Name, Ref{id, f.Object}, key}, err
	}
	if err := n.ring.CheckMark(ctx, rec.Key, rec.Value); err != nil {
		return Pair{}, fmt.Errorf("record %x: %w", rec.Key, err)
	}
	return Pair{Ref: Ref{Artifact: symbol.ID(rec.Key[1+row.TagBytes:])}, key: rec.Key}, nil
}
