package loads

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/symlake/symlake/formats/symbol"
	"github.com/symlake/symlake/sinks"
	"github.com/symlake/symlake/sinks/internal/compact"
	"github.com/symlake/symlake/sinks/row"
	"github.com/symlake/symlake/sinks/row/dictionary"
)

// withUnwind encodes code of one range and call frame information.
func withUnwind(t testing.TB, k *row.Keyring, table []string, ranges []symbol.UnwindRange) (*row.Loaded, []sinks.Row) {
	t.Helper()
	var rows []sinks.Row
	a := artifact(1 << 20)
	e, err := NewEncoder(k, &a, row.NewLoad(time.Unix(1, 0)), nil, dictionary.Table{Strings: []string{"", "f"}, Runs: []uint32{0, 1}}, func(r sinks.Row) error {
		if n := len(rows); n > 0 && bytes.Compare(rows[n-1].Key, r.Key) >= 0 {
			t.Fatalf("row %x after %x", r.Key, rows[n-1].Key)
		}
		rows = append(rows, r)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	run := symbol.Run{Rank: symbol.RankDWARF, Strings: []string{"", "f"}, Scopes: []symbol.Scope{{Parent: -1, Function: 1}}, Ranges: []symbol.Range{{Start: 0, End: 9}}}
	if err := e.Add(&run); err != nil {
		t.Fatal(err)
	}
	for _, g := range ranges {
		if err := e.AddUnwind(g, table); err != nil {
			t.Fatal(err)
		}
	}
	if len(ranges) > 0 && e.Add(&run) == nil {
		t.Fatal("a run is taken after call frame information")
	}
	e.err = nil
	l, err := e.Close()
	if err != nil {
		t.Fatal(err)
	}
	return l, rows
}

// many makes more ranges than a row holds.
func many(n int) (table []string, ranges []symbol.UnwindRange) {
	table = []string{""}
	for i := range 50 {
		table = append(table, fmt.Sprintf("rules %d", i))
	}
	for i := range n {
		ranges = append(ranges, symbol.UnwindRange{Start: uint64(i) * 16, End: uint64(i)*16 + uint64(1+i%16), Rules: uint32(1 + i*i%50)})
	}
	return table, ranges
}

func TestUnwind(t *testing.T) {
	t.Parallel()
	k, _ := newRing(t)
	table, ranges := many(20_000)
	l, rows := withUnwind(t, k, table, ranges)
	var w compact.Writer
	l.Write(&w, l.Artifact.ID)
	fields := compact.NewReader(w.B)
	form := row.ReadLoaded(fields, l.Artifact.ID)
	err := fields.End()
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(form.Unwind, l.Unwind) || form.UnwindRanges != 20_000 || form.UnwindBytes == 0 || form.UnwindBytes != l.UnwindBytes || form.UnwindRows() < 3 {
		t.Errorf("a record says %d rows, %d ranges, %d bytes", form.UnwindRows(), form.UnwindRanges, form.UnwindBytes)
	}
	o, err := Open(k, l.Artifact.ID, form)
	if err != nil {
		t.Fatal(err)
	}
	span, wanted := o.UnwindRules()
	if !wanted || !o.HasUnwind() {
		t.Fatal("no call frame information")
	}
	if err := o.SetUnwindRules(find(t, rows, span)); err != nil {
		t.Fatal(err)
	}
	for i := 0; i < len(ranges); i += 97 {
		g := ranges[i]
		at, ok := o.UnwindIndex(g.End - 1)
		if !ok {
			t.Fatalf("no row for %#x", g.Start)
		}
		b, err := o.Unwinds(at, find(t, rows, o.UnwindRow(at)))
		if err != nil {
			t.Fatal(err)
		}
		n, start, end, ok := b.Find(g.End - 1)
		if !ok || start != g.Start || end != g.End || o.Rules().Get(n) != table[g.Rules] {
			t.Fatalf("at %#x: [%#x, %#x) %q, want [%#x, %#x) %q", g.End-1, start, end, o.Rules().Get(n), g.Start, g.End, table[g.Rules])
		}
	}
	if _, ok := o.UnwindIndex(ranges[len(ranges)-1].End); ok {
		t.Error("a row speaks for a position behind the last range")
	}
}

// The digest of a load without call frame information is what it was. With it, verify computes the digest, and tells of every
// row that is missing, changed or too many.
func TestUnwindDigest(t *testing.T) {
	t.Parallel()
	k, _ := newRing(t)
	table, ranges := many(20_000)
	without, plain := withUnwind(t, k, nil, nil)
	l, rows := withUnwind(t, k, table, ranges)
	again, _ := withUnwind(t, k, table, ranges)
	other, _ := withUnwind(t, k, table, ranges[:len(ranges)-1])
	if l.Digest != again.Digest || l.Digest == without.Digest || l.Digest == other.Digest {
		t.Errorf("digests %x, again %x, without %x, of less %x", l.Digest, again.Digest, without.Digest, other.Digest)
	}
	if without.Unwind != nil || len(plain) != len(rows)-int(l.UnwindRows())-1 {
		t.Errorf("without call frame information %d rows, with it %d", len(plain), len(rows))
	}
	verify := func(rows []sinks.Row) ([32]byte, error) {
		o, err := Open(k, l.Artifact.ID, l)
		if err != nil {
			t.Fatal(err)
		}
		v := o.Verify()
		for _, r := range rows {
			if _, err := v.Add(r); err != nil {
				return [32]byte{}, err
			}
		}
		return v.Digest()
	}
	if got, err := verify(rows); err != nil || got != l.Digest {
		t.Fatalf("verify: %x, %v; want %x", got, err, l.Digest)
	}
	for i := len(plain); i < len(rows); i++ {
		if _, err := verify(slices.Delete(slices.Clone(rows), i, i+1)); !errors.Is(err, row.ErrUnauthentic) {
			t.Errorf("without row %d: %v", i, err)
		}
		changed := slices.Clone(rows)
		changed[i].Value = bytes.Clone(changed[i].Value)
		changed[i].Value[len(changed[i].Value)/2] ^= 1
		if _, err := verify(changed); !errors.Is(err, row.ErrUnauthentic) {
			t.Errorf("with row %d changed: %v", i, err)
		}
	}
	if _, err := verify(append(slices.Clone(rows), rows[len(rows)-1])); !errors.Is(err, row.ErrUnauthentic) {
		t.Errorf("with the last row twice: %v", err)
	}
}
