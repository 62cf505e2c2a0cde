package ingest

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/symlake/symlake/formats"
	"github.com/symlake/symlake/formats/elf"
	"github.com/symlake/symlake/formats/formattest"
	"github.com/symlake/symlake/formats/symbol"
	"github.com/symlake/symlake/formats/unwind"
	"github.com/symlake/symlake/ingest/upkeep/gc"
	"github.com/symlake/symlake/ingest/upkeep/keys"
	"github.com/symlake/symlake/ingest/upkeep/verify"
	"github.com/symlake/symlake/sinks"
	"github.com/symlake/symlake/sinks/catalog"
	"github.com/symlake/symlake/sinks/lookup"
	"github.com/symlake/symlake/sinks/mem"
	"github.com/symlake/symlake/sinks/row"
)

// fakeUnwind adds call frame information to an artifact of the fake format:
//
//	u START END OFFSET [RANK] | ulost | ubroken | ufail
//
// The stack pointer and OFFSET give the frame. ulost asks the image for the lines with u, ubroken is damage.
func fakeUnwind(in *formats.Input, a *formats.Artifact, obj *formats.Object, text string) {
	if !strings.Contains(text, "\nu") {
		return
	}
	if a.Arch = "x86_64"; strings.Contains(text, "\nu ") {
		obj.Companions = append(obj.Companions, "image:"+a.Canonical)
	}
	canonical := a.Canonical
	a.Unwind = func(ctx context.Context, emit func(*symbol.Unwind) error) (q symbol.Quality, err error) {
		lines := strings.Split(text, "\n")
		for i := 0; i < len(lines); i++ {
			switch w := strings.Fields(lines[i]); {
			case len(w) == 0:
			case w[0] == "ubroken":
				return q, &formats.Error{Format: "fake", Section: "frames", Want: "rules", Err: formats.ErrCorrupt}
			case w[0] == "ufail":
				return q, errEnvironment
			case w[0] == "ulost":
				c, err := in.Companion(ctx, formats.Ref{ID: "image:" + canonical})
				if errors.Is(err, formats.ErrNoCompanion) {
					continue
				}
				if err != nil {
					return q, err
				}
				more, err := c.View(0, c.Size)
				if err != nil {
					return q, err
				}
				lines = append(lines, strings.Split(string(more), "\n")...)
				if err := release(c); err != nil {
					return q, err
				}
			case w[0] == "u":
				g, rank := symbol.UnwindRange{Rules: 1}, symbol.UnwindRuntime
				var offset int64
				fmt.Sscan(lines[i][2:], &g.Start, &g.End, &offset, &rank)
				r := unwind.Rules{CFA: unwind.Rule{How: unwind.Register, Reg: 7, Offset: offset}}
				if err := emit(&symbol.Unwind{Rank: rank, Rules: []string{"", string(r.Append(nil))}, Ranges: []symbol.UnwindRange{g}}); err != nil {
					return q, err
				}
			}
		}
		return q, nil
	}
}

// unwinds tells the rules at a position of the published load: "8" is the stack pointer and 8; "": none.
func (w *world) unwinds(id string, pos uint64) (rules string) {
	w.t.Helper()
	c := lookup.New(w.store, w.kek, lookup.Options{})
	q := lookup.Query{Artifact: symbol.NewID(symbol.ELF, id), Where: symbol.Where{Space: symbol.Position, Value: pos}}
	err := c.Unwind(w.t.Context(), []lookup.Query{q}, func(_ int, u *lookup.Unwound) error {
		if u.Status != symbol.Found {
			if u.Status != symbol.Hole {
				w.t.Errorf("%s at %d: %s, %v", id, pos, u.Status, u.Err)
			}
			return nil
		}
		r, err := unwind.Decode(u.Rules)
		rules = strings.TrimSuffix(strings.TrimPrefix(r.Text(unwind.ArchOf("x86_64")), ".cfa: $rsp "), " +")
		return err
	})
	if err != nil {
		w.t.Fatal(err)
	}
	return rules
}

func (w *world) hasUnwind(id string, pos uint64, want string) {
	w.t.Helper()
	if got := w.unwinds(id, pos); got != want {
		w.t.Fatalf("%s at %d: rules %q, want %q", id, pos, got, want)
	}
}

// Call frame information is kept beside the ranges, disjoint, and left out where the options say so. A load that has none is
// what it was.
func TestUnwind(t *testing.T) {
	w := newWorld(t)
	const plain = "FAKE\nid " + idA + "\nf 0 80 main 1\n"
	const frames = "u 0 40 8\nu 10 20 16 1\nu 15 60 24 3\n"
	w.put("x/a.so", plain)
	w.run()
	before := w.record(idA).Published
	w.put("x/a.so", plain+frames)
	r := w.run()
	l := w.record(idA).Published
	w.verify()
	for pos, want := range map[uint64]string{0: "8", 9: "8", 10: "16", 19: "16", 20: "8", 39: "8", 40: "24", 59: "24", 60: "", 100: ""} {
		w.hasUnwind(idA, pos, want)
	}
	if l.UnwindRanges != 4 || l.UnwindRows() != 1 || l.UnwindBytes == 0 || l.Bytes != before.Bytes+l.UnwindBytes || l.Rows != before.Rows || l.Digest == before.Digest {
		t.Errorf("%d ranges in %d rows, %d bytes of %d", l.UnwindRanges, l.UnwindRows(), l.UnwindBytes, l.Bytes)
	}
	if len(r.Rejected)+len(r.Missing)+len(r.Warnings) > 0 {
		t.Errorf("the run tells of %v %v %v", r.Rejected, r.Missing, r.Warnings)
	}
	w.o.NoUnwind, w.o.Force = true, true
	w.run()
	w.verify()
	l = w.record(idA).Published
	if w.hasUnwind(idA, 0, ""); l.Unwind != nil || l.Digest != before.Digest || l.Bytes != before.Bytes {
		t.Errorf("without call frame information the load has %d bytes, not %d", l.Bytes, before.Bytes)
	}
}

// Damage costs what it hides, and is told. An environment that fails is not damage.
func TestUnwindDamaged(t *testing.T) {
	w := newWorld(t)
	w.put("x/a.so", "FAKE\nid "+idA+"\nf 0 80 main 1\nu 0 10 8\nubroken\nu 10 20 8\n")
	r := w.run()
	w.is("x/a.so", catalog.ObjectLoaded)
	w.answers(idA, 5, "main:1")
	w.hasUnwind(idA, 5, "8")
	w.hasUnwind(idA, 15, "")
	if q := w.record(idA).Published.Quality; q.UnwindBroken != 1 || q.UnitsBroken != 0 || len(r.Warnings) != 1 || !strings.Contains(r.Warnings[0].Error, "call frame information") {
		t.Errorf("%+v, %v", q, r.Warnings)
	}
	w.o.Limits.UnwindRanges = 1
	w.put("x/b.so", "FAKE\nid "+idB+"\nf 0 80 main 1\nu 0 10 8\nu 10 20 16\n")
	r = w.run()
	if w.hasUnwind(idB, 15, ""); len(r.Warnings) != 1 || !strings.Contains(r.Warnings[0].Error, "left out") {
		t.Errorf("%v", r.Warnings)
	}
	w.put("x/c.so", "FAKE\nid "+idC+"\nf 0 80 main 1\nufail\n")
	w.run()
	w.is("x/c.so", catalog.ObjectFailed)
	w.verify()
}

// A debug file waits for its image, in silence, and gets its call frame information when it comes; the image alone answers
// until then. The order does not matter.
func TestImage(t *testing.T) {
	debug := "FAKE\nid " + idA + "\nf 0 80 main 1\nulost\n"
	image := "FAKE\nid " + idA + "\nrank 3\nf 0 80 main 0\nu 0 40 8\n"
	for _, order := range [][2]string{{"debug/a.debug", "image/a.so"}, {"image/a.so", "debug/a.debug"}} {
		w := newWorld(t)
		for i, key := range order {
			text := debug
			if strings.HasPrefix(key, "image") {
				text = image
			}
			w.put(key, text)
			r := w.run()
			if len(r.Missing)+len(r.Warnings)+len(r.Rejected) > 0 {
				t.Errorf("%s tells of %v %v %v", key, r.Missing, r.Warnings, r.Rejected)
			}
			l := w.record(idA).Published
			if len(l.Quality.Missing) > 0 {
				t.Errorf("%s lacks %v", key, l.Quality.Missing)
			}
			if waits := len(w.waiters("image:" + idA)); waits != map[bool]int{true: 1}[i == 0 && text == debug] {
				t.Errorf("after %s %d wait", key, waits)
			}
			w.verify()
		}
		w.answers(idA, 5, "main:1")
		w.hasUnwind(idA, 5, "8")
		l := w.record(idA).Published
		w.gc(gc.Options{})
		w.run()
		if again := w.record(idA).Published; again.Load != l.Load {
			t.Errorf("%v: a run without news loads it again", order)
		}
		w.verify()
	}
}

// Twins of a real program, in either order: the debug file answers with lines, and has the call frame information of the
// stripped one.
func TestImageOfELF(t *testing.T) {
	read := func(name string) (string, *formats.Artifact) {
		b, err := os.ReadFile(filepath.Join(formattest.Root(), "testdata", "elf", "twins", name))
		if err != nil {
			t.Fatal(err)
		}
		return string(b), &formattest.Open(t, &elf.Format, formattest.InputOf(name, b, formats.Limits{})).Artifacts[0]
	}
	debug, _ := read("libgame.so.debug")
	image, a := read("libgame.so")
	want := formattest.UnwindOf(t, &elf.Format, a)
	for _, first := range []bool{true, false} {
		w := newWorld(t)
		w.o.Formats = []*formats.Format{&elf.Format}
		for _, isDebug := range []bool{first, !first} {
			key, from := "i/program", image
			if isDebug {
				key, from = "d/elsewhere.debug", debug
			}
			w.put(key, from)
			if r := w.run(); len(r.Missing)+len(r.Warnings)+len(r.Rejected) > 0 {
				t.Errorf("%s tells of %v %v %v", key, r.Missing, r.Warnings, r.Rejected)
			}
		}
		l := w.record(a.Canonical).Published
		if l.Rank != symbol.RankDWARF || l.UnwindRanges != uint64(len(want.Ranges)) {
			t.Errorf("debug file first: %t: rank %d, %d ranges of call frame information, want %d", first, l.Rank, l.UnwindRanges, len(want.Ranges))
		}
		if waits := w.waiters("image:" + a.Canonical); len(waits) > 0 {
			t.Errorf("debug file first: %t: %v wait", first, waits)
		}
		w.verify()
	}
}

// Copies, new keys and gc keep call frame information.
func TestUnwindLives(t *testing.T) {
	w := newWorld(t)
	w.put("x/a.so", "FAKE\nid "+idA+"\nf 0 80 main 1\nu 0 40 8\nu 40 50 16\n")
	w.run()
	digest := w.verify()
	if _, err := keys.Reseal(t.Context(), keys.ResealOptions{Store: w.store, Keyring: w.ring, Artifacts: []symbol.ID{elfID(idA)}, MemoryBytes: 1 << 20, Scratch: t.TempDir(), Owner: "test"}); err != nil {
		t.Fatal(err)
	}
	w.hasUnwind(idA, 45, "16")
	w.gc(gc.Options{})
	w.hasUnwind(idA, 45, "16")
	if w.verify() != digest {
		t.Error("other keys change the digest")
	}
	to := worldOf(t, mem.New())
	w.copyTo(to, nil)
	to.hasUnwind(idA, 45, "16")
	if to.verify() != digest {
		t.Error("a copy has another digest")
	}
	lost := 0
	err := w.store.Blocks.Scan(t.Context(), sinks.Span{}, func(r sinks.Row) error {
		if r.Key[24] == byte(row.Unwinds) {
			lost++
		}
		return nil
	})
	if err != nil || lost == 0 {
		t.Fatalf("%d rows, %v", lost, err)
	}
	bad := verify.Options{Store: &sinks.Store{Catalog: w.store.Catalog, Blocks: without{w.store.Blocks}}, Keyring: w.ring}
	if r, err := verify.Run(t.Context(), bad); err != nil || len(r.Problems) != 1 {
		t.Errorf("verify of a store without these rows: %+v, %v", r, err)
	}
}

// without is a store that lost its call frame information.
type without struct{ sinks.Blocks }

func (b without) Scan(ctx context.Context, s sinks.Span, emit func(sinks.Row) error) error {
	return b.Blocks.Scan(ctx, s, func(r sinks.Row) error {
		if r.Key[24] == byte(row.Unwinds) {
			return nil
		}
		return emit(r)
	})
}
