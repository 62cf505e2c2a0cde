package ingest

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/symlake/symlake/formats/symbol"
	"github.com/symlake/symlake/ingest/discover"
)

// largeFake is an object of so many functions that several parcels of their ranges are handed over, all over each other.
func largeFake() string {
	var b strings.Builder
	b.WriteString("FAKE\nid " + idA + "\n")
	for i := range 8 * feedRanges {
		fmt.Fprintf(&b, "f %d %d n%d %d\n", i*16, i*16+16+i%3*8, i%977, i*31%9973)
	}
	return b.String()
}

// A load that is alone is encoded while it is swept, and its rows are the same.
func TestEncodedBeside(t *testing.T) {
	var digests []string
	for _, workers := range []int{1, 3} {
		w := newWorld(t)
		w.o.Workers = workers
		w.put("big.so", largeFake())
		if r := w.run(); r.Objects.Loaded != 1 || r.Ranges < 2*feedRanges {
			t.Fatalf("%+v", r)
		}
		digests = append(digests, w.verify())
	}
	if digests[0] != digests[1] {
		t.Fatal("the digest depends on the workers")
	}
}

// What fails beside ends the load, and the next run completes it.
func TestEncodedBesideFails(t *testing.T) {
	whole := newWorld(t)
	whole.put("big.so", largeFake())
	whole.run()
	want := whole.verify()
	for _, n := range []int64{8, 20} {
		w := newWorld(t)
		w.put("big.so", largeFake())
		broken := w.o
		broken.Store = flakyStore(w.store, &flaky{from: n, until: 1 << 60})
		if r, err := Run(t.Context(), []discover.Source{w.src}, broken); err == nil && r.Objects.Failed != 1 {
			t.Fatalf("operation %d: %+v", n, r.Objects)
		}
		w.run()
		if w.verify() != want {
			t.Fatalf("operation %d: the next run does not complete the work", n)
		}
	}
}

// A feed gives its error at the end, whether it came from another goroutine or not, and goes on for the others.
func TestFeedErrors(t *testing.T) {
	for _, runs := range []int{1, 3 * feedRanges} {
		given, others := 0, 0
		f := newFeed(feedParcels, func(*symbol.Script) error { given++; return errStore }, func(*symbol.Script) error { others++; return nil })
		r := symbol.Script{Run: symbol.Run{Strings: []string{""}, Scopes: []symbol.Scope{{Parent: -1}}, Ranges: []symbol.Range{{End: 1}}}}
		for range runs {
			if err := f.write(&r); err != nil {
				t.Fatal(err)
			}
		}
		if err := f.end(); !errors.Is(err, errStore) || given != 1 || others != runs {
			t.Fatalf("%d runs: %d given, %d to the other, %v", runs, given, others, err)
		}
	}
}

// All who take get all runs in their order, and one that comes late holds nobody up until it is some parcels behind.
func TestFeedAhead(t *testing.T) {
	const ahead = (aheadParcels - 1) * feedRanges
	let := make(chan struct{})
	var got [2][]uint64
	f := newFeed(aheadParcels, func(r *symbol.Script) error {
		<-let
		got[0] = append(got[0], r.Ranges[0].Start)
		return nil
	}, func(r *symbol.Script) error {
		if got[1] = append(got[1], r.Ranges[0].Start); len(got[1]) == ahead {
			close(let)
		}
		return nil
	})
	for i := range uint64(3 * ahead) {
		r := symbol.Script{Run: symbol.Run{Scopes: []symbol.Scope{{Parent: -1}}, Ranges: []symbol.Range{{Start: i, End: i + 1}}}}
		if err := f.write(&r); err != nil {
			t.Fatal(err)
		}
	}
	if err := f.end(); err != nil {
		t.Fatal(err)
	}
	for i, starts := range got {
		if len(starts) != 3*ahead || !slices.IsSorted(starts) {
			t.Errorf("taker %d has %d runs of %d, sorted %v", i, len(starts), 3*ahead, slices.IsSorted(starts))
		}
	}
}

// A slot is spare only while nobody holds the last one.
func TestSpareSlot(t *testing.T) {
	x := &object{j: &job{slots: make(chan struct{}, 2)}}
	if err := x.slot(t.Context()); err != nil {
		t.Fatal(err)
	}
	if !x.spareSlot() || x.spareSlot() || x.slots != 2 {
		t.Fatalf("%d slots are held", x.slots)
	}
	x.unslot()
	if x.abandon(errTime); x.slots != 0 || len(x.j.slots) != 0 {
		t.Fatal("slots of what is abandoned are held")
	}
	if x.abandoned = true; x.spareSlot() || len(x.j.slots) != 0 {
		t.Fatal("what is abandoned takes a slot")
	}
}
