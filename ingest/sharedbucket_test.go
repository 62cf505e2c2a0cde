package ingest

import (
	"testing"

	"github.com/symlake/symlake/ingest/discover"
)

// shared is a bucket that two owners share: each has the keys of one folder.
func shared(t *testing.T) *teams {
	w := &teams{world: newWorld(t)}
	w.put("a/readme", "hello")
	w.sources = []discover.Source{
		{Bucket: w.src.Bucket, Include: []string{"a/**"}, Owner: teamA.Owner, Rank: teamA.Rank},
		{Bucket: w.src.Bucket, Include: []string{"b/**"}, Owner: teamB.Owner, Rank: teamB.Rank},
	}
	return w
}

// TestWakeInASharedBucket: an object that is derived again stays its owner's, and a run without its source leaves it.
func TestWakeInASharedBucket(t *testing.T) {
	w := shared(t)
	w.put("b/lib.so", needsPart)
	w.ingest(0, 1)
	w.put("a/part", hasPart)
	w.ingest(0)
	if s := w.object("b/lib.so").Standing; s != teamB {
		t.Fatalf("it was read as of %+v", s)
	}
	w.answers(idA, 8, "")
	w.ingest(0, 1)
	if s := w.object("b/lib.so").Standing; s != teamB {
		t.Fatalf("it was read as of %+v", s)
	}
	if l := w.record(idA).Published; l.Claimed() != teamB {
		t.Fatalf("it belongs to %+v", l.Claimed())
	}
	w.answers(idA, 8, "part:2")
	w.verify()
}

// TestCompanionInASharedBucket: a companion counts as its owner's also in a run that has only the asker's source.
func TestCompanionInASharedBucket(t *testing.T) {
	w := shared(t)
	w.put("b/part", hasPart)
	w.ingest(1)
	w.put("a/lib.so", needsPart)
	w.ingest(0)
	w.answers(idA, 8, "")
	w.verify()
	w.ingest(0, 1)
	w.answers(idA, 8, "")
	w.verify()
}

// TestNeighborOfAnotherOwner: a companion's name that leads into another owner's folder finds nothing there.
func TestNeighborOfAnotherOwner(t *testing.T) {
	for name, runs := range map[string][]int{"both sources": {0, 1}, "the asker's source": {0}} {
		t.Run(name, func(t *testing.T) {
			w := shared(t)
			w.put("b/part.dwo", hasPart)
			w.ingest(1)
			w.put("a/lib.so", "FAKE\nid "+idA+"\nneed name ../b/part.dwo\nf 0 8 main 1\n")
			r := w.ingest(runs...)
			w.answers(idA, 8, "")
			if len(r.Warnings) != 1 {
				t.Errorf("warnings %+v", r.Warnings)
			}
			w.verify()
			w.ingest(0, 1)
			w.answers(idA, 8, "")
			w.verify()
		})
	}
}
