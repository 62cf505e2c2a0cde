package catalog

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/symlake/symlake/formats/symbol"
	"github.com/symlake/symlake/sinks"
	"github.com/symlake/symlake/sinks/row"
)

// The second byte of a "d" key. Durable.
const (
	demandWanted = 0
	demandAsked  = 1
)

// Wanted is a name that frames carried and that led to nothing: a "d" record.
type Wanted struct {
	Name  string    `json:"name"`
	File  string    `json:"file,omitempty"` // of the image, where the frame said it
	Kind  string    `json:"kind,omitempty"` // of the stack format: native, apple, java, javascript, …
	Asked uint64    `json:"asked"`          // frames
	First time.Time `json:"first,omitzero"`
	Last  time.Time `json:"last,omitzero"`

	key []byte
	raw []byte
}

func (c *Catalog) wantedKey(name string) []byte {
	return append([]byte{row.RecordDemand, demandWanted}, c.k.Tag(row.RecordDemand, strings.ToLower(name))...)
}

// AddWanted counts that a name was asked for. It gives up, without a word, if others keep counting the same name: the
// table is what was asked for about.
func (c *Catalog) AddWanted(ctx context.Context, w Wanted) error {
	key := c.wantedKey(w.Name)
	for range 4 {
		old, err := c.c.Get(ctx, key)
		if err != nil {
			return fmt.Errorf("note that %q is wanted: %w", w.Name, err)
		}
		next := w
		if old != nil {
			was, err := c.wanted(ctx, sinks.Row{Key: key, Value: old})
			if err != nil {
				return err
			}
			next.Asked += was.Asked
			next.First = was.First
			if next.File == "" {
				next.File = was.File
			}
		}
		err = c.swapForm(ctx, key, old, next)
		if !errors.Is(err, sinks.ErrConflict) {
			return err
		}
	}
	return nil
}

// WantedNames emits the names that were asked for and not there, in no order of use.
func (c *Catalog) WantedNames(ctx context.Context, emit func(*Wanted) error) error {
	return c.c.List(ctx, sinks.Under([]byte{row.RecordDemand, demandWanted}), func(r sinks.Row) error {
		w, err := c.wanted(ctx, r)
		if err != nil {
			return err
		}
		return emit(w)
	})
}

func (c *Catalog) wanted(ctx context.Context, r sinks.Row) (*Wanted, error) {
	w := &Wanted{key: r.Key, raw: r.Value}
	if err := c.openForm(ctx, r, w); err != nil {
		return nil, err
	}
	return w, nil
}

// RemoveWanted removes what WantedNames emitted, unless it was counted again since.
func (c *Catalog) RemoveWanted(ctx context.Context, w *Wanted) error {
	err := c.c.Swap(ctx, w.key, w.raw, nil)
	if errors.Is(err, sinks.ErrConflict) {
		return nil
	}
	return err
}

// askedForm is the value of a "d" record of an artifact.
type askedForm struct {
	Last time.Time `json:"last"`
}

// AddAsked notes that artifact was asked for at that time, to the day: of one day
// the first is kept.
func (c *Catalog) AddAsked(ctx context.Context, id symbol.ID, at time.Time) error {
	key := askedKey(id)
	old, err := c.c.Get(ctx, key)
	if err != nil {
		return fmt.Errorf("note that artifact %s was asked for: %w", id, err)
	}
	if old != nil {
		var was askedForm
		if err := c.openForm(ctx, sinks.Row{Key: key, Value: old}, &was); err != nil {
			return err
		}
		if id == (symbol.ID{}) || at.Sub(was.Last) < 24*time.Hour {
			return nil
		}
	}
	err = c.swapForm(ctx, key, old, askedForm{at})
	if errors.Is(err, sinks.ErrConflict) {
		return nil // somebody else did it
	}
	return err
}

// Asked emits when artifacts were last asked for. The zero ID is for any of them at all: since when
// anybody has noted that.
func (c *Catalog) Asked(ctx context.Context, emit func(symbol.ID, time.Time) error) error {
	return c.c.List(ctx, sinks.Under([]byte{row.RecordDemand, demandAsked}), func(r sinks.Row) error {
		var f askedForm
		if err := c.openForm(ctx, r, &f); err != nil {
			return err
		}
		var id symbol.ID
		if copy(id[:], r.Key[2:]) != len(id) {
			return fmt.Errorf("record %x: %w", r.Key, row.ErrUnauthentic)
		}
		return emit(id, f.Last)
	})
}

// RemoveAsked forgets when an artifact was asked for.
func (c *Catalog) RemoveAsked(ctx context.Context, id symbol.ID) error {
	return c.remove(ctx, askedKey(id))
}

// SourceState is what is remembered of a source between runs: the "s" record.
type SourceState struct {
	URL  string    `json:"url"`
	Full time.Time `json:"full,omitzero"` // when it was last listed whole
}

func (c *Catalog) sourceKey(url string) []byte {
	return append([]byte{row.RecordSource}, c.k.Tag(row.RecordSource, url)...)
}

// Source gives what is remembered of a source; of an unknown one nothing but its URL.
func (c *Catalog) Source(ctx context.Context, url string) (SourceState, error) {
	key := c.sourceKey(url)
	s := SourceState{URL: url}
	value, err := c.c.Get(ctx, key)
	if err == nil && value != nil {
		err = c.openForm(ctx, sinks.Row{Key: key, Value: value}, &s)
	}
	if err != nil {
		return s, fmt.Errorf("read state of source %s: %w", url, err)
	}
	return s, nil
}

// SetSource replaces what is remembered of a source; of two at once either is kept.
func (c *Catalog) SetSource(ctx context.Context, s SourceState) error {
	key := c.sourceKey(s.URL)
	old, err := c.c.Get(ctx, key)
	if err == nil {
		err = c.swapForm(ctx, key, old, s)
	}
	if err != nil && !errors.Is(err, sinks.ErrConflict) {
		return fmt.Errorf("write state of source %s: %w", s.URL, err)
	}
	return nil
}

// openForm opens a record whose value is JSON.
func (c *Catalog) openForm(ctx context.Context, r sinks.Row, to any) error {
	plain, err := c.k.OpenRecord(ctx, r.Key, r.Value)
	if err != nil {
		return fmt.Errorf("record %x: %w", r.Key, err)
	}
	if err := json.Unmarshal(plain, to); err != nil {
		return fmt.Errorf("record %x: %w: %w", r.Key, row.ErrUnauthentic, err)
	}
	return nil
}

func (c *Catalog) swapForm(ctx context.Context, key, old []byte, form any) error {
	plain, err := json.Marshal(form)
	if err != nil {
		return err
	}
	return c.c.Swap(ctx, key, old, c.k.SealRecord(key, plain))
}
