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

// Names are the "n" records: one for each pair of a name and its target. Names match in any case.
type Names struct{ records }

func (n Names) tag(name string) []byte { return n.ring.Tag(row.RecordName, strings.ToLower(name)) }

// Add makes name lead to r, besides its other targets. Adding a pair again changes nothing.
func (n Names) Add(ctx context.Context, name string, r Ref) error {
	key := n.refKey(row.RecordName, n.tag(name), r.Artifact, r.Object)
	if err := n.addRef(ctx, key, refForm{Name: name, Artifact: idText(r.Artifact), Object: r.Object}); err != nil {
		return fmt.Errorf("add name %q: %w", name, err)
	}
	return nil
}

// Remove undoes Add. An absent pair is no error.
func (n Names) Remove(ctx context.Context, name string, r Ref) error {
	key := n.refKey(row.RecordName, n.tag(name), r.Artifact, r.Object)
	if err := n.remove(ctx, key); err != nil {
		return fmt.Errorf("remove name %q: %w", name, err)
	}
	return nil
}

// Find returns the targets of a name, at most limit of them (0: all): objects first, then artifacts
// by ID.
func (n Names) Find(ctx context.Context, name string, limit int) ([]Ref, error) {
	var refs []Ref
	err := n.eachRef(ctx, append([]byte{row.RecordName}, n.tag(name)...), limit, func(f refForm, id symbol.ID) error {
		refs = append(refs, Ref{id, f.Object})
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("look up name %q: %w", name, err)
	}
	return refs, nil
}

// Artifacts returns the artifacts with a name, ascending by ID and beginning with from, at most limit of them.
func (n Names) Artifacts(ctx context.Context, name string, from symbol.ID, limit int) ([]symbol.ID, error) {
	if from == (symbol.ID{}) {
		from[len(from)-1] = 1 // below are the objects with the name
	}
	prefix := append([]byte{row.RecordName}, n.tag(name)...)
	s := sinks.Under(prefix)
	s.From = append(bytes.Clone(prefix), from[:]...)

	var ids []symbol.ID
	err := n.store.List(ctx, s, func(rec sinks.Row) error {
		_, id, err := n.ref(ctx, rec)
		if err != nil {
			return err
		}
		if ids = append(ids, id); len(ids) == limit {
			return errEnough
		}
		return nil
	})
	if err != nil && !errors.Is(err, errEnough) {
		return nil, fmt.Errorf("list the artifacts of name %q: %w", name, err)
	}
	return ids, nil
}

// Has reports whether name leads to that artifact.
func (n Names) Has(ctx context.Context, name string, id symbol.ID) (bool, error) {
	value, err := n.store.Get(ctx, n.refKey(row.RecordName, n.tag(name), id, ""))
	if err != nil {
		return false, fmt.Errorf("look up name %q: %w", name, err)
	}
	return value != nil, nil
}

// Each emits every pair. The order means nothing.
func (n Names) Each(ctx context.Context, emit func(name string, r Ref) error) error {
	return n.each(ctx, "names", emit)
}

// OfObjects emits the pairs with an object as target. The order means nothing.
func (n Names) OfObjects(ctx context.Context, emit func(name, url string) error) error {
	return n.each(ctx, "names of objects", func(name string, r Ref) error {
		if r.Object == "" {
			return nil
		}
		return emit(name, r.Object)
	})
}

func (n Names) each(ctx context.Context, of string, emit func(name string, r Ref) error) error {
	err := n.eachRef(ctx, []byte{row.RecordName}, 0, func(f refForm, id symbol.ID) error {
		return emit(f.Name, Ref{id, f.Object})
	})
	if err != nil {
		return fmt.Errorf("list %s: %w", of, err)
	}
	return nil
}
