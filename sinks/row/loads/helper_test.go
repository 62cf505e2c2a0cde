package loads

import (
	"encoding/binary"
	"testing"
	"time"

	"github.com/symlake/symlake/formats/symbol"
	"github.com/symlake/symlake/sinks"
	"github.com/symlake/symlake/sinks/kek"
	"github.com/symlake/symlake/sinks/mem"
	"github.com/symlake/symlake/sinks/row"
	"github.com/symlake/symlake/sinks/row/dictionary"
	"github.com/symlake/symlake/sinks/row/rowtest"
)

// load is what a test encoded, and what it encoded it from.
type load struct {
	ring  *row.Keyring
	store *sinks.Store
	kek   sinks.KEK
	art   symbol.Artifact
	runs  []*symbol.Run
	marks [][]symbol.Mark // by run, of a script
	rows  []sinks.Row
	out   *row.Loaded
}

type fataler interface {
	Helper()
	Fatal(args ...any)
	Fatalf(format string, args ...any)
}

func newRing(t fataler) (*row.Keyring, *sinks.Store) {
	t.Helper()
	k, s, _ := newRingOf(t)
	return k, s
}

func newRingOf(t fataler) (*row.Keyring, *sinks.Store, sinks.KEK) {
	t.Helper()
	s, key := mem.New(), kek.Ephemeral()
	k, err := row.CreateKeyring(ctx, s.Catalog, key)
	if err != nil {
		t.Fatal(err)
	}
	return k, s, key
}

// rowKey is the key of a row of ranges.
func rowKey(id symbol.ID, l sinks.Load, last uint64) []byte {
	return binary.BigEndian.AppendUint64(append(row.LoadPrefix(id, l), byte(row.Ranges)), last)
}

func artifact(end uint64) symbol.Artifact {
	return symbol.Artifact{ID: symbol.NewID(symbol.ELF, "c0ffee"), Kind: symbol.ELF, Canonical: "c0ffee",
		Arch: "x86_64", End: end, Anchors: map[string]uint64{"b": 2, "a": 1}}
}

// tableOf counts the runs that use each string.
func tableOf(strs []string, runs []*symbol.Run) dictionary.Table {
	t := dictionary.Table{Strings: strs, Runs: make([]uint32, len(strs))}
	for _, r := range runs {
		seen := map[uint32]bool{}
		for _, s := range r.Scopes {
			seen[s.Function], seen[s.Call.File] = true, true
		}
		for _, g := range r.Ranges {
			seen[g.At.File] = true
		}
		for s := range seen {
			t.Runs[s]++
		}
	}
	return t
}

func encode(t fataler, k *row.Keyring, a symbol.Artifact, strs []string, runs []*symbol.Run) *load {
	t.Helper()
	return encodeMarked(t, k, a, strs, runs, nil)
}

func encodeScript(t fataler, k *row.Keyring, a symbol.Artifact, strs []string, scripts []*symbol.Script) *load {
	t.Helper()
	var runs []*symbol.Run
	marks := [][]symbol.Mark{}
	for _, s := range scripts {
		runs, marks = append(runs, &s.Run), append(marks, s.Marks)
	}
	return encodeMarked(t, k, a, strs, runs, marks)
}

func encodeMarked(t fataler, k *row.Keyring, a symbol.Artifact, strs []string, runs []*symbol.Run, marks [][]symbol.Mark) *load {
	t.Helper()
	l := &load{ring: k, art: a, runs: runs, marks: marks}
	e, err := NewEncoder(k, &a, row.NewLoad(time.Unix(1, 0)), nil, tableOf(strs, runs), func(r sinks.Row) error {
		if n := len(l.rows); n > 0 && string(l.rows[n-1].Key) >= string(r.Key) {
			t.Fatalf("row %x after %x", r.Key, l.rows[n-1].Key)
		}
		l.rows = append(l.rows, r)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for i, r := range runs {
		if marks != nil {
			err = e.AddScript(&symbol.Script{Run: *r, Marks: marks[i]})
		} else {
			err = e.Add(r)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if l.out, err = e.Close(); err != nil {
		t.Fatal(err)
	}
	return l
}

// open gives the load opened, its dictionary set.
func (l *load) open(t fataler) *Opened {
	t.Helper()
	o, err := Open(l.ring, l.art.ID, l.out)
	if err != nil {
		t.Fatal(err)
	}
	if s, ok := o.Dictionary(); ok {
		r := l.row(s)
		if err := o.SetDictionary(r); err != nil {
			t.Fatal(err)
		}
	}
	return o
}

// row is the first row of a span, as a store gives it.
func (l *load) row(s sinks.Span) sinks.Row {
	for _, r := range l.rows {
		if string(r.Key) >= string(s.From) && string(r.Key) < string(s.Stop) {
			return r
		}
	}
	return sinks.Row{}
}

func (l *load) blocks(t fataler, o *Opened) []*Block {
	t.Helper()
	var bs []*Block
	for i := range o.Rows() {
		b, err := o.Block(i, l.row(o.Row(i)))
		if err != nil {
			t.Fatal(err)
		}
		bs = append(bs, b)
	}
	return bs
}

// naive answers a position by looking at every range.
func (l *load) naive(pos uint64) (frames []symbol.Frame, found bool) {
	for k, r := range l.runs {
		for i, g := range r.Ranges {
			if g.Start > pos || pos >= g.End {
				continue
			}
			if l.marks != nil {
				return (&symbol.Script{Run: *r, Marks: l.marks[k]}).Chain(i, nil), true
			}
			return r.Chain(i, nil), true
		}
	}
	return nil, false
}

func realSynthetic(t testing.TB) *load {
	k, _ := newRing(t)
	strs, runs := rowtest.Synthetic(2000, 60)
	last := runs[len(runs)-1].Ranges
	return encode(t, k, artifact(last[len(last)-1].End+100), strs, runs)
}
