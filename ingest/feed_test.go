package ingest

import (
	"fmt"
	"strings"
	"testing"

	"github.com/symlake/symlake/ingest/build"
	"github.com/symlake/symlake/ingest/discover"
)

// largeFake is an object of so many functions that several parcels of their ranges are handed over, all over each other.
func largeFake() string {
	var b strings.Builder
	b.WriteString("FAKE\nid " + idA + "\n")
	for i := range 8 * build.FeedRanges {
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
		if r := w.run(); r.Objects.Loaded != 1 || r.Ranges < 2*build.FeedRanges {
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
