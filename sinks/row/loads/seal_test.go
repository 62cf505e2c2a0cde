package loads

import (
	"bytes"
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/symlake/symlake/formats/symbol"
	"github.com/symlake/symlake/sinks"
	"github.com/symlake/symlake/sinks/kek"
	"github.com/symlake/symlake/sinks/row"
	"github.com/symlake/symlake/sinks/row/rowtest"
)

// The clear head of a row's value.
const (
	rowHeader  = 2
	checkBytes = 4
)

// small is a load of one dictionary and a few rows.
func small(t *testing.T) *load {
	k, s, key := newRingOf(t)
	strs, runs := rowtest.Synthetic(200, 60)
	l := encode(t, k, artifact(1<<20), strs, runs)
	l.store, l.kek = s, key
	if l.rows[0].Key[sinks.PrefixBytes] != byte(row.Dictionary) || len(l.rows) < 4 {
		t.Fatalf("%d rows, want a dictionary and three more", len(l.rows))
	}
	return l
}

// add opens one row as what it stands for.
func (l *load) add(o *Opened, i int, r sinks.Row) error {
	if i == 0 {
		fresh, err := Open(l.ring, l.art.ID, l.out)
		if err != nil {
			return err
		}
		return fresh.SetDictionary(r)
	}
	_, err := o.Block(i-1, r)
	return err
}

func TestFlippedBit(t *testing.T) {
	l := small(t)
	o := l.open(t)
	for i, r := range l.rows {
		if err := l.add(o, i, r); err != nil {
			t.Fatal(err)
		}
		for bit := 0; bit < 8*len(r.Value); bit += 1 + len(r.Value)/7 {
			v := bytes.Clone(r.Value)
			v[bit/8] ^= 1 << (bit % 8)
			err := l.add(o, i, sinks.Row{Key: r.Key, Value: v})
			want := row.ErrUnauthentic
			if at := bit / 8; at >= rowHeader && at < rowHeader+checkBytes {
				want = row.ErrSealed // it says that another key sealed it
			}
			if !errors.Is(err, want) {
				t.Errorf("row %d, bit %d: %v, want %v", i, bit, err, want)
			}
		}
		for _, n := range []int{0, 1, rowHeader, rowHeader + checkBytes, 30, len(r.Value) - 1} {
			if err := l.add(o, i, sinks.Row{Key: r.Key, Value: r.Value[:n]}); !errors.Is(err, row.ErrUnauthentic) {
				t.Errorf("row %d cut to %d bytes: %v", i, n, err)
			}
		}
		for bit := range 8 * len(r.Key) {
			k := bytes.Clone(r.Key)
			k[bit/8] ^= 1 << (bit % 8)
			if err := l.add(o, i, sinks.Row{Key: k, Value: r.Value}); !errors.Is(err, row.ErrUnauthentic) {
				t.Errorf("row %d, bit %d of the key: %v", i, bit, err)
			}
		}
	}
}

// A row does not open in another's place, even when it claims its key.
func TestMovedRow(t *testing.T) {
	l := small(t)
	o := l.open(t)
	for i, r := range l.rows {
		for j, q := range l.rows {
			if i == j {
				continue
			}
			if err := l.add(o, i, q); !errors.Is(err, row.ErrUnauthentic) {
				t.Errorf("row %d for %d: %v", j, i, err)
			}
			if err := l.add(o, i, sinks.Row{Key: r.Key, Value: q.Value}); !errors.Is(err, row.ErrUnauthentic) {
				t.Errorf("row %d under the key of %d: %v", j, i, err)
			}
		}
		if err := l.add(o, i, sinks.Row{}); !errors.Is(err, row.ErrUnauthentic) {
			t.Errorf("no row for %d: %v", i, err)
		}
	}
	// The same content, under the same store key: another load, another artifact.
	other := encode(t, l.ring, l.art, l.runs[0].Strings, l.runs)
	stranger := l.art
	stranger.ID = symbol.NewID(symbol.ELF, "another")
	third := encode(t, l.ring, stranger, l.runs[0].Strings, l.runs)
	for i, r := range l.rows {
		for _, from := range []*load{other, third} {
			if err := l.add(o, i, from.rows[i]); !errors.Is(err, row.ErrUnauthentic) {
				t.Errorf("row %d of another load: %v", i, err)
			}
			if err := l.add(o, i, sinks.Row{Key: r.Key, Value: from.rows[i].Value}); !errors.Is(err, row.ErrSealed) {
				t.Errorf("row %d of another load under our key: %v", i, err)
			}
		}
	}
}

// A lost row is never a hole and never a neighbor: the fence knows it.
func TestRowsMustMatchTheFence(t *testing.T) {
	l := small(t)
	_, last, err := l.out.Fence.Rows()
	if err != nil {
		t.Fatal(err)
	}
	// A fence of the same key that skips row 1: row 2 would have to speak for more.
	forged := *l.out
	forged.Fence = slices.Clone(l.out.Fence[:2])
	from := uint64(0)
	for i, v := range last {
		if i != 1 {
			forged.Fence = forged.Fence.Append(from, v)
			from = v + 1
		}
	}
	if _, err := Open(l.ring, l.art.ID, &forged); !errors.Is(err, row.ErrUnauthentic) {
		t.Errorf("a changed fence: %v", err)
	}
	secret, err := l.ring.Unwrap(l.art.ID, l.out)
	if err != nil {
		t.Fatal(err)
	}
	l.ring.Wrap(&forged, l.art.ID, secret)
	o, err := Open(l.ring, l.art.ID, &forged)
	if err != nil {
		t.Fatal(err)
	}
	if err := o.SetDictionary(l.rows[0]); err != nil {
		t.Fatal(err)
	}
	if _, err := o.Block(1, l.rows[3]); !errors.Is(err, row.ErrUnauthentic) || !strings.Contains(err.Error(), "speaks from") {
		t.Errorf("a row that does not begin where the one before ends: %v", err)
	}
	if _, err := Open(l.ring, l.art.ID, l.out); err != nil {
		t.Error(err)
	}
	without, err := Open(l.ring, l.art.ID, l.out)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := without.Block(0, l.rows[1]); err == nil || errors.Is(err, row.ErrUnauthentic) {
		t.Errorf("a block before its dictionary: %v", err)
	}
}

// The wrapped data key is bound to all that an answer depends on.
func TestWrappedKeyIsBound(t *testing.T) {
	l := small(t)
	for name, change := range map[string]func(*row.Loaded){
		"base":    func(l *row.Loaded) { l.Artifact.Base++ },
		"end":     func(l *row.Loaded) { l.Artifact.End++ },
		"anchor":  func(l *row.Loaded) { l.Artifact.Anchors = map[string]uint64{"a": 1, "b": 3} },
		"anchors": func(l *row.Loaded) { l.Artifact.Anchors = nil },
		"load":    func(l *row.Loaded) { l.Load[7]++ },
		"fence":   func(l *row.Loaded) { l.Fence = append(slices.Clone(l.Fence), 1) },
		"key":     func(l *row.Loaded) { l.WrappedKey = bytes.Clone(l.WrappedKey); l.WrappedKey[40] ^= 1 },
	} {
		c := *l.out
		change(&c)
		if _, err := Open(l.ring, l.art.ID, &c); !errors.Is(err, row.ErrUnauthentic) {
			t.Errorf("another %s: %v", name, err)
		}
	}
	if _, err := Open(l.ring, symbol.NewID(symbol.ELF, "another"), l.out); !errors.Is(err, row.ErrUnauthentic) {
		t.Errorf("another artifact: %v", err)
	}
	gone := *l.out
	gone.WrappedKey = nil
	if _, err := Open(l.ring, l.art.ID, &gone); !errors.Is(err, row.ErrShredded) {
		t.Errorf("no key: %v", err)
	}
	other, _ := newRing(t)
	if _, err := Open(other, l.art.ID, l.out); !errors.Is(err, row.ErrSealed) {
		t.Errorf("another store's key: %v", err)
	}
	later := *l.out
	later.KeyVersion = 9
	if _, err := Open(l.ring, l.art.ID, &later); !errors.Is(err, row.ErrSealed) {
		t.Errorf("a version that is not there: %v", err)
	}
}

func TestKeyrings(t *testing.T) {
	l := small(t)
	c := l.store.Catalog
	if _, err := row.OpenKeyring(ctx, c, kek.Ephemeral()); !errors.Is(err, row.ErrSealed) {
		t.Errorf("another key-encryption key: %v", err)
	}
	if _, err := row.CreateKeyring(ctx, c, kek.Ephemeral()); !errors.Is(err, row.ErrSealed) {
		t.Errorf("create under another key-encryption key: %v", err)
	}
	if _, err := row.OpenKeyring(ctx, noKeys{c}, l.kek); !errors.Is(err, row.ErrKeyless) {
		t.Errorf("a store without keys: %v", err)
	}
	again, err := row.CreateKeyring(ctx, c, l.kek)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Open(again, l.art.ID, l.out); err != nil {
		t.Errorf("opened again: %v", err)
	}
}

// noKeys hides the keys of a catalog.
type noKeys struct{ sinks.Catalog }

func (noKeys) List(ctx context.Context, s sinks.Span, emit func(sinks.Row) error) error { return nil }
