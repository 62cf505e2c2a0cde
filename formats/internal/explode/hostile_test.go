package explode

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/symlake/symlake/formats"
	"github.com/symlake/symlake/formats/formattest"
	"github.com/symlake/symlake/formats/internal/dwarf"
	"github.com/symlake/symlake/formats/symbol"
)

// TestUnknownVersion has a unit of a version to come between two others: it is broken, and that is said.
func TestUnknownVersion(t *testing.T) {
	d := newDebug(5, 4, 8, false)
	d.usual()
	for i, version := range []int{5, 6, 5} {
		d.version = version
		d.unit(func(w *writer, _ uint64) {
			low := uint64(0x1100 + i*0x100)
			w.u8(cBare).str("a.c").u8(langC).function(cLeaf, "f", low, low+0x10).u8(0)
		})
	}
	q := d.expect(t, `
1100 1110 f :0:0

1300 1310 f :0:0
`)
	if want := []string{".debug_info: want units of version 2 to 5, not 6"}; q.UnitsBroken != 1 || !slices.Equal(q.Warnings, want) {
		t.Errorf("%d units broken, warnings %q, want 1, %q", q.UnitsBroken, q.Warnings, want)
	}
}

// TestReferences has origins that lead to themselves, to nothing, to another
// unit and to another file.
func TestReferences(t *testing.T) {
	build := func(alt *debug, id string) *debug {
		d := newDebug(4, 4, 8, false)
		d.alt, d.altID = alt, id
		d.usual()
		d.decl(20, tSub, false, aOrigin, fRef4, aLow, fAddr, aHigh, fData4)
		d.decl(21, tSub, false, aOrigin, fRefAddr, aLow, fAddr, aHigh, fData4)
		d.decl(22, tSub, false, aOrigin, fRefAlt, aLow, fAddr, aHigh, fData4)
		d.decl(23, tSub, false, aName, fStrpAlt, aLow, fAddr, aHigh, fData4)
		var there uint64
		d.unit(func(w *writer, start uint64) {
			w.u8(cBare).str("a.c").u8(langC)
			there = w.at()
			w.u8(cDecl).str("there").u8(0).u8(0)
		})
		d.unit(func(w *writer, start uint64) {
			w.u8(cBare).str("b.c").u8(langC)
			self := w.at() - start
			w.u8(20).u32(self).address(0x1100).u32(0x10)
			one := w.at() - start
			w.u8(20).u32(one + 17).address(0x1200).u32(0x10)
			w.u8(20).u32(one).address(0x1300).u32(0x10)
			w.u8(20).u32(0xffff).address(0x1400).u32(0x10)
			w.u8(21).u32(0x7fffffff).address(0x1500).u32(0x10)
			w.u8(21).u32(there).address(0x1600).u32(0x10)
			w.u8(22).u32(23).address(0x1700).u32(0x10)
			w.u8(23).u32(1).address(0x1800).u32(0x10)
			w.u8(0)
		})
		return d
	}
	want := `
1100 1110  :0:0

1200 1210  :0:0

1300 1310  :0:0

1400 1410  :0:0

1500 1510  :0:0

1600 1610 there :0:0

1700 1710 %s :0:0

1800 1810 %s :0:0
`
	q := build(nil, "abcd").expect(t, fmt.Sprintf(want, "", ""))
	if q.UnitsBroken != 0 {
		t.Errorf("quality %+v", q)
	}
	d := build(nil, "abcd")
	d.abbrev.u8(0)
	lim := d.limits.WithDefaults()
	data, err := dwarf.Open(context.Background(), d.sections(), &lim)
	if err != nil || strings.Join(data.Missing(), " ") != "dwz:abcd" {
		t.Errorf("missing %v, %v", data.Missing(), err)
	}

	alt := newDebug(4, 4, 8, false)
	alt.str.str("elsewhere").str("shared")
	alt.decl(1, tPartial, true, aName, fString)
	alt.decl(2, tSub, false, aName, fStrp)
	alt.unit(func(w *writer, start uint64) {
		w.u8(1).str("dwz-of-all") // the next entry is at 23
		if w.at() != 23 {
			t.Fatalf("entry at %d", w.at())
		}
		w.u8(2).u32(11).u8(0)
	})
	alt.abbrev.u8(0)
	build(alt, "abcd").expect(t, fmt.Sprintf(want, "shared", "elsewhere"))
}

// TestDamage has units that break at different places: what stands before the
// damage is kept, and so are the other units.
func TestDamage(t *testing.T) {
	d := newDebug(4, 4, 8, false)
	d.usual()
	d.decl(20, tSub, false, aName, fString, aRanges, fSec)
	d.decl(21, 0x34, false, aName, 0x7e) // a form nobody knows
	good := func(w *writer, name string, low uint64) { w.function(cLeaf, name, low, low+0x10) }
	begin := func(w *writer) { w.u8(cBare).str("a.c").u8(langC) }
	d.unit(func(w *writer, _ uint64) { begin(w); good(w, "a", 0x1100); w.u8(99); good(w, "lost", 0x1180) }) // no such abbreviation
	d.unit(func(w *writer, _ uint64) { begin(w); good(w, "b", 0x1200); w.u8(21) })                          // a form nobody knows
	d.unit(func(w *writer, _ uint64) { begin(w); good(w, "c", 0x1300); w.u8(cLeaf).u8('x') })               // cut off
	d.unit(func(w *writer, _ uint64) { begin(w); w.function(cFunc, "open", 0x1400, 0x1410) })               // not closed
	d.unit(func(w *writer, _ uint64) {                                                                      // a missing list: the tree goes on
		begin(w)
		w.u8(20).str("nowhere").u32(0x7fffffff)
		good(w, "d", 0x1500)
		w.u8(0)
	})
	d.unit(func(w *writer, _ uint64) { w.u8(0) }) // no entry at all
	d.unit(func(w *writer, _ uint64) { begin(w); good(w, "last", 0x1600); w.u8(0) })
	q := d.expect(t, `
1100 1110 a :0:0

1200 1210 b :0:0

1300 1310 c :0:0

1400 1410 open :0:0

1500 1510 d :0:0

1600 1610 last :0:0
`)
	if q.Units != 7 || q.UnitsBroken != 6 {
		t.Errorf("quality %+v", q)
	}
}

// TestHeaders has section structures that cannot be read.
func TestHeaders(t *testing.T) {
	lim := formats.Limits{}.WithDefaults()
	for name, info := range map[string][]byte{
		"length beyond the section": {0xff, 0, 0, 0, 4, 0},
		"64-bit length":             {0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f},
		"reserved length":           {0xf4, 0xff, 0xff, 0xff, 4, 0},
		"cut off":                   {1, 0},
	} {
		d := newDebug(4, 4, 8, false)
		d.info.b = info
		_, err := dwarf.Open(context.Background(), d.sections(), &lim)
		var e *formats.Error
		if !errors.As(err, &e) || !errors.Is(err, formats.ErrCorrupt) || e.Section != ".debug_info" {
			t.Errorf("%s: %v", name, err)
		}
	}
	// Units that are tiny, of no known version, or of an odd address size are
	// units, broken ones.
	d := newDebug(4, 4, 8, false)
	d.info.b = []byte{0, 0, 0, 0, 2, 0, 0, 0, 9, 0, 7, 0, 0, 0, 4, 0, 0, 0, 0, 0, 3}
	if q := d.expect(t, ""); q.Units != 2 || q.UnitsBroken != 2 {
		t.Errorf("quality %+v", q)
	}
	lim.Units = 1
	if _, err := dwarf.Open(context.Background(), d.sections(), &lim); !errors.Is(err, formats.ErrLimit) {
		t.Errorf("two units at a limit of one: %v", err)
	}
}

// TestLineDamage has programs with one bad sequence, or one bad header.
func TestLineDamage(t *testing.T) {
	build := func(fill func(w *writer)) *debug {
		d := newDebug(4, 4, 8, false)
		d.usual()
		lines := d.program(fill)
		d.unit(func(w *writer, _ uint64) {
			w.head(langC, lines, 0x1100, 0x1200).function(cLeaf, "f", 0x1100, 0x1120).u8(0)
		})
		return d
	}
	good := func(w *writer) { w.set(0x1110).row(0, 1, 9, 0).u8(2).uleb(8).end() }
	const kept = "1100 1110 f :0:0\n1110 1118 f /src/a.c:10:0\n1118 1120 f :0:0\n"
	for name, c := range map[string]struct {
		fill   func(w *writer)
		want   string
		broken uint32
	}{
		"good":             {good, kept, 0},
		"no end":           {func(w *writer) { good(w); w.set(0x1100).row(0, 1, 3, 0) }, kept, 1},
		"ends below":       {func(w *writer) { w.set(0x1118).row(0, 1, 3, 0).set(0x1100).end(); good(w) }, kept, 1},
		"thrown away":      {func(w *writer) { w.set(0).row(0, 1, 3, 0).u8(2).uleb(0x2000).end(); good(w) }, kept, 0},
		"whole file":       {func(w *writer) { w.set(0x1000).row(0, 1, 3, 0).u8(2).uleb(1 << 40).end(); good(w) }, kept, 0},
		"unknown extended": {func(w *writer) { w.u8(0, 5, 0x80, 1, 2, 3, 4); good(w) }, kept, 0},
		"endless extended": {func(w *writer) { good(w); w.u8(0, 0xff, 0xff, 0xff, 0xff, 0x0f, 1) }, kept, 1},
		"cut off":          {func(w *writer) { good(w); w.u8(0, 9, 2, 1) }, kept, 1},
		"unsorted": {func(w *writer) {
			w.set(0x1110).row(0, 1, 9, 0).set(0x1100).row(0, 1, 1, 0).set(0x1120).end()
		}, "1100 1110 f /src/a.c:11:0\n1110 1120 f /src/a.c:10:0\n", 0},
		"same address": {func(w *writer) {
			w.set(0x1100).row(0, 1, 9, 0).row(0, 2, 1, 7).u8(2).uleb(0x20).end()
		}, "1100 1120 f /src/inc/b.h:11:7\n", 0},
		"line 0, no file": {func(w *writer) {
			w.set(0x1100).row(0, 9, -1, 0).u8(2).uleb(0x20).end()
		}, "1100 1120 f :0:0\n", 0},
		"defined file": {func(w *writer) {
			w.u8(0, 7, 3).str("/c").u8(0, 0, 0)
			w.set(0x1100).row(0, 3, 1, 0).u8(2).uleb(0x20).end()
		}, "1100 1120 f /c:2:0\n", 0},
		"huge numbers": {func(w *writer) {
			w.set(0x1100).row(0, 1<<40, 1<<30, 1<<40).u8(2).uleb(0x20).end()
		}, "1100 1120 f :0:0\n", 0},
	} {
		t.Run(name, func(t *testing.T) {
			got, q := build(c.fill).explode(t)
			if got, _, _ = strings.Cut(got, "\n\n"); strings.TrimSuffix(got, "\n") != strings.TrimSuffix(c.want, "\n") || q.LinesBroken != c.broken {
				t.Errorf("%d broken, got\n%s\nwant\n%s", q.LinesBroken, got, c.want)
			}
		})
	}
	for name, at := range map[string]int{"length": 3, "version": 4, "header length": 9, "line_range": 14} {
		d := build(good)
		d.line.b[at] = map[string]byte{"length": 0x7f, "version": 77, "header length": 0x7f, "line_range": 0}[name]
		if got, q := d.explode(t); got != "1100 1120 f :0:0\n" || q.LinesBroken != 1 {
			t.Errorf("%s: %+v\n%s", name, q, got)
		}
	}
}

// TestLimits cuts trees that are too deep, too long or too large.
func TestLimits(t *testing.T) {
	d := newDebug(4, 4, 8, false)
	d.limits = formats.Limits{InlineDepth: 2, RunRanges: 2, NameBytes: 8}
	long := strings.Repeat("long", 2000)
	d.usual()
	d.unit(func(w *writer, start uint64) {
		w.u8(cBare).str("a.c").u8(langC)
		g := w.at() - start
		w.u8(cDecl).str("g").u8(0)
		w.function(cFunc, long, 0x1100, 0x1200)
		w.inline(g, 0x1110, 0x1180, 0, 0).inline(g, 0x1120, 0x1170, 0, 0).inline(g, 0x1130, 0x1160, 0, 0)
		w.u8(0, 0, 0, 0, 0)
	})
	d.expect(t, strings.ReplaceAll(`
1100 1110 LONG :0:0
1110 1120 g :0:0 LONG :0:3

1120 1170 g :0:0 g :0:3 LONG :0:3
1170 1180 g :0:0 LONG :0:3

1180 1200 LONG :0:0
`, "LONG", symbol.CutName(long)))

	// A list that thousands of functions share is work without end.
	d = newDebug(4, 4, 8, false)
	d.usual()
	d.decl(20, tSub, false, aRanges, fSec)
	for i := range uint64(50000) {
		d.ranges.address(0x1000 + i).address(0x1001 + i)
	}
	d.ranges.address(0).address(0)
	d.unit(func(w *writer, start uint64) {
		w.u8(cBare).str("a.c").u8(langC)
		for range 100000 {
			w.u8(20).u32(0)
		}
		w.u8(0)
	})
	d.abbrev.u8(0)
	begin := time.Now()
	_, err := d.open(t).Part(context.Background(), 0, func(*symbol.Run) error { return nil })
	if !errors.Is(err, formats.ErrLimit) || time.Since(begin) > formattest.Patience {
		t.Errorf("%v after %v", err, time.Since(begin))
	}
}

// TestErrors passes on what emit returns, and what the context says.
func TestErrors(t *testing.T) {
	d := newDebug(4, 4, 8, false)
	d.usual()
	d.unit(func(w *writer, _ uint64) {
		w.u8(cBare).str("a.c").u8(langC).function(cLeaf, "f", 0x1100, 0x1120).function(cLeaf, "g", 0x1200, 0x1220).u8(0)
	})
	d.abbrev.u8(0)
	x := d.open(t)
	mine := errors.New("mine")
	if _, err := x.Part(context.Background(), 0, func(*symbol.Run) error { return mine }); err != mine {
		t.Errorf("got %v", err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := x.Part(ctx, 0, func(*symbol.Run) error { return nil }); err != context.Canceled {
		t.Errorf("got %v", err)
	}
}

// TestDoubling explodes units of shapes that tempt to quadratic work, and
// ones twice as large: the time may double, not quadruple.
func TestDoubling(t *testing.T) {
	if testing.Short() {
		t.Skip("SKIP: times are not taken with -short")
	}
	shapes := map[string]func(w *writer, g uint64, n int){
		"functions at one address": func(w *writer, g uint64, n int) {
			for range n {
				w.function(cLeaf, "f", 0x1100, 0x80000)
			}
		},
		"functions that overlap": func(w *writer, g uint64, n int) {
			for i := range n {
				w.function(cLeaf, "f", 0x1000+uint64(i), 0x1000+uint64(i)+uint64(n))
			}
		},
		"functions that ascend backwards": func(w *writer, g uint64, n int) {
			for i := range n {
				w.function(cLeaf, "f", 0x1000+uint64(n-i), 0x1000+uint64(n-i)+1)
			}
		},
		"inlined functions that overlap": func(w *writer, g uint64, n int) {
			w.function(cFunc, "f", 0x1000, 0x100000)
			for i := range n {
				w.inline(g, 0x1000+uint64(i), 0x1000+uint64(i)+uint64(n), 0, 0).u8(0)
			}
			w.u8(0)
		},
		"inlined functions that nest": func(w *writer, g uint64, n int) {
			w.function(cFunc, "f", 0x1000, 0x100000)
			for i := range min(n, 60000) {
				w.inline(g, 0x1000+uint64(i), 0x100000-uint64(i), 0, 0)
			}
			for range min(n, 60000) + 1 {
				w.u8(0)
			}
		},
		"types that nest": func(w *writer, g uint64, n int) {
			for i := range n / 1000 {
				for range 500 {
					w.u8(cStruct).str("")
				}
				w.function(cLeaf, "f", 0x1000+uint64(i), 0x1001+uint64(i))
				for range 500 {
					w.u8(0)
				}
			}
		},
	}
	for name, fill := range shapes {
		t.Run(name, func(t *testing.T) {
			took := func(n int) time.Duration {
				d := newDebug(4, 4, 8, false)
				d.usual()
				d.unit(func(w *writer, start uint64) {
					w.u8(cBare).str("a.c").u8(langCPP)
					g := w.at() - start
					w.u8(cDecl).str("g").u8(0)
					fill(w, g, n)
					w.u8(0)
				})
				d.abbrev.u8(0)
				x := d.open(t)
				best := time.Duration(1 << 62)
				for range 3 {
					begin := userTime()
					if _, err := x.Part(context.Background(), 0, func(*symbol.Run) error { return nil }); err != nil {
						t.Fatal(err)
					}
					best = min(best, userTime()-begin)
				}
				return best
			}
			const n = 150000 // some ten milliseconds: the clock may tick in fours
			took(n)          // warm
			small, large := took(n), took(4*n)
			if large > 12*max(small, 4*time.Millisecond) {
				t.Errorf("%v for %d, %v for %d", small, n, large, 4*n)
			}
		})
	}
}
