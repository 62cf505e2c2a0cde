package ingest

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/symlake/symlake/formats"
	"github.com/symlake/symlake/formats/symbol"
	"github.com/symlake/symlake/ingest/publish"
	"github.com/symlake/symlake/ingest/report"
	"github.com/symlake/symlake/sinks/catalog"
)

const (
	idA = "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
	idB = "bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb"
	idC = "cccccccccccccccccccccccccccccccccccccccc"
)

func TestRun(t *testing.T) {
	w := newWorld(t)
	w.put("a/liba.so", "FAKE\nid "+idA+"\nf 16 32 one 5\npart\nf 32 48 two 6\nf 40 64 three 7\n")
	w.put("b/libb.so", "FAKE\nid "+idB+"\nf 0 8 b 1\nbroken\n")
	w.put("c/libc.so", "FAKE\nid "+idC+"\nbroken\n")
	w.put("readme.txt", "hello")
	w.put("empty.so", "FAKE\n")
	w.put("z.apk", zipped(t, "lib/x.so", "FAKE\nid "+idB+"\nf 0 8 x 1\n", "lib/y.so", "FAKE\nbroken\n", "picture.png", "no symbols"))
	r := w.run()
	want := report.ObjectCounts{Seen: 6, New: 6, Loaded: 2, Skipped: map[string]int{"unknown-format": 1, "no-symbols": 1}, Rejected: 2}
	if !reflect.DeepEqual(r.Objects, want) {
		t.Fatalf("%+v, want %+v", r.Objects, want)
	}
	if r.Artifacts != 2 || r.Ranges != 4 || len(r.Rejected) != 3 || r.Bytes.Stored == 0 {
		t.Fatalf("%+v", r)
	}
	if got := r.Rejected[2].URL; !strings.HasSuffix(got, "z.apk!lib/y.so") {
		t.Fatal(got)
	}
	w.answers(idA, 16, "one:5")
	w.answers(idA, 47, "two:6")
	w.answers(idA, 48, "three:7")
	w.answers(idA, 64, "")
	w.answers(idB, 7, "x:1")
	rec := w.record(idA)
	if q := rec.Published.Quality; q.Units != 2 || q.Covered != 48 || q.WithLine != 48 {
		t.Fatalf("%+v", q)
	}
	if s := w.record(idB).Published.Source; s.Member != "lib/x.so" || len(rec.Progress) != 0 {
		t.Fatalf("%+v %+v", s, rec.Progress)
	}
	first := w.verify()

	// Nothing is new: nothing is opened, nothing changes. A rejected object
	// stays so.
	taking := 0
	w.o.Taking = func() { taking++ }
	r = w.run()
	if want := (report.ObjectCounts{Seen: 6, Skipped: map[string]int{}}); !reflect.DeepEqual(r.Objects, want) || taking != 0 {
		t.Fatalf("%+v, %d times taking", r.Objects, taking)
	}
	if w.verify() != first {
		t.Fatal("the digest changed")
	}
	w.o.Retry = true
	if r = w.run(); r.Objects.New != 2 || r.Objects.Rejected != 2 || taking != 1 {
		t.Fatalf("%+v, %d times taking", r.Objects, taking)
	}
	w.o.Retry = false

	// A raised parser version looks again at objects that gave nothing; loaded ones wait for --rederive.
	w.o.Formats = []*formats.Format{fake(2), w.o.Formats[1]}
	if r = w.run(); r.Objects.New != 4 || r.Objects.Loaded != 0 || w.record(idA).Published.Parser != 1 {
		t.Fatalf("%+v", r.Objects)
	}
	rejects := r
	w.o.Rederive = true
	if r = w.run(); r.Objects.New != 2 || r.Objects.Loaded != 2 || w.record(idA).Published.Parser != 2 {
		t.Fatalf("%+v", r.Objects)
	}
	if r = w.run(); r.Objects.New != 0 {
		t.Fatalf("%+v", r.Objects)
	}
	w.o.Rederive = false
	if w.record(idA).Previous == nil || w.verify() != first {
		t.Fatal("the previous load is gone, or the content changed")
	}
	if b, err := json.Marshal(rejects); err != nil || !strings.Contains(string(b), `"rejected":[{"url":"file:`) {
		t.Fatalf("%s %v", b, err)
	}
}

// Names: of the artifact, of app and build, and of objects that are not loaded.
func TestNames(t *testing.T) {
	w := newWorld(t)
	w.src.Names = "android/{app}/{build}/**"
	w.put("android/shop/12/x/liba.so", "FAKE\nid "+idA+"\nf 0 8 a 1\n")
	w.put("android/shop/13/x/liba.so", "FAKE\nid "+idA+"\nf 0 8 a 1\n")
	w.put("libb.so", "FAKE\nid "+idB+"\nf 0 8 b 1\n")
	w.put("libb.so.symlake.json", `{"app":"mail","build":"7"}`)
	w.put(".build-id/cc/cccccccccccccccccccccccccccccccccccccc.debug", "FAKE\nbroken")
	w.run()
	lead := func(name string, ids ...string) {
		t.Helper()
		refs, err := w.cat.Names.Find(t.Context(), name, 0)
		if err != nil || len(refs) != len(ids) {
			t.Fatalf("%s leads to %v, %v", name, refs, err)
		}
		for i, id := range ids {
			if refs[i].Artifact != symbol.NewID(symbol.ELF, id) {
				t.Fatalf("%s leads to %v", name, refs)
			}
		}
	}
	lead("SHOP@12", idA)
	lead("shop@13", idA)
	lead("shop@13/liba.so", idA)
	lead("mail@7", idB)
	lead("libb.so", idB)
	lead(idA, idA)
	refs, err := w.cat.Names.Find(t.Context(), idC, 0)
	if err != nil || len(refs) != 1 || !strings.HasSuffix(refs[0].Object, ".debug") {
		t.Fatalf("%v %v", refs, err)
	}
	var apps []string
	for _, n := range w.record(idA).Names {
		if n.Kind == symbol.NameApp {
			apps = append(apps, n.Text)
		}
	}
	if want := []string{"shop@12", "shop@12/liba.so", "shop@13", "shop@13/liba.so"}; !slices.Equal(apps, want) {
		t.Fatal(apps)
	}
	// Once it is loaded, the object's names go.
	w.put(".build-id/cc/cccccccccccccccccccccccccccccccccccccc.debug", "FAKE\nid "+idC+"\nf 0 8 c 1\n")
	w.run()
	lead(idC, idC)
	w.verify()
}

// The better source wins in every order of arrival, and the loser is kept.
func TestWhichSourceWins(t *testing.T) {
	dwarf := "FAKE\nid " + idA + "\nrank 1\nf 0 8 dwarf 3\n"
	lines := "FAKE\nid " + idA + "\nrank 1\nf 0 8 lines 3\nf 8 16 more 4\n"
	symtab := "FAKE\nid " + idA + "\nrank 3\nf 0 99 symtab 3\n"
	var digests []string
	for _, order := range [][]string{{dwarf, lines, symtab}, {symtab, lines, dwarf}, {lines, symtab, dwarf}} {
		w := newWorld(t)
		kept := 0
		for i, text := range order {
			w.put(fmt.Sprint("liba", i, ".so"), text)
			kept += w.run().Objects.Kept
		}
		w.answers(idA, 8, "more:4")
		digests = append(digests, w.verify())
		if text := order[0]; text == lines && kept != 2 || text == symtab && kept != 1 {
			t.Fatalf("%d kept", kept)
		}
		// All at once, in one group.
		w = newWorld(t)
		for i, text := range order {
			w.put(fmt.Sprint("liba", i, ".so"), text)
		}
		w.run()
		digests = append(digests, w.verify())
		// Called alike in one archive: fat files have slices of the same names.
		w = newWorld(t)
		var inner []string
		for i, text := range order {
			inner = append(inner, fmt.Sprint(i, ".zip"), zipped(t, "arm64", text))
		}
		w.put("all.zip", zipped(t, inner...))
		w.run()
		w.answers(idA, 8, "more:4")
		if member := w.record(idA).Published.Source.Member; member != fmt.Sprint(slices.Index(order, lines), ".zip!arm64") {
			t.Errorf("published of %q", member)
		}
	}
	for _, d := range digests {
		if d != digests[0] {
			t.Fatal(digests)
		}
	}
}

// The same answers from two files are one load; equal rank is settled by content.
func TestTies(t *testing.T) {
	w := newWorld(t)
	w.put("a.so", "FAKE\nid "+idA+"\nf 0 8 a 1\n")
	w.run()
	before := w.record(idA).Published.Load
	w.put("b.so", "FAKE\nid "+idA+"\n\nf 0 8 a 1\n")
	if r := w.run(); r.Objects.Kept != 1 || w.record(idA).Published.Load != before {
		t.Fatalf("%+v", r.Objects)
	}
	texts := []string{"FAKE\nid " + idB + "\nf 0 8 x 1\n", "FAKE\nid " + idB + "\nf 0 8 y 1\n"}
	var got []string
	for range 2 {
		v := newWorld(t)
		v.put("1.so", texts[0])
		v.run()
		v.put("2.so", texts[1])
		v.run()
		got = append(got, v.ask(idB, 0))
		slices.Reverse(texts)
	}
	if got[0] != got[1] {
		t.Fatal(got)
	}
}

// A changed object replaces its own load at any rank; a pin holds until force.
func TestChangedAndPinned(t *testing.T) {
	w := newWorld(t)
	w.put("a.so", "FAKE\nid "+idA+"\nf 0 8 old 1\n")
	w.run()
	w.put("a.so", "FAKE\nid "+idA+"\nrank 3\nf 0 8 new 0\n")
	if r := w.run(); r.Objects.Loaded != 1 {
		t.Fatalf("%+v", r.Objects)
	}
	w.answers(idA, 0, "new:0")
	old := w.record(idA)
	pinned := *old
	pinned.State, pinned.Published, pinned.Previous = catalog.Pinned, old.Previous, old.Published
	if err := w.cat.Artifacts.Swap(t.Context(), old, &pinned); err != nil {
		t.Fatal(err)
	}
	w.put("a.so", "FAKE\nid "+idA+"\nf 0 8 third 2\n")
	if r := w.run(); r.Objects.Kept != 1 {
		t.Fatalf("%+v", r.Objects)
	}
	w.answers(idA, 0, "old:1")
	w.o.Force = true
	w.run()
	w.answers(idA, 0, "third:2")
	if w.record(idA).State != catalog.Live {
		t.Fatal("still pinned")
	}
	w.verify()
}

func TestVanishedLimitDeadlineShards(t *testing.T) {
	w := newWorld(t)
	for i := range 10 {
		w.put(fmt.Sprintf("lib%d.so", i), fmt.Sprintf("FAKE\nid %040x\nf 0 8 f%d 1\n", i+1, i))
	}
	w.o.Limit = 4
	if r := w.run(); r.Objects.Loaded != 4 || r.Objects.Pending != 6 {
		t.Fatalf("%+v", r.Objects)
	}
	w.is("lib9.so", catalog.ObjectPending)
	if refs, err := w.cat.Names.Find(t.Context(), "lib9.so", 0); err != nil || len(refs) != 1 || refs[0].Object == "" {
		t.Fatalf("%v %v", refs, err)
	}
	w.o.Limit, w.o.Deadline = 0, w.now
	if r := w.run(); r.Objects.Loaded != 0 || r.Objects.Pending != 6 {
		t.Fatalf("%+v", r.Objects)
	}
	w.o.Deadline = time.Time{}
	loaded := 0
	for i := range 3 {
		w.o.Shard, w.o.Shards = i, 3
		loaded += w.run().Objects.Loaded
	}
	w.o.Shard, w.o.Shards = 0, 0
	if loaded != 6 {
		t.Fatalf("%d loaded by three shards", loaded)
	}
	if refs, err := w.cat.Names.Find(t.Context(), "lib9.so", 0); err != nil || len(refs) != 1 || refs[0].Object != "" {
		t.Fatalf("%v %v", refs, err)
	}
	if err := os.Remove(filepath.Join(w.dir, "lib3.so")); err != nil {
		t.Fatal(err)
	}
	if r := w.run(); r.Objects.Gone != 1 {
		t.Fatalf("%+v", r.Objects)
	}
	w.is("lib3.so", catalog.ObjectGone)
	w.answers(fmt.Sprintf("%040x", 4), 0, "f3:1") // its load stays
	if r := w.run(); r.Objects.Gone != 0 {
		t.Fatalf("%+v", r.Objects)
	}
}

func TestIncludeExcludeAndOneKey(t *testing.T) {
	w := newWorld(t)
	for _, k := range []string{"a/x.so", "a/b/y.so", "a/b/z.txt", "skip/q.so"} {
		w.put(k, "other")
	}
	w.src.Include, w.src.Exclude = []string{"**/*.so"}, []string{"skip/**"}
	if r := w.run(); r.Objects.Seen != 2 {
		t.Fatalf("%+v", r.Objects)
	}
	w.src.Include, w.src.Exclude, w.src.Key = nil, nil, "skip/q.so"
	if r := w.run(); r.Objects.Seen != 1 || r.Objects.New != 1 || r.Objects.Gone != 0 {
		t.Fatalf("%+v", r.Objects)
	}
}

func TestDryRunWritesNothing(t *testing.T) {
	w := newWorld(t)
	w.put("a.so", "FAKE\nid "+idA+"\nf 0 8 a 1\n")
	w.put("b.so", "FAKE\nbroken")
	w.o.DryRun = true
	if r := w.run(); r.Objects.Loaded != 1 || r.Objects.Rejected != 1 || r.Ranges != 1 {
		t.Fatalf("%+v", r)
	}
	if o, err := w.cat.Ledger.Get(t.Context(), w.src.Bucket.URL("a.so")); o != nil || err != nil {
		t.Fatalf("%v %v", o, err)
	}
	if w.record(idA) != nil {
		t.Fatal("a record was written")
	}
}

// Workers change nothing that is stored.
func TestWorkersChangeNothing(t *testing.T) {
	var digests []string
	for _, workers := range []int{1, 7} {
		w := newWorld(t)
		w.o.Workers = workers
		w.o.MemoryBytes = 1 << 20
		for i := range 12 {
			var b strings.Builder
			fmt.Fprintf(&b, "FAKE\nid %040x\n", i+1)
			for p := range 40 {
				for f := range 50 {
					at := (f*977 + p*131) % 5000 * 8
					fmt.Fprintf(&b, "f %d %d name%d_%d %d\n", at, at+24, p, f, p*f)
				}
				b.WriteString("part\n")
			}
			w.put(fmt.Sprintf("lib%d.so", i), b.String())
		}
		if r := w.run(); r.Objects.Loaded != 12 {
			t.Fatalf("%+v", r.Objects)
		}
		digests = append(digests, w.verify())
	}
	if digests[0] != digests[1] {
		t.Fatal("the digest depends on the workers")
	}
}

// A large load goes out in a batch of its own, entered before its first row.
func TestLargeLoad(t *testing.T) {
	w := newWorld(t)
	var b strings.Builder
	b.WriteString("FAKE\nid " + idA + "\n")
	for i := range 60_000 {
		fmt.Fprintf(&b, "f %d %d n%x_%x_%x %d\n", i*16, i*16+16, i*7919, i*104729, i*1299709, i*31%9973)
	}
	w.put("big.so", b.String())
	if r := w.run(); r.Objects.Loaded != 1 || r.Bytes.Stored < publish.OwnBatchBytes {
		t.Fatalf("%+v", r)
	}
	w.verify()
}
