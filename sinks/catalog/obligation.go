package catalog

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/symlake/symlake/formats/symbol"
	"github.com/symlake/symlake/sinks"
	"github.com/symlake/symlake/sinks/row"
)

// The second byte of a "p" key. Durable.
const (
	pendingMark   = 0 // the obligations of this store are complete
	pendingWake   = 1 // an object is to be derived again
	pendingLedger = 2 // the ledger is to follow an artifact's record
	// how far gc has written the catalog's records anew: see Keys.RenewedTo
	pendingRenewal = 3
	pendingLake    = 4 // the lake is to follow what a process changed
	pendingHead    = 5 // the end of a lake's log
	pendingGarbage = 6 // gc has work at an artifact
	pendingPass    = 7 // when gc read all records last
)

// Obligation is work that some process still owes. A process records it before the work's cause
// becomes visible. The process that does the work discharges it afterwards, in this run or in a
// later one.
type Obligation struct {
	// Companion is here now, and Object asked for it in vain, by the name that the waiter has:
	// "dwo:ID", "file:libx.so.dwp". Object is to be derived again. "": the ledger's entries of
	// Artifact's objects are to follow its record.
	Companion string
	Waiter

	key, raw []byte
}

// Obligations are the "p" records.
type Obligations struct{ records }

// Add records that w.Object is to be derived again, because companion is there. Each call writes the
// record anew, so that a run which read an earlier one does not discharge this one.
func (o Obligations) Add(ctx context.Context, companion string, w Waiter) error {
	key := append([]byte{row.RecordObligation, pendingWake}, o.ring.Tag(row.RecordObject, w.Object)...)
	key = append(append(key, o.ring.Tag(row.RecordWaiter, companion)...), w.Artifact[:]...)
	if _, err := o.write(ctx, key, &refForm{Name: companion, Artifact: idText(w.Artifact), Object: w.Object}); err != nil {
		return fmt.Errorf("note that %s is to be derived again: %w", w.Object, err)
	}
	return nil
}

// AddLedger records that the ledger's entries of an artifact's objects are to follow its record.
func (o Obligations) AddLedger(ctx context.Context, id symbol.ID) (*Obligation, error) {
	key := append([]byte{row.RecordObligation, pendingLedger}, id[:]...)
	raw, err := o.write(ctx, key, &refForm{Artifact: idText(id)})
	if err != nil {
		return nil, fmt.Errorf("note that the ledger of artifact %s is to be set right: %w", id, err)
	}
	return &Obligation{Waiter: Waiter{Artifact: id}, key: key, raw: raw}, nil
}

// write writes a record that differs from every earlier one of its key, and returns its bytes.
func (o Obligations) write(ctx context.Context, key []byte, form any) ([]byte, error) {
	for {
		old, err := o.store.Get(ctx, key)
		if err != nil {
			return nil, err
		}
		// On a conflict another process wrote the record, or removed it.
		raw, err := o.replace(ctx, key, old, form)
		if !errors.Is(err, sinks.ErrConflict) {
			return raw, err
		}
	}
}

// Each emits the objects that are to be derived again, one record for each waiter. The records of an
// object come together.
func (o Obligations) Each(ctx context.Context, emit func(*Obligation) error) error {
	return o.each(ctx, pendingWake, emit)
}

// EachLedger emits the obligations that AddLedger recorded.
func (o Obligations) EachLedger(ctx context.Context, emit func(*Obligation) error) error {
	return o.each(ctx, pendingLedger, emit)
}

func (o Obligations) each(ctx context.Context, kind byte, emit func(*Obligation) error) error {
	err := o.store.List(ctx, sinks.Under([]byte{row.RecordObligation, kind}), func(r sinks.Row) error {
		f, id, err := o.ref(ctx, r)
		if err != nil {
			return err
		}
		return emit(&Obligation{Companion: f.Name, Waiter: Waiter{Artifact: id, Object: f.Object}, key: r.Key, raw: r.Value})
	})
	if err != nil {
		return fmt.Errorf("list obligations: %w", err)
	}
	return nil
}

// Discharge removes an obligation, unless it was recorded again since.
func (o Obligations) Discharge(ctx context.Context, done *Obligation) error {
	err := o.store.Swap(ctx, done.key, done.raw, nil)
	if err == nil || errors.Is(err, sinks.ErrConflict) {
		return nil
	}
	// The store may have removed it and its answer was lost.
	now, rerr := o.store.Get(ctx, done.key)
	if rerr == nil && !bytes.Equal(now, done.raw) {
		return nil
	}
	return fmt.Errorf("remove an obligation: %w", err)
}

// Joined reports whether a run compared this store's waiters with its companions since the store
// keeps obligations. Stores of earlier versions kept none.
func (o Obligations) Joined(ctx context.Context) (bool, error) {
	value, err := o.store.Get(ctx, []byte{row.RecordObligation, pendingMark})
	if err != nil {
		return false, fmt.Errorf("read whether obligations are complete: %w", err)
	}
	return value != nil, nil
}

// SetJoined makes Joined report true from now on.
func (o Obligations) SetJoined(ctx context.Context) error {
	if err := o.addRef(ctx, []byte{row.RecordObligation, pendingMark}, refForm{}); err != nil {
		return fmt.Errorf("note that obligations are complete: %w", err)
	}
	return nil
}

// garbageKey is the key of the obligation that gc has work at an artifact.
func garbageKey(id symbol.ID) []byte {
	return append([]byte{row.RecordObligation, pendingGarbage}, id[:]...)
}

// AddGarbage records that gc has work at artifacts, which Artifacts.Swap does of its own accord. Artifacts may be there
// already.
func (o Obligations) AddGarbage(ctx context.Context, ids []symbol.ID) error {
	if len(ids) == 0 {
		return nil
	}
	changes := make([]sinks.Change, len(ids))
	for i, id := range ids {
		plain, err := plainOf(&refForm{Artifact: idText(id)})
		if err != nil {
			return err
		}
		key := garbageKey(id)
		changes[i] = sinks.Change{Key: key, New: o.ring.SealRecord(key, plain), Same: true}
	}
	for i, err := range o.store.SwapAll(ctx, changes) {
		if err != nil && !errors.Is(err, sinks.ErrConflict) {
			return fmt.Errorf("note that gc has work at artifact %s: %w", ids[i], err)
		}
	}
	return nil
}

// EachGarbage emits the artifacts at which gc has work, ascending by ID. It takes keys at their word: the record of an
// artifact tells, see [Record.HasGarbage]. Programs that do not know the list leave artifacts out.
func (o Obligations) EachGarbage(ctx context.Context, emit func(symbol.ID) error) error {
	err := o.store.List(ctx, sinks.Under([]byte{row.RecordObligation, pendingGarbage}), func(r sinks.Row) error {
		var id symbol.ID
		if copy(id[:], r.Key[2:]) != len(id) {
			return fmt.Errorf("record %x: %w", r.Key, row.ErrUnauthentic)
		}
		return emit(id)
	})
	if err != nil {
		return fmt.Errorf("list artifacts for gc: %w", err)
	}
	return nil
}

// DischargeGarbage removes what AddGarbage recorded of artifacts, unless it was recorded again meanwhile. It may be gone
// already.
func (o Obligations) DischargeGarbage(ctx context.Context, ids []symbol.ID) error {
	keys := make([][]byte, len(ids))
	for i, id := range ids {
		keys[i] = garbageKey(id)
	}
	values, err := o.store.GetAll(ctx, keys)
	if err != nil {
		return fmt.Errorf("note that gc has no work at %d artifacts: %w", len(ids), err)
	}
	var changes []sinks.Change
	for i, value := range values {
		if value != nil {
			changes = append(changes, sinks.Change{Key: keys[i], Old: value})
		}
	}
	for i, err := range o.store.SwapAll(ctx, changes) {
		if err != nil && !errors.Is(err, sinks.ErrConflict) {
			return fmt.Errorf("note that gc has no work: remove %x: %w", changes[i].Key, err)
		}
	}
	return nil
}

// Pass tells when gc has to read all records again, though counters say that the list of garbage is whole.
type Pass struct {
	At    time.Time // when gc read all records last; zero: never
	Lease time.Time // the lease of no load in progress ends before
}

var passKey = []byte{row.RecordObligation, pendingPass}

// Pass returns what SetPass wrote last; a zero Pass if nothing.
func (o Obligations) Pass(ctx context.Context) (Pass, error) {
	value, err := o.store.Get(ctx, passKey)
	if err == nil && value == nil {
		return Pass{}, nil
	}
	var f refForm
	var p Pass
	if err == nil {
		err = o.open(ctx, sinks.Row{Key: passKey, Value: value}, &f)
	}
	if err == nil {
		var at, lease error
		p.At, at = time.Parse(time.RFC3339Nano, f.Name)
		p.Lease, lease = time.Parse(time.RFC3339Nano, f.Object)
		if at != nil || lease != nil {
			err = row.ErrUnauthentic
		}
	}
	if err != nil {
		return Pass{}, fmt.Errorf("read when gc read all records: %w", err)
	}
	return p, nil
}

// SetPass has Pass return p. Of two calls at once either may win.
func (o Obligations) SetPass(ctx context.Context, p Pass) error {
	f := &refForm{Name: p.At.UTC().Format(time.RFC3339Nano), Object: p.Lease.UTC().Format(time.RFC3339Nano)}
	if err := o.put(ctx, passKey, f); err != nil {
		return fmt.Errorf("note when gc read all records: %w", err)
	}
	return nil
}

// DropPass has the next gc read all records. Where rows may be lost, or have come again, the list of garbage does not tell.
func (o Obligations) DropPass(ctx context.Context) error {
	if err := o.remove(ctx, passKey); err != nil {
		return fmt.Errorf("note that gc has to read all records: %w", err)
	}
	return nil
}
