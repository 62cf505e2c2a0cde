package ingest

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/symlake/symlake/formats/symbol"
	"github.com/symlake/symlake/ingest/upkeep/gc"
	"github.com/symlake/symlake/sinks/catalog"
	"github.com/symlake/symlake/sinks/row"
)

// waiters lists the artifacts that wait for a companion.
func (w *world) waiters(companion string) (ids []symbol.ID) {
	w.t.Helper()
	list, err := w.cat.Waiters.For(w.t.Context(), companion)
	if err != nil {
		w.t.Fatal(err)
	}
	for _, x := range list {
		ids = append(ids, x.Artifact)
	}
	return ids
}

// A companion that adds nothing to an answer still ends the wait for it.
func TestCompanionThatAddsNothing(t *testing.T) {
	w := newWorld(t)
	w.put("x/a.so", needsPart)
	w.run()
	w.put("z/elsewhere", "FAKE\ncompanion dwo:77\n")
	w.run()
	w.verify()
	if l := w.record(idA).Published; len(l.Quality.Missing) > 0 || len(w.waiters("dwo:77")) > 0 {
		t.Fatalf("the load lacks %q, and %v wait", l.Quality.Missing, w.waiters("dwo:77"))
	}
}

// An object that its companion makes unreadable keeps what it published, is told as rejected, and
// is derived again when the companion is mended.
func TestCompanionThatBreaks(t *testing.T) {
	w := newWorld(t)
	w.put("x/a.so", needsPart)
	w.run()
	w.put("z/elsewhere", "FAKE\ncompanion dwo:77\nf 8 4 backwards 1\n")
	r := w.run()
	w.is("x/a.so", catalog.ObjectRejected)
	if len(r.Rejected) != 1 || r.Objects.Rejected != 1 {
		t.Fatalf("told %+v", r.Rejected)
	}
	w.verify()
	w.gc(gc.Options{})
	w.run()
	w.verify()
	w.answers(idA, 0, "main:1")
	w.put("z/elsewhere", hasPart)
	w.run()
	w.answers(idA, 8, "part:2")
	w.verify()
	if len(w.waiters("dwo:77")) > 0 {
		t.Fatal("it waits on")
	}
}

// A companion that breaks one member of an archive has that told, once.
func TestCompanionThatBreaksAMember(t *testing.T) {
	w := newWorld(t)
	w.put("x/a.zip", zipped(t, "a", needsPart, "b", "FAKE\nid "+idB+"\nf 0 8 b 1\n", "c", "FAKE\nbroken\n"))
	w.run()
	w.put("z/elsewhere", "FAKE\ncompanion dwo:77\nf 8 4 backwards 1\n")
	r := w.run()
	w.is("x/a.zip", catalog.ObjectLoaded)
	if len(r.Rejected) != 1 || !strings.HasSuffix(r.Rejected[0].URL, "!a") {
		t.Fatalf("told %+v", r.Rejected)
	}
	w.verify()
	if r := w.run(); len(r.Rejected) > 0 {
		t.Fatalf("told again %+v", r.Rejected)
	}
	w.gc(gc.Options{})
	w.run()
	w.verify()
}

// A load that is held back for its quality leaves a wait that verify does not take for work.
func TestCompanionThatMakesItWorse(t *testing.T) {
	w := newWorld(t)
	w.o.MinQuality = 0.5
	w.put("x/a.so", strings.Replace(needsPart, "f 0 8", "f 0 80", 1))
	w.run()
	w.put("z/elsewhere", "FAKE\ncompanion dwo:77\n")
	w.put("x/a.so", needsPart)
	r := w.run()
	if len(r.Held) == 0 {
		t.Fatalf("nothing is held: %+v", r)
	}
	w.verify()
	w.gc(gc.Options{})
	w.run()
	w.verify()
}

// The build that was published from the earlier content of an object waits on beside its successor.
func TestWaitOfAnEarlierContent(t *testing.T) {
	w := newWorld(t)
	w.put("x/a.so", needsPart)
	w.run()
	w.put("x/a.so", strings.NewReplacer(idA, idB, "77", "88").Replace(needsPart))
	w.run()
	w.put("z/elsewhere", hasPart)
	w.run()
	w.verify()
	w.gc(gc.Options{})
	w.run()
	w.verify()
	w.put("x/a.so", needsPart)
	w.run()
	w.answers(idA, 8, "part:2")
	w.verify()
}

// An archive that no longer has the companion wakes its asker once, when it has the companion again.
func TestCompanionLeftItsArchive(t *testing.T) {
	w := newWorld(t)
	other := strings.ReplaceAll(hasPart, "77", "88")
	w.put("z/1.zip", zipped(t, "far/away", hasPart))
	w.run()
	w.put("z/1.zip", zipped(t, "far/other", other))
	w.run()
	w.put("x/a.so", needsPart)
	w.run()
	w.verify()
	w.gc(gc.Options{})
	w.run()
	w.verify()
	w.put("z/1.zip", zipped(t, "far/other", other, "far/away", hasPart))
	w.run()
	w.answers(idA, 8, "part:2")
	w.verify()
}

// Each artifact of an archive waits and is woken by itself.
func TestTwoMembersLack(t *testing.T) {
	w := newWorld(t)
	w.put("x/a.zip", zipped(t, "a", needsPart, "b", strings.ReplaceAll(needsPart, idA, idB)))
	w.run()
	w.put("z/elsewhere", "FAKE\ncompanion dwo:77\n")
	w.run()
	w.verify()
	if len(w.waiters("dwo:77")) > 0 {
		t.Fatal("they wait on")
	}
}

// An object that comes after a companion of a source that the run does not have is derived again by
// the first run that has both. Runs of its source alone leave it.
func TestCompanionOfAnotherSource(t *testing.T) {
	w := newWorld(t)
	w.put("x/a.so", needsPart)
	w.put("z/elsewhere", hasPart)
	all := w.src
	w.src.Bucket = folder(t, w.dir+"/z")
	w.run()
	w.src.Bucket = folder(t, w.dir+"/x")
	w.run()
	was := w.object("a.so")
	w.now = w.now.Add(1)
	w.run()
	if o := w.object("a.so"); !o.Last.Equal(was.Last) {
		t.Fatal("it was derived again without its companion")
	}
	w.src = all
	w.run()
	w.answers(idA, 8, "part:2")
	w.verify()
}

// An object that obligations bring back after its first reader died enters what it brings to others.
func TestObligationOfAnUnfinishedObject(t *testing.T) {
	w := newWorld(t)
	w.put("x/b.so", strings.NewReplacer(idA, idB, "77", "99").Replace(needsPart))
	w.run()
	w.put("x/a.so", needsPart+"companion dwo:99\nf 8 16 both 3\n")
	w.put("z/elsewhere", "FAKE\ncompanion dwo:77\n")
	url := w.src.Bucket.URL("x/a.so")
	e, _, err := w.src.Bucket.Stat(t.Context(), "x/a.so")
	if err != nil {
		t.Fatal(err)
	}
	o := &catalog.Object{URL: url, ETag: e.ETag, Size: e.Size, State: catalog.ObjectLoading, Owner: row.NewWorkerID()}
	if err := w.cat.Ledger.Swap(t.Context(), nil, o); err != nil {
		t.Fatal(err)
	}
	if err := w.cat.Obligations.Add(t.Context(), "dwo:77", catalog.Waiter{Artifact: elfID(idA), Object: url}); err != nil {
		t.Fatal(err)
	}
	w.o.Only = []string{w.src.Bucket.URL("z/elsewhere")}
	w.run()
	w.is("x/a.so", catalog.ObjectLoaded)
	w.answers(idB, 8, "both:3")
	w.verify()
}

// An object that was moved before its companion came is woken at its new place.
func TestCompanionOfAMovedObject(t *testing.T) {
	w := newWorld(t)
	w.put("x/a.so", needsPart)
	w.run()
	if err := os.Rename(filepath.Join(w.dir, "x/a.so"), filepath.Join(w.dir, "x/b.so")); err != nil {
		t.Fatal(err)
	}
	w.run()
	w.is("x/a.so", catalog.ObjectGone)
	w.put("z/elsewhere", hasPart)
	w.run()
	w.answers(idA, 8, "part:2")
	if len(w.waiters("dwo:77")) > 1 {
		t.Fatal("the new place waits on")
	}
	w.verify()
	w.gc(gc.Options{})
	w.run()
	w.verify()
}
