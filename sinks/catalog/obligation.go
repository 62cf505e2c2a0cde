package catalog

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/symlake/symlake/formats/symbol"
	"github.com/symlake/symlake/sinks"
	"github.com/symlake/symlake/sinks/row"
)

// The second byte of a "p" key. Durable.
const (
	pendingMark   = 0 // the obligations of this store are complete
	pendingWake   = 1 // an object is to be derived again
	pendingLedger = 2 // the ledger is to say from which object an artifact is answered
)

// Obligation is work that some process still owes. A process records it before the work's cause
// becomes visible. The process that does the work discharges it afterwards, in this run or in a
// later one.
type Obligation struct {
	// Companion is what Object asked for in vain, and is there now, as the waiter has it: "dwo:ID",
	// "file:libx.so.dwp". Object is to be derived again. "": the ledger's entries of Artifact's
	// objects are to follow its record.
	Companion string
	Waiter

	key, raw []byte
}

func (c *Catalog) obligationKey(companion string, w Waiter) []byte {
	key := append([]byte{row.RecordObligation, pendingWake}, c.k.Tag(row.RecordObject, w.Object)...)
	return append(append(key, c.k.Tag(row.RecordWaiter, companion)...), w.Artifact[:]...)
}

// Oblige records that w.Object is to be derived again, because companion is there. It writes the
// record anew each time, so that a run which read an earlier one does not discharge this one.
func (c *Catalog) Oblige(ctx context.Context, companion string, w Waiter) error {
	key := c.obligationKey(companion, w)
	if _, err := c.oblige(ctx, key, nameForm{Name: companion, Artifact: idText(w.Artifact), Object: w.Object}); err != nil {
		return fmt.Errorf("note that %s is to be derived again: %w", w.Object, err)
	}
	return nil
}

// ObligeLedger records that the ledger's entries of an artifact's objects are to follow its record.
func (c *Catalog) ObligeLedger(ctx context.Context, id symbol.ID) (*Obligation, error) {
	key := append([]byte{row.RecordObligation, pendingLedger}, id[:]...)
	raw, err := c.oblige(ctx, key, nameForm{Artifact: idText(id)})
	if err != nil {
		return nil, fmt.Errorf("note that the ledger of artifact %s is to be set right: %w", id, err)
	}
	return &Obligation{Waiter: Waiter{Artifact: id}, key: key, raw: raw}, nil
}

// oblige writes a record that differs from every earlier one of its key, and gives its bytes.
func (c *Catalog) oblige(ctx context.Context, key []byte, f nameForm) ([]byte, error) {
	plain, err := json.Marshal(f)
	if err != nil {
		return nil, err
	}
	for {
		old, err := c.c.Get(ctx, key)
		if err != nil {
			return nil, err
		}
		sealed := c.k.SealRecord(key, plain)
		// On a conflict another process wrote the record, or removed it.
		if err = c.c.Swap(ctx, key, old, sealed); !errors.Is(err, sinks.ErrConflict) {
			return sealed, err
		}
	}
}

// Obligations emits the objects that are to be derived again, one record for each waiter. The
// records of an object come together.
func (c *Catalog) Obligations(ctx context.Context, emit func(*Obligation) error) error {
	return c.obligations(ctx, pendingWake, emit)
}

// LedgerObligations emits what ObligeLedger recorded.
func (c *Catalog) LedgerObligations(ctx context.Context, emit func(*Obligation) error) error {
	return c.obligations(ctx, pendingLedger, emit)
}

func (c *Catalog) obligations(ctx context.Context, kind byte, emit func(*Obligation) error) error {
	err := c.c.List(ctx, sinks.Under([]byte{row.RecordObligation, kind}), func(r sinks.Row) error {
		var f nameForm
		if err := c.openForm(ctx, r, &f); err != nil {
			return err
		}
		o := &Obligation{Companion: f.Name, Waiter: Waiter{Object: f.Object}, key: r.Key, raw: r.Value}
		if f.Artifact != "" {
			id, err := symbol.ParseID(f.Artifact)
			if err != nil {
				return fmt.Errorf("record %x: %w: %w", r.Key, row.ErrUnauthentic, err)
			}
			o.Artifact = id
		}
		return emit(o)
	})
	if err != nil {
		return fmt.Errorf("list obligations: %w", err)
	}
	return nil
}

// Discharge removes an obligation, unless it was recorded again since.
func (c *Catalog) Discharge(ctx context.Context, o *Obligation) error {
	err := c.c.Swap(ctx, o.key, o.raw, nil)
	if err == nil || errors.Is(err, sinks.ErrConflict) {
		return nil
	}
	// The answer may have been lost.
	now, rerr := c.c.Get(ctx, o.key)
	if rerr == nil && !bytes.Equal(now, o.raw) {
		return nil
	}
	return fmt.Errorf("remove an obligation: %w", err)
}

// Joined reports whether this store's waiters were compared with its companions since it keeps
// obligations: stores of earlier versions kept none.
func (c *Catalog) Joined(ctx context.Context) (bool, error) {
	value, err := c.c.Get(ctx, []byte{row.RecordObligation, pendingMark})
	if err != nil {
		return false, fmt.Errorf("read whether obligations are complete: %w", err)
	}
	return value != nil, nil
}

// SetJoined records what Joined reports.
func (c *Catalog) SetJoined(ctx context.Context) error {
	if err := c.put(ctx, []byte{row.RecordObligation, pendingMark}, nameForm{}); err != nil {
		return fmt.Errorf("note that obligations are complete: %w", err)
	}
	return nil
}

// ObjectNames emits the names that lead to objects, with the URL of each.
func (c *Catalog) ObjectNames(ctx context.Context, emit func(name, url string) error) error {
	err := c.list(ctx, []byte{row.RecordName}, 0, func(f nameForm, _ symbol.ID) error {
		if f.Object == "" {
			return nil
		}
		return emit(f.Name, f.Object)
	})
	if err != nil {
		return fmt.Errorf("list names of objects: %w", err)
	}
	return nil
}
