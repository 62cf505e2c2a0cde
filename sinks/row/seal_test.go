package row

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
)

// small is a load of one dictionary and a few rows.
func small(t *testing.T) *load {
	k, s := newRing(t)
	strs, runs := synthetic(200, 60)
	l := encode(t, k, artifact(1<<20), strs, runs)
	l.store = s
	if l.rows[0].Key[prefixBytes] != byte(Dictionary) || len(l.rows) < 4 {
		t.Fatalf("%d rows, want a dictionary and three more", len(l.rows))
	}
	return l
}

// add opens one row as what it stands for.
func (l *load) add(o *Opened, i int, r sinks.Row) error {
	if i == 0 {
		fresh, err := l.ring.Open(l.art.ID, l.out)
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
			want := ErrUnauthentic
			if at := bit / 8; at >= rowHeader && at < rowHeader+checkBytes {
				want = ErrSealed // it says that another key sealed it
			}
			if !errors.Is(err, want) {
				t.Errorf("row %d, bit %d: %v, want %v", i, bit, err, want)
			}
		}
		for _, n := range []int{0, 1, rowHeader, rowHeader + checkBytes, 30, len(r.Value) - 1} {
			if err := l.add(o, i, sinks.Row{Key: r.Key, Value: r.Value[:n]}); !errors.Is(err, ErrUnauthentic) {
				t.Errorf("row %d cut to %d bytes: %v", i, n, err)
			}
		}
		for bit := range 8 * len(r.Key) {
			k := bytes.Clone(r.Key)
			k[bit/8] ^= 1 << (bit % 8)
			if err := l.add(o, i, sinks.Row{Key: k, Value: r.Value}); !errors.Is(err, ErrUnauthentic) {
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
			if err := l.add(o, i, q); !errors.Is(err, ErrUnauthentic) {
				t.Errorf("row %d for %d: %v", j, i, err)
			}
			if err := l.add(o, i, sinks.Row{Key: r.Key, Value: q.Value}); !errors.Is(err, ErrUnauthentic) {
				t.Errorf("row %d under the key of %d: %v", j, i, err)
			}
		}
		if err := l.add(o, i, sinks.Row{}); !errors.Is(err, ErrUnauthentic) {
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
			if err := l.add(o, i, from.rows[i]); !errors.Is(err, ErrUnauthentic) {
				t.Errorf("row %d of another load: %v", i, err)
			}
			if err := l.add(o, i, sinks.Row{Key: r.Key, Value: from.rows[i].Value}); !errors.Is(err, ErrSealed) {
				t.Errorf("row %d of another load under our key: %v", i, err)
			}
		}
	}
}

// A lost row is never a hole and never a neighbour: the fence knows it.
func TestRowsMustMatchTheFence(t *testing.T) {
	l := small(t)
	_, last, err := l.out.Fence.rows()
	if err != nil {
		t.Fatal(err)
	}
	// A fence of the same key that skips row 1: row 2 would have to speak for more.
	forged := *l.out
	forged.Fence = slices.Clone(l.out.Fence[:2])
	from := uint64(0)
	for i, v := range last {
		if i != 1 {
			forged.Fence = appendFence(forged.Fence, from, v)
			from = v + 1
		}
	}
	if _, err := l.ring.Open(l.art.ID, &forged); !errors.Is(err, ErrUnauthentic) {
		t.Errorf("a changed fence: %v", err)
	}
	secret, err := l.ring.unwrapData(l.art.ID, l.out)
	if err != nil {
		t.Fatal(err)
	}
	l.ring.wrap(&forged, l.art.ID, secret)
	o, err := l.ring.Open(l.art.ID, &forged)
	if err != nil {
		t.Fatal(err)
	}
	if err := o.SetDictionary(l.rows[0]); err != nil {
		t.Fatal(err)
	}
	if _, err := o.Block(1, l.rows[3]); !errors.Is(err, ErrUnauthentic) || !strings.Contains(err.Error(), "speaks from") {
		t.Errorf("a row that does not begin where the one before ends: %v", err)
	}
	if _, err := l.ring.Open(l.art.ID, l.out); err != nil {
		t.Error(err)
	}
	without, err := l.ring.Open(l.art.ID, l.out)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := without.Block(0, l.rows[1]); err == nil || errors.Is(err, ErrUnauthentic) {
		t.Errorf("a block before its dictionary: %v", err)
	}
}

// The wrapped data key is bound to all that an answer depends on.
func TestWrappedKeyIsBound(t *testing.T) {
	l := small(t)
	for name, change := range map[string]func(*Loaded){
		"base":    func(l *Loaded) { l.Artifact.Base++ },
		"end":     func(l *Loaded) { l.Artifact.End++ },
		"anchor":  func(l *Loaded) { l.Artifact.Anchors = map[string]uint64{"a": 1, "b": 3} },
		"anchors": func(l *Loaded) { l.Artifact.Anchors = nil },
		"load":    func(l *Loaded) { l.Load[7]++ },
		"fence":   func(l *Loaded) { l.Fence = append(slices.Clone(l.Fence), 1) },
		"key":     func(l *Loaded) { l.WrappedKey = bytes.Clone(l.WrappedKey); l.WrappedKey[40] ^= 1 },
	} {
		c := *l.out
		change(&c)
		if _, err := l.ring.Open(l.art.ID, &c); !errors.Is(err, ErrUnauthentic) {
			t.Errorf("another %s: %v", name, err)
		}
	}
	if _, err := l.ring.Open(symbol.NewID(symbol.ELF, "another"), l.out); !errors.Is(err, ErrUnauthentic) {
		t.Errorf("another artifact: %v", err)
	}
	gone := *l.out
	gone.WrappedKey = nil
	if _, err := l.ring.Open(l.art.ID, &gone); !errors.Is(err, ErrShredded) {
		t.Errorf("no key: %v", err)
	}
	other, _ := newRing(t)
	if _, err := other.Open(l.art.ID, l.out); !errors.Is(err, ErrSealed) {
		t.Errorf("another store's key: %v", err)
	}
	later := *l.out
	later.KeyVersion = 9
	if _, err := l.ring.Open(l.art.ID, &later); !errors.Is(err, ErrSealed) {
		t.Errorf("a version that is not there: %v", err)
	}
}

func TestKeyrings(t *testing.T) {
	l := small(t)
	c := l.store.Catalog
	if _, err := OpenKeyring(ctx, c, kek.Ephemeral()); !errors.Is(err, ErrSealed) {
		t.Errorf("another key-encryption key: %v", err)
	}
	if _, err := CreateKeyring(ctx, c, kek.Ephemeral()); !errors.Is(err, ErrSealed) {
		t.Errorf("create under another key-encryption key: %v", err)
	}
	if _, err := OpenKeyring(ctx, noKeys{c}, l.ring.kek); !errors.Is(err, ErrKeyless) {
		t.Errorf("a store without keys: %v", err)
	}
	again, err := CreateKeyring(ctx, c, l.ring.kek)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := again.Open(l.art.ID, l.out); err != nil {
		t.Errorf("opened again: %v", err)
	}
}

// noKeys hides the keys of a catalog.
type noKeys struct{ sinks.Catalog }

func (noKeys) List(ctx context.Context, s sinks.Span, emit func(sinks.Row) error) error { return nil }

func TestSealBindsKeyAndHead(t *testing.T) {
	s, err := newSealer(make([]byte, secretBytes), forRows)
	if err != nil {
		t.Fatal(err)
	}
	head, key := []byte{version1, bodyRanges}, []byte("key")
	v := s.seal(head, key, []byte("text"))
	if got, err := s.open(nil, len(head), key, v); err != nil || string(got) != "text" {
		t.Errorf("%q, %v", got, err)
	}
	if bytes.Equal(v, s.seal(head, key, []byte("text"))) {
		t.Error("sealed twice to the same bytes")
	}
	for name, open := range map[string]func() ([]byte, error){
		"another key":    func() ([]byte, error) { return s.open(nil, len(head), []byte("kez"), v) },
		"a longer key":   func() ([]byte, error) { return s.open(nil, len(head), []byte("key\x00"), v) },
		"another body":   func() ([]byte, error) { return s.open(nil, len(head), key, append([]byte{version1, 9}, v[2:]...)) },
		"another nonce":  func() ([]byte, error) { w := bytes.Clone(v); w[7] ^= 1; return s.open(nil, len(head), key, w) },
		"a longer value": func() ([]byte, error) { return s.open(nil, len(head), key, append(bytes.Clone(v), 0)) },
	} {
		if got, err := open(); !errors.Is(err, ErrUnauthentic) {
			t.Errorf("%s: %q, %v", name, got, err)
		}
	}
	for _, purpose := range []string{forCatalog, forWraps} { // one secret, other purposes
		other, err := newSealer(make([]byte, secretBytes), purpose)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := other.open(nil, len(head), key, v); !errors.Is(err, ErrUnauthentic) {
			t.Errorf("%s: %v", purpose, err)
		}
	}
}
