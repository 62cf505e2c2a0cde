package catalog

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/symlake/symlake/sinks"
	"github.com/symlake/symlake/sinks/internal/compact"
	"github.com/symlake/symlake/sinks/row"
)

// Keys finds the records that older versions of the store key seal, and seals them anew.
type Keys struct{ records }

// Stale is a record that needs an older version of the store key.
type Stale struct{ row sinks.Row }

// Key returns the record's key in the catalog, for errors.
func (s Stale) Key() []byte { return s.row.Key }

// Stale returns records that need an older version of the store key than the newest, from a key of
// the catalog on (nil: the first). It stops after about limit records, and returns the key to go on
// with (nil: there are no more). A record that does not open is stale, too: Renew says why.
func (k Keys) Stale(ctx context.Context, from []byte, limit int) (stale []Stale, next []byte, err error) {
	newest := k.ring.Newest()
	seen := 0
	err = k.store.List(ctx, sinks.Span{From: from}, func(r sinks.Row) error {
		if seen++; seen > limit {
			next = r.Key
			return errEnough
		}
		// A worker renews its lease itself, and is soon gone.
		version, ok := row.SealedUnder(r.Value)
		if !ok || r.Key[0] == row.RecordStoreKey || r.Key[0] == row.RecordWorker {
			return nil
		}
		if version != newest || r.Key[0] == row.RecordArtifact && k.wrapsOlder(ctx, r, newest) {
			stale = append(stale, Stale{r})
		}
		return nil
	})
	if err != nil && err != errEnough {
		return nil, nil, fmt.Errorf("list records: %w", err)
	}
	return stale, next, nil
}

// wrapsOlder reports whether a record holds data keys that an older version wraps. A record that was
// sealed anew by other code keeps its data keys as they were wrapped.
func (k Keys) wrapsOlder(ctx context.Context, r sinks.Row, newest uint32) bool {
	rec, err := Artifacts{records: k.records}.read(ctx, r)
	if err != nil {
		return true
	}
	for _, l := range rec.keyed() {
		if l.KeyVersion != newest {
			return true
		}
	}
	return false
}

// Old returns records in the form of earlier versions, as Stale returns stale ones: artifacts, objects, names, waiters,
// obligations and demand. Records of other kinds are few and keep their form.
func (k Keys) Old(ctx context.Context, from []byte, limit int) (old []Stale, next []byte, err error) {
	seen := 0
	err = k.store.List(ctx, sinks.Span{From: from}, func(r sinks.Row) error {
		if seen++; seen > limit {
			next = r.Key
			return errEnough
		}
		switch r.Key[0] {
		case row.RecordArtifact, row.RecordObject, row.RecordName, row.RecordWaiter, row.RecordObligation, row.RecordDemand:
			if row.IsOldRecord(r.Value) {
				old = append(old, Stale{r})
			}
		}
		return nil
	})
	if err != nil && err != errEnough {
		return nil, nil, fmt.Errorf("list records: %w", err)
	}
	return old, next, nil
}

// renewedForm is the "p" 3 record: how far the catalog has been written anew.
type renewedForm struct {
	form uint64 // what the records before next have; formVersion, or an older one
	done bool
	next []byte // the key to go on with
}

func (f *renewedForm) write(w *compact.Writer) {
	w.Uint(f.form)
	w.Bool(f.done)
	w.Bytes(f.next)
}

func (f *renewedForm) read(r *compact.Reader) {
	f.form, f.done, f.next = r.Uint(), r.Bool(), r.Bytes()
}

var renewedKey = []byte{row.RecordObligation, pendingRenewal}

// RenewedTo returns the key from which on records of older forms may stand (nil: the first), and whether there are none.
// Programs that know older forms alone may have written such records since.
func (k Keys) RenewedTo(ctx context.Context) (next []byte, done bool, err error) {
	var f renewedForm
	value, err := k.store.Get(ctx, renewedKey)
	if err == nil && value != nil {
		err = k.open(ctx, sinks.Row{Key: renewedKey, Value: value}, &f)
	}
	if err != nil {
		return nil, false, fmt.Errorf("read how far records are renewed: %w", err)
	}
	if f.form < formVersion {
		return nil, false, nil
	}
	return f.next, f.done, nil
}

// SetRenewedTo makes RenewedTo return next and done. Of two calls at once either may win.
func (k Keys) SetRenewedTo(ctx context.Context, next []byte, done bool) error {
	if err := k.put(ctx, renewedKey, &renewedForm{formVersion, done, next}); err != nil {
		return fmt.Errorf("note how far records are renewed: %w", err)
	}
	return nil
}

// Renew writes a record anew in the form of today, under the newest store key, with its data keys, and returns how many
// data keys these were. It keeps changes that another process makes meanwhile. done is false for the
// ledger of an object that a worker has open: the worker writes it itself.
func (k Keys) Renew(ctx context.Context, s Stale) (dataKeys int, done bool, err error) {
	for r := s.row; ; {
		if r.Key[0] == row.RecordArtifact {
			dataKeys, err = k.renewArtifact(ctx, r)
			done = true
		} else {
			done, err = k.renewRecord(ctx, r)
		}
		if !errors.Is(err, sinks.ErrConflict) {
			break
		}
		if r.Value, err = k.store.Get(ctx, r.Key); err != nil || r.Value == nil {
			break
		}
	}
	if err != nil {
		return 0, false, fmt.Errorf("record %x: %w", s.row.Key, err)
	}
	return dataKeys, done, nil
}

func (k Keys) renewRecord(ctx context.Context, r sinks.Row) (done bool, err error) {
	if r.Key[0] == row.RecordName {
		return true, k.renewName(ctx, r)
	}
	plain, err := k.ring.OpenRecord(ctx, r.Key, r.Value)
	if err != nil {
		return false, err
	}
	if form := formOf(r.Key); form != nil {
		if err := parse(plain, form); err != nil {
			return false, err
		}
		if o, ok := form.(*Object); ok && o.Owner != (row.WorkerID{}) {
			return false, nil
		}
		if plain, err = plainOf(form); err != nil {
			return false, err
		}
	}
	return true, k.store.Swap(ctx, r.Key, r.Value, k.ring.SealRecord(r.Key, plain))
}

// formOf returns an empty record of a key's kind; nil for kinds that are stored as plain text.
func formOf(key []byte) any {
	switch key[0] {
	case row.RecordObject:
		return &Object{}
	case row.RecordWaiter:
		return &refForm{}
	case row.RecordObligation:
		if len(key) > 1 && key[1] == pendingRenewal {
			return &renewedForm{}
		}
		return &refForm{}
	case row.RecordDemand:
		if len(key) > 1 && key[1] == demandWanted {
			return &Wanted{}
		}
		return &askedForm{}
	}
	return nil
}

// renewName writes the record of a name anew. A name of an artifact gets the key of today. For a moment it is there under
// both keys, which readers take for one.
func (k Keys) renewName(ctx context.Context, r sinks.Row) error {
	names := Names(k)
	p, err := names.pair(ctx, r)
	if err != nil {
		return err
	}
	if p.Object != "" {
		f := &refForm{Name: p.Name, Object: p.Object}
		_, err := k.replace(ctx, r.Key, r.Value, f)
		return err
	}
	if bytes.Equal(p.key, r.Key) {
		return k.store.Swap(ctx, r.Key, r.Value, k.ring.Mark(r.Key))
	}
	if err := names.mark(ctx, p.key); err != nil {
		return err
	}
	return k.store.Swap(ctx, r.Key, r.Value, nil)
}

func (k Keys) renewArtifact(ctx context.Context, r sinks.Row) (dataKeys int, err error) {
	artifacts := Artifacts{records: k.records}
	old, err := artifacts.read(ctx, r)
	if err != nil {
		return 0, err
	}
	next := *old
	for _, l := range []**row.Loaded{&next.Published, &next.Previous} {
		if *l == nil || len((*l).WrappedKey) == 0 || (*l).KeyVersion == k.ring.Newest() {
			continue
		}
		if *l, err = k.ring.Rewrap(next.ID, *l); err != nil {
			return 0, err
		}
		dataKeys++
	}
	return dataKeys, artifacts.Swap(ctx, old, &next)
}

// CountSealed counts the values that a version of the store key seals. It has the version behind it.
const CountSealed = "sealed/"

// keyCounting is a store whose changes count the versions of the store key that seal their values, if it counts every change.
type keyCounting struct{ sinks.Catalog }

func (k keyCounting) Swap(ctx context.Context, key, old, new []byte) error {
	return k.SwapAll(ctx, []sinks.Change{{Key: key, Old: old, New: new}})[0]
}

func (k keyCounting) SwapAll(ctx context.Context, changes []sinks.Change) []error {
	if _, is := k.Catalog.(sinks.Settler); is {
		return k.Catalog.SwapAll(ctx, changes)
	}
	counted := make([]sinks.Change, len(changes))
	for i, ch := range changes {
		before, was := row.SealedUnder(ch.Old)
		after, is := row.SealedUnder(ch.New)
		if ch.Counts = slices.Clip(ch.Counts); was != is || before != after {
			if is {
				ch.Counts = append(ch.Counts, sinks.Count{Name: CountSealed + strconv.FormatUint(uint64(after), 10), By: 1})
			}
			if was {
				ch.Counts = append(ch.Counts, sinks.Count{Name: CountSealed + strconv.FormatUint(uint64(before), 10), By: -1})
			}
		}
		counted[i] = ch
	}
	return k.Catalog.SwapAll(ctx, counted)
}

// Counts implements sinks.Counter for a store that does.
func (k keyCounting) Counts(ctx context.Context) (counts map[string]int64, whole bool, err error) {
	if c, is := k.Catalog.(sinks.Counter); is {
		return c.Counts(ctx)
	}
	return nil, false, nil
}

// Settle implements sinks.Settler for a store that does.
func (k keyCounting) Settle(ctx context.Context, count func(ctx context.Context, add func([]sinks.Count)) error) (whole bool, err error) {
	if s, is := k.Catalog.(sinks.Settler); is {
		return s.Settle(ctx, count)
	}
	return true, nil
}

// KeyUse counts, by version of the store key, the values that need it.
type KeyUse struct {
	Records  map[uint32]int // values of the catalog
	DataKeys map[uint32]int // data keys of loads
}

// Counted counts the use of each version by the store's counters. Where they do not count every change, it reads the whole
// catalog. A program that destroys a key asks Use.
func (k Keys) Counted(ctx context.Context) (KeyUse, error) {
	counts, whole, err := Counters(k).Read(ctx)
	if _, every := counts[sinks.CountStored]; err != nil || !whole || !every {
		return k.Use(ctx)
	}
	u := KeyUse{map[uint32]int{}, map[uint32]int{}}
	for name, n := range counts {
		for prefix, to := range map[string]map[uint32]int{CountSealed: u.Records, CountWrapped: u.DataKeys} {
			if text, is := strings.CutPrefix(name, prefix); is {
				version, err := strconv.ParseUint(text, 10, 32)
				if err != nil || n < 0 {
					return k.Use(ctx)
				}
				to[uint32(version)] = int(n)
			}
		}
	}
	return u, nil
}

// Use counts the use of each version. It reads the whole catalog.
func (k Keys) Use(ctx context.Context) (KeyUse, error) {
	u := KeyUse{map[uint32]int{}, map[uint32]int{}}
	err := k.store.List(ctx, sinks.Span{}, func(r sinks.Row) error {
		version, ok := row.SealedUnder(r.Value)
		if !ok || r.Key[0] == row.RecordStoreKey {
			return nil
		}
		u.Records[version]++
		if r.Key[0] != row.RecordArtifact {
			return nil
		}
		rec, err := Artifacts{records: k.records}.read(ctx, r)
		if err != nil {
			return err
		}
		for _, l := range rec.keyed() {
			u.DataKeys[l.KeyVersion]++
		}
		return nil
	})
	if err != nil {
		return u, fmt.Errorf("count the use of keys: %w", err)
	}
	return u, nil
}
