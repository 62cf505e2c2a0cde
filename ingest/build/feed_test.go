package build

import (
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/symlake/symlake/formats/symbol"
	"github.com/symlake/symlake/ingest/outcome"
)

var errBroken = errors.New("the taker is broken")

// A feed gives its error at the end, whether it came from another goroutine or not, and goes on for the others.
func TestFeedErrors(t *testing.T) {
	for _, runs := range []int{1, 3 * FeedRanges} {
		given, others := 0, 0
		f := newFeed(feedParcels, func(*symbol.Script) error { given++; return errBroken }, func(*symbol.Script) error { others++; return nil })
		r := symbol.Script{Run: symbol.Run{Strings: []string{""}, Scopes: []symbol.Scope{{Parent: -1}}, Ranges: []symbol.Range{{End: 1}}}}
		for range runs {
			if err := f.write(&r); err != nil {
				t.Fatal(err)
			}
		}
		if err := f.end(); !errors.Is(err, errBroken) || given != 1 || others != runs {
			t.Fatalf("%d runs: %d given, %d to the other, %v", runs, given, others, err)
		}
	}
}

// Each taker gets all runs in their order. A late taker delays the other only when it is some parcels behind.
func TestFeedAhead(t *testing.T) {
	const ahead = (aheadParcels - 1) * FeedRanges
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

// A slot is spare only while no work holds the last one.
func TestSpareSlot(t *testing.T) {
	x := &object{Object: outcome.New(t.Context(), nil, time.Time{}), b: New(Builder{Workers: 2})}
	if err := x.slot(t.Context()); err != nil {
		t.Fatal(err)
	}
	if !x.spareSlot() || x.spareSlot() || x.slots.held != 2 {
		t.Fatalf("%d slots are held", x.slots.held)
	}
	x.unslot()
	if x.abandon(); x.slots.held != 0 || len(x.b.slots) != 0 {
		t.Fatal("slots of what is abandoned are held")
	}
	if x.spareSlot() || len(x.b.slots) != 0 {
		t.Fatal("what is abandoned takes a slot")
	}
}
