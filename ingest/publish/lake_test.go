package publish

import (
	"testing"
	"time"
)

// A batch of the lake takes a bounded number of loads: the object of each waits for its commit.
func TestBatchEnds(t *testing.T) {
	var p Publisher
	b := &Batch{since: time.Now()}
	for n := range lakeLoads {
		if b.full {
			t.Fatalf("full after %d loads", n)
		}
		p.batches.idle = nil
		p.GiveBatch(b, 1, false)
	}
	if !b.full || len(p.batches.idle) > 0 {
		t.Errorf("%d loads, and it takes more", b.given)
	}

	// Waits for facts count, too.
	b, other := &Batch{since: time.Now(), given: lakeLoads - 1}, &Batch{}
	p.batches.idle = []*Batch{b, other}
	if p.batches.count(b); !p.batches.due(b) || len(p.batches.idle) != 1 || p.batches.idle[0] != other {
		t.Errorf("%d loads and waits, and it takes more", b.given)
	}
	if p.batches.count(b); p.batches.due(b) {
		t.Error("it is committed twice")
	}
}
