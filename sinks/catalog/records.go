package catalog

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/symlake/symlake/formats/symbol"
	"github.com/symlake/symlake/sinks"
	"github.com/symlake/symlake/sinks/internal/compact"
	"github.com/symlake/symlake/sinks/row"
)

// records reads and writes the records of one store. It seals them on the way in and
// authenticates them on the way out. Safe for concurrent use.
type records struct {
	store sinks.Catalog
	ring  *row.Keyring
}

// open opens a record and reads it into to.
func (r records) open(ctx context.Context, rec sinks.Row, to any) error {
	plain, err := r.ring.OpenRecord(ctx, rec.Key, rec.Value)
	if err != nil {
		return err
	}
	return parse(plain, to)
}

// replace replaces the bytes old of a record by form, sealed, and returns the new bytes. old
// nil: the store must have no such record. sinks.ErrConflict: the store has other bytes.
func (r records) replace(ctx context.Context, key, old []byte, form any) ([]byte, error) {
	plain, err := plainOf(form)
	if err != nil {
		return nil, err
	}
	value := r.ring.SealRecord(key, plain)
	return value, r.store.Swap(ctx, key, old, value)
}

// put writes a record over any other. Of two calls at once either may win.
func (r records) put(ctx context.Context, key []byte, form any) error {
	old, err := r.store.Get(ctx, key)
	if err == nil {
		_, err = r.replace(ctx, key, old, form)
	}
	if errors.Is(err, sinks.ErrConflict) {
		return nil
	}
	return err
}

// remove deletes a record, which may be gone already.
func (r records) remove(ctx context.Context, key []byte) error {
	for {
		old, err := r.store.Get(ctx, key)
		if err != nil || old == nil {
			return err
		}
		if err := r.store.Swap(ctx, key, old, nil); !errors.Is(err, sinks.ErrConflict) {
			return err
		}
	}
}

// formVersion is the first byte of a record's fields. JSON begins with a brace. Durable.
const formVersion = 1

// fields is a record that has a compact form.
type fields interface {
	write(w *compact.Writer)
	// read reads what write wrote. It may keep the reader's bytes.
	read(r *compact.Reader)
}

// plainOf returns the plain text of a record: its fields, or JSON where it has no compact form.
func plainOf(form any) ([]byte, error) {
	f, ok := form.(fields)
	if !ok {
		return json.Marshal(form)
	}
	w := compact.Writer{B: []byte{formVersion}}
	f.write(&w)
	return w.B, nil
}

// isJSON reports whether a plain text is the JSON of earlier versions, or of a record without a compact form.
func isJSON(plain []byte) bool { return len(plain) > 0 && plain[0] == '{' }

// reader returns a reader of the fields in a plain text.
func reader(plain []byte) (*compact.Reader, error) {
	switch {
	case len(plain) == 0:
		return nil, fmt.Errorf("%w: it is empty", row.ErrUnauthentic)
	case plain[0] != formVersion:
		return nil, fmt.Errorf("%w: its form is %d, this one knows %d", compact.ErrNewer, plain[0], formVersion)
	}
	return compact.NewReader(plain[1:]), nil
}

// parse reads the plain text of a record into to, in either form.
func parse(plain []byte, to any) error {
	f, ok := to.(fields)
	if !ok || isJSON(plain) {
		if err := json.Unmarshal(plain, to); err != nil {
			return fmt.Errorf("%w: %w", row.ErrUnauthentic, err)
		}
		return nil
	}
	r, err := reader(plain)
	if err != nil {
		return err
	}
	f.read(r)
	return damage(r.End())
}

// damage marks an error of a reader as row.ErrUnauthentic, unless the record is of a newer version.
func damage(err error) error {
	if err == nil || errors.Is(err, compact.ErrNewer) {
		return err
	}
	return fmt.Errorf("%w: %w", row.ErrUnauthentic, err)
}

// get returns the record under key, or nil, nil. The store's errors say which record was read: what
// and of name it.
func get[T any](ctx context.Context, r records, what string, of any, key []byte, parse func(context.Context, sinks.Row) (*T, error)) (*T, error) {
	value, err := r.store.Get(ctx, key)
	if err != nil {
		return nil, fmt.Errorf("read %s %s: %w", what, of, err)
	}
	if value == nil {
		return nil, nil
	}
	return parse(ctx, sinks.Row{Key: key, Value: value})
}

// each emits the records of a span, in the order of their keys.
func each[T any](ctx context.Context, r records, s sinks.Span, parse func(context.Context, sinks.Row) (*T, error), emit func(*T) error) error {
	return r.store.List(ctx, s, func(rec sinks.Row) error {
		x, err := parse(ctx, rec)
		if err != nil {
			return err
		}
		return emit(x)
	})
}

// stored holds the bytes of a record as this process read or wrote them. A swap compares with them.
type stored struct{ raw []byte }

func (s *stored) bytes() *[]byte { return &s.raw }

// swap replaces old by new in one step. form is new, or new as JSON has it. old is nil (the store must have no such
// record), or a record that this process read or wrote. new nil deletes. sinks.ErrConflict: the
// store's record is not old.
func swap[T any, P interface {
	*T
	bytes() *[]byte
}](ctx context.Context, r records, old, new P, key func(P) []byte, form any) error {
	var was []byte
	if old != nil {
		if was = *old.bytes(); was == nil {
			return errors.New("the old one was never read")
		}
		if new != nil && !bytes.Equal(key(old), key(new)) {
			return fmt.Errorf("the new one has key %x", key(new))
		}
	}
	ch := sinks.Change{Key: key(cmp.Or(old, new)), Old: was}
	var err error
	if ch.Counts, err = countsOf(r, (*T)(old), (*T)(new)); err != nil {
		return err
	}
	if new != nil {
		plain, err := plainOf(form)
		if err != nil {
			return err
		}
		ch.New = r.ring.SealRecord(ch.Key, plain)
	}
	if err := r.store.SwapAll(ctx, []sinks.Change{ch})[0]; err != nil {
		return err
	}
	if new != nil {
		*new.bytes() = ch.New
	}
	return nil
}

// counted is a record that counters of the store sum up.
type counted interface {
	// counts calls add for each counter that the record adds to. The error is of a record that was not read whole. r gives
	// names their keys.
	counts(r records, add func(sinks.Count)) error
}

// countKey counts a key.
func countKey(counter string, key []byte) sinks.Count {
	return sinks.Count{Name: counter, By: sinks.Sum(key)}
}

// nameKey is the key of an artifact's name: 'n' ‖ tag ‖ artifact.
func (r records) nameKey(name string, id symbol.ID) []byte {
	return slices.Concat([]byte{row.RecordName}, r.ring.Tag(row.RecordName, strings.ToLower(name)), id[:])
}

// countsOf returns what replacing old by new does to the counters; nothing if records of their kind are not counted.
func countsOf[T any](r records, old, new *T) ([]sinks.Count, error) {
	if _, is := any(new).(counted); !is {
		return nil, nil
	}
	var list []sinks.Count
	sum := func(x *T, by int64) error {
		if x == nil {
			return nil
		}
		return any(x).(counted).counts(r, func(c sinks.Count) {
			if c.By *= by; c.Most && by < 0 {
				return
			}
			if at := slices.IndexFunc(list, func(o sinks.Count) bool { return o.Name == c.Name && !c.Most }); at >= 0 {
				list[at].By += c.By
				return
			}
			list = append(list, c)
		})
	}
	if err := errors.Join(sum(new, 1), sum(old, -1)); err != nil {
		return nil, err
	}
	return slices.DeleteFunc(list, func(c sinks.Count) bool { return c.By == 0 }), nil
}

// Counters are the store's counters, for the records of artifacts and of the ledger.
type Counters struct{ records }

// Read returns the counters that are not 0. whole is false if the store does not count, or held records before it did.
func (c Counters) Read(ctx context.Context) (counts map[string]int64, whole bool, err error) {
	counter, is := c.store.(sinks.Counter)
	if !is {
		return nil, false, nil
	}
	counts, whole, err = counter.Counts(ctx)
	if err != nil {
		return nil, false, fmt.Errorf("read the store's counters: %w", err)
	}
	return counts, whole, nil
}

// settle makes the counters whole again, if the store says that they may cease to be so. each gives all records that are
// counted.
func (c Counters) settle(ctx context.Context, each func(context.Context, func(counted) error) error) error {
	s, is := c.store.(sinks.Settler)
	if !is {
		return nil
	}
	_, err := s.Settle(ctx, func(ctx context.Context, add func([]sinks.Count)) error {
		return each(ctx, func(x counted) error {
			var list []sinks.Count
			err := x.counts(c.records, func(n sinks.Count) { list = append(list, n) })
			add(list)
			return err
		})
	})
	if err != nil {
		return fmt.Errorf("settle the store's counters: %w", err)
	}
	return nil
}

// Change replaces Old by New, as the Swap of their part does.
type Change[T any] struct{ Old, New *T }

// swapAll carries out changes of unlike records with one call of the store, and returns an error for each. name names
// a record in errors.
func swapAll[T any, P interface {
	*T
	bytes() *[]byte
}](ctx context.Context, r records, list []Change[T], key func(P) []byte, name func(P) string) []error {
	errs := make([]error, len(list))
	var changes []sinks.Change
	var at []int // by change
	for i, c := range list {
		of := cmp.Or(P(c.New), P(c.Old))
		if of == nil {
			continue
		}
		ch := sinks.Change{Key: key(of)}
		if old := P(c.Old); old != nil {
			if ch.Old = *old.bytes(); ch.Old == nil {
				errs[i] = fmt.Errorf("swap %s: the old one was never read", name(of))
				continue
			}
			if !bytes.Equal(key(old), ch.Key) {
				errs[i] = fmt.Errorf("swap %s: the new one has key %x", name(old), ch.Key)
				continue
			}
		}
		if c.New != nil {
			plain, err := plainOf(c.New)
			if err != nil {
				errs[i] = fmt.Errorf("swap %s: %w", name(of), err)
				continue
			}
			ch.New = r.ring.SealRecord(ch.Key, plain)
		}
		var err error
		if ch.Counts, err = countsOf(r, c.Old, c.New); err != nil {
			errs[i] = fmt.Errorf("swap %s: %w", name(of), err)
			continue
		}
		changes, at = append(changes, ch), append(at, i)
	}
	for n, err := range r.store.SwapAll(ctx, changes) {
		c := list[at[n]]
		switch {
		case err != nil:
			errs[at[n]] = fmt.Errorf("swap %s: %w", name(cmp.Or(P(c.New), P(c.Old))), err)
		case c.New != nil:
			*P(c.New).bytes() = changes[n].New
		}
	}
	return errs
}
