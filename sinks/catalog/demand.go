package catalog

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/symlake/symlake/formats/symbol"
	"github.com/symlake/symlake/sinks"
	"github.com/symlake/symlake/sinks/internal/compact"
	"github.com/symlake/symlake/sinks/row"
)

// The second byte of a "d" key. Durable.
const (
	demandWanted = 0
	demandAsked  = 1
)

// Wanted is a name that frames carried and that led to no artifact.
type Wanted struct {
	Name  string    `json:"name"`
	File  string    `json:"file"`  // of the image, where the frame said it
	Kind  string    `json:"kind"`  // of the stack format: native, apple, java, javascript, …
	Asked uint64    `json:"asked"` // frames
	First time.Time `json:"first"`
	Last  time.Time `json:"last"`

	key []byte
	stored
}

func (w *Wanted) write(to *compact.Writer) {
	to.Text(w.Name)
	to.Text(w.File)
	to.Text(w.Kind)
	to.Uint(w.Asked)
	to.Time(w.First)
	to.Time(w.Last)
}

func (w *Wanted) read(r *compact.Reader) {
	w.Name = r.Text()
	w.File = r.Text()
	w.Kind = r.Text()
	w.Asked = r.Uint()
	w.First = r.Time()
	w.Last = r.Time()
}

// Demand are the "d" records: the names that look-ups missed, and when they asked for an artifact.
type Demand struct{ records }

// AddWanted counts a name that a look-up missed. It gives up without an error if other processes
// keep counting the same name: the counts need not be exact.
func (d Demand) AddWanted(ctx context.Context, w Wanted) error {
	key := append([]byte{row.RecordDemand, demandWanted}, d.ring.Tag(row.RecordDemand, strings.ToLower(w.Name))...)
	for range 4 {
		old, err := d.store.Get(ctx, key)
		if err != nil {
			return fmt.Errorf("note that %q is wanted: %w", w.Name, err)
		}
		next := w
		if old != nil {
			was, err := d.wanted(ctx, sinks.Row{Key: key, Value: old})
			if err != nil {
				return err
			}
			next.Asked += was.Asked
			next.First = was.First
			if next.File == "" {
				next.File = was.File
			}
		}
		if _, err = d.replace(ctx, key, old, &next); !errors.Is(err, sinks.ErrConflict) {
			return err
		}
	}
	return nil
}

// EachWanted emits the names that look-ups missed. The order means nothing.
func (d Demand) EachWanted(ctx context.Context, emit func(*Wanted) error) error {
	return each(ctx, d.records, sinks.Under([]byte{row.RecordDemand, demandWanted}), d.wanted, emit)
}

func (d Demand) wanted(ctx context.Context, r sinks.Row) (*Wanted, error) {
	w := &Wanted{key: r.Key}
	w.raw = r.Value
	if err := d.open(ctx, r, w); err != nil {
		return nil, fmt.Errorf("record %x: %w", r.Key, err)
	}
	return w, nil
}

// RemoveWanted removes a name that EachWanted emitted, unless it was counted again since.
func (d Demand) RemoveWanted(ctx context.Context, w *Wanted) error {
	err := d.store.Swap(ctx, w.key, w.raw, nil)
	if errors.Is(err, sinks.ErrConflict) {
		return nil
	}
	return err
}

// askedForm is the value of an artifact's record.
type askedForm struct {
	Last time.Time `json:"last"`
}

func (f *askedForm) write(w *compact.Writer) { w.Time(f.Last) }

func (f *askedForm) read(r *compact.Reader) { f.Last = r.Time() }

func askedKey(id symbol.ID) []byte { return append([]byte{row.RecordDemand, demandAsked}, id[:]...) }

// AddAsked notes that a look-up asked for an artifact. Of one day it keeps the first time. The zero
// ID stands for any artifact: its record keeps the time of the first note.
func (d Demand) AddAsked(ctx context.Context, id symbol.ID, at time.Time) error {
	key := askedKey(id)
	old, err := d.store.Get(ctx, key)
	if err != nil {
		return fmt.Errorf("note that artifact %s was asked for: %w", id, err)
	}
	if old != nil {
		was, err := d.asked(ctx, sinks.Row{Key: key, Value: old})
		if err != nil {
			return err
		}
		if id == (symbol.ID{}) || at.Sub(was.Last) < 24*time.Hour {
			return nil
		}
	}
	_, err = d.replace(ctx, key, old, &askedForm{at})
	if errors.Is(err, sinks.ErrConflict) {
		return nil // another process noted it
	}
	return err
}

// EachAsked emits the artifacts that look-ups asked for, and when last. The zero ID stands for any
// artifact; its time is when look-ups began to note.
func (d Demand) EachAsked(ctx context.Context, emit func(symbol.ID, time.Time) error) error {
	return d.store.List(ctx, sinks.Under([]byte{row.RecordDemand, demandAsked}), func(r sinks.Row) error {
		f, err := d.asked(ctx, r)
		if err != nil {
			return err
		}
		var id symbol.ID
		if copy(id[:], r.Key[2:]) != len(id) {
			return fmt.Errorf("record %x: %w", r.Key, row.ErrUnauthentic)
		}
		return emit(id, f.Last)
	})
}

func (d Demand) asked(ctx context.Context, r sinks.Row) (f askedForm, err error) {
	if err = d.open(ctx, r, &f); err != nil {
		err = fmt.Errorf("record %x: %w", r.Key, err)
	}
	return f, err
}

// RemoveAsked forgets when an artifact was asked for.
func (d Demand) RemoveAsked(ctx context.Context, id symbol.ID) error {
	return d.remove(ctx, askedKey(id))
}
