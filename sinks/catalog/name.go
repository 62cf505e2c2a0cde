package catalog

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/symlake/symlake/formats/symbol"
	"github.com/symlake/symlake/sinks"
	"github.com/symlake/symlake/sinks/row"
)

// Ref is what a name leads to: an artifact, or the URL of an object that is
// not loaded (pending, loading, rejected). Exactly one is set.
type Ref struct {
	Artifact symbol.ID
	Object   string
}

// Waiter is an artifact, and the object that it came from, that lacks a
// companion.
type Waiter struct {
	Artifact symbol.ID
	Object   string
	// InVain names the state of the companion that Object was read beside without use: see
	// [Catalog.WaitInVain]. "": Object was read before the companion came.
	InVain string
}

// nameForm is the value of "n" and "w" records: in full what its key holds as
// tags.
type nameForm struct {
	Name     string `json:"name"`
	Artifact string `json:"artifact,omitempty"`
	Object   string `json:"object,omitempty"`
	InVain   string `json:"in_vain,omitempty"` // of a waiter
}

// refKey is tag(name) ‖ artifact ‖ zero, or tag(name) ‖ zero ‖ tag(object).
func (c *Catalog) refKey(prefix byte, tag []byte, id symbol.ID, object string) []byte {
	key := append(append([]byte{prefix}, tag...), id[:]...)
	if object == "" {
		return append(key, make([]byte, row.TagBytes)...)
	}
	return append(key, c.k.Tag(row.RecordObject, object)...)
}

// put adds a record that says nothing but its key; it may be there already.
func (c *Catalog) put(ctx context.Context, key []byte, f nameForm) error {
	plain, err := json.Marshal(f)
	if err != nil {
		return err
	}
	err = c.c.Swap(ctx, key, nil, c.k.SealRecord(key, plain))
	if errors.Is(err, sinks.ErrConflict) {
		return nil
	}
	return err
}

// remove deletes a record, which may be gone already.
func (c *Catalog) remove(ctx context.Context, key []byte) error {
	for {
		old, err := c.c.Get(ctx, key)
		if err != nil || old == nil {
			return err
		}
		if err := c.c.Swap(ctx, key, old, nil); !errors.Is(err, sinks.ErrConflict) {
			return err
		}
	}
}

var errEnough = errors.New("enough")

// list opens the records below a prefix, at most limit of them (0: all).
func (c *Catalog) list(ctx context.Context, prefix []byte, limit int, emit func(nameForm, symbol.ID) error) error {
	n := 0
	err := c.c.List(ctx, sinks.Under(prefix), func(r sinks.Row) error {
		plain, err := c.k.OpenRecord(ctx, r.Key, r.Value)
		if err != nil {
			return fmt.Errorf("record %x: %w", r.Key, err)
		}
		var f nameForm
		var id symbol.ID
		if err = json.Unmarshal(plain, &f); err == nil && f.Artifact != "" {
			id, err = symbol.ParseID(f.Artifact)
		}
		if err != nil {
			return fmt.Errorf("record %x: %w: %w", r.Key, row.ErrUnauthentic, err)
		}
		if err := emit(f, id); err != nil {
			return err
		}
		if n++; n == limit {
			return errEnough
		}
		return nil
	})
	if err == errEnough {
		return nil
	}
	return err
}

func idText(id symbol.ID) string {
	if id == (symbol.ID{}) {
		return ""
	}
	return id.String()
}

func (c *Catalog) nameTag(name string) []byte { return c.k.Tag(row.RecordName, strings.ToLower(name)) }

// AddName makes name lead to r, besides what else it leads to. Names match in
// any case. Adding what is there changes nothing.
func (c *Catalog) AddName(ctx context.Context, name string, r Ref) error {
	key := c.refKey(row.RecordName, c.nameTag(name), r.Artifact, r.Object)
	if err := c.put(ctx, key, nameForm{Name: name, Artifact: idText(r.Artifact), Object: r.Object}); err != nil {
		return fmt.Errorf("add name %q: %w", name, err)
	}
	return nil
}

// RemoveName undoes AddName; a name that is not there is no error.
func (c *Catalog) RemoveName(ctx context.Context, name string, r Ref) error {
	key := c.refKey(row.RecordName, c.nameTag(name), r.Artifact, r.Object)
	if err := c.remove(ctx, key); err != nil {
		return fmt.Errorf("remove name %q: %w", name, err)
	}
	return nil
}

// Names gives what name leads to, at most limit refs (0: all): objects first,
// then artifacts by ID.
func (c *Catalog) Names(ctx context.Context, name string, limit int) ([]Ref, error) {
	var refs []Ref
	err := c.list(ctx, append([]byte{row.RecordName}, c.nameTag(name)...), limit, func(f nameForm, id symbol.ID) error {
		refs = append(refs, Ref{id, f.Object})
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("look up name %q: %w", name, err)
	}
	return refs, nil
}

// AllNames emits every name with each of what it leads to, in no order that means anything.
func (c *Catalog) AllNames(ctx context.Context, emit func(name string, r Ref) error) error {
	err := c.list(ctx, []byte{row.RecordName}, 0, func(f nameForm, id symbol.ID) error {
		return emit(f.Name, Ref{id, f.Object})
	})
	if err != nil {
		return fmt.Errorf("list names: %w", err)
	}
	return nil
}

// HasName reports whether name leads to that artifact.
func (c *Catalog) HasName(ctx context.Context, name string, id symbol.ID) (bool, error) {
	value, err := c.c.Get(ctx, c.refKey(row.RecordName, c.nameTag(name), id, ""))
	if err != nil {
		return false, fmt.Errorf("look up name %q: %w", name, err)
	}
	return value != nil, nil
}

// AddWaiter notes that w lacks a companion ("dwo:NAME", "dwz:BUILD-ID", exactly
// as its Quality says). Adding what is there changes nothing.
func (c *Catalog) AddWaiter(ctx context.Context, companion string, w Waiter) error {
	key := c.refKey(row.RecordWaiter, c.k.Tag(row.RecordWaiter, companion), w.Artifact, w.Object)
	if err := c.put(ctx, key, nameForm{Name: companion, Artifact: idText(w.Artifact), Object: w.Object, InVain: w.InVain}); err != nil {
		return fmt.Errorf("add waiter for %q: %w", companion, err)
	}
	return nil
}

// WaitInVain notes in a waiter that its object was read beside the companion in that state, and
// lacks it all the same. A waiter that is gone, or that another process changed, is left as it is.
func (c *Catalog) WaitInVain(ctx context.Context, companion string, w Waiter, state string) error {
	key := c.refKey(row.RecordWaiter, c.k.Tag(row.RecordWaiter, companion), w.Artifact, w.Object)
	plain, err := json.Marshal(nameForm{Name: companion, Artifact: idText(w.Artifact), Object: w.Object, InVain: state})
	if err != nil {
		return err
	}
	old, err := c.c.Get(ctx, key)
	if err == nil && old != nil {
		err = c.c.Swap(ctx, key, old, c.k.SealRecord(key, plain))
	}
	if err != nil && !errors.Is(err, sinks.ErrConflict) {
		return fmt.Errorf("note that %s waits for %q in vain: %w", w.Object, companion, err)
	}
	return nil
}

// Waiters gives who lacks the companion, by artifact.
func (c *Catalog) Waiters(ctx context.Context, companion string) ([]Waiter, error) {
	var ws []Waiter
	prefix := append([]byte{row.RecordWaiter}, c.k.Tag(row.RecordWaiter, companion)...)
	err := c.list(ctx, prefix, 0, func(f nameForm, id symbol.ID) error {
		ws = append(ws, Waiter{id, f.Object, f.InVain})
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("look up waiters for %q: %w", companion, err)
	}
	return ws, nil
}

// AllWaiters emits every waiter with the companion it lacks, in no order that means anything.
func (c *Catalog) AllWaiters(ctx context.Context, emit func(companion string, w Waiter) error) error {
	err := c.list(ctx, []byte{row.RecordWaiter}, 0, func(f nameForm, id symbol.ID) error {
		return emit(f.Name, Waiter{id, f.Object, f.InVain})
	})
	if err != nil {
		return fmt.Errorf("list waiters: %w", err)
	}
	return nil
}

// RemoveWaiter undoes AddWaiter; one that is not there is no error.
func (c *Catalog) RemoveWaiter(ctx context.Context, companion string, w Waiter) error {
	key := c.refKey(row.RecordWaiter, c.k.Tag(row.RecordWaiter, companion), w.Artifact, w.Object)
	if err := c.remove(ctx, key); err != nil {
		return fmt.Errorf("remove waiter for %q: %w", companion, err)
	}
	return nil
}
