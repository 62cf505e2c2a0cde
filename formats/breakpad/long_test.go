package breakpad

import (
	"fmt"
	"strings"
	"testing"

	"github.com/symlake/symlake/formats"
	"github.com/symlake/symlake/formats/formattest"
	"github.com/symlake/symlake/formats/symbol"
)

// Records of any length are read: a name that is too long is cut, and so is an INLINE record above Limits.LineBytes.
func TestLongRecords(t *testing.T) {
	name := func(n int) string { return strings.Repeat("x", n-1) + "y" }
	pairs := func(n int) string {
		var b strings.Builder
		for i := range n {
			fmt.Fprintf(&b, " %x 1", 0x4000+2*i)
		}
		return b.String()
	}
	for _, end := range []string{"\n", "\r\n"} {
		for _, n := range []int{63 << 10, 127_041, 200_000, scanBytes - 6, scanBytes - 5, 1<<20 + 1, 11 << 20} {
			text := strings.Join([]string{"MODULE Linux arm64 0102030405060708090A0B0C0D0E0F100 libx.so",
				"FILE 0 " + name(n), "INLINE_ORIGIN 0 in(" + name(n), "FUNC 1000 80000 0 f(" + name(n), "INLINE 0 5 0 0" + pairs(n/10), "1000 10 4 0",
				"FUNC 90000 10 0 after", "90000 10 4 0", "PUBLIC 100000 0 p(" + name(n), ""}, end)
			in := formattest.InputOf("x.sym", []byte(text), formats.Limits{})
			for _, in := range []*formats.Input{in, formattest.Unmapped(in)} {
				a := &formattest.Open(t, &Format, in).Artifacts[0]
				fl, err := formattest.Flatten(t.Context(), &Format, a)
				if err != nil {
					t.Fatalf("%d bytes: %v", n, err)
				}
				want := func(name string) string { return symbol.ShortName(name, in.Limits.NameBytes) }
				f := fl.At(0x4002)
				if len(f) != 2 || f[0].Linkage != want("in("+name(n)) || f[1].Linkage != want("f("+name(n)) || f[1].File != want(name(n)) {
					t.Errorf("%d bytes: %d frames, %.80v", n, len(f), f)
				}
				if f := fl.At(0x100000); len(f) != 1 || f[0].Linkage != want("p("+name(n)) {
					t.Errorf("%d bytes: PUBLIC %.80v", n, f)
				}
				if f := fl.At(0x90000); len(f) != 1 || f[0].Linkage != "after" || f[0].Line != 4 {
					t.Errorf("%d bytes: %.80v", n, f)
				}
			}
		}
	}
}

// A record that is longer than several parts is read once, not once for each of them.
func TestLongRecordOverParts(t *testing.T) {
	const n = 3*partBytes + 100
	text := small + "FUNC 9000 10 0 " + strings.Repeat("x", n) + "\nFUNC a000 10 0 last\n"
	fl := func() *formattest.Flat {
		a := &formattest.Open(t, &Format, formattest.InputOf("x.sym", []byte(text), formats.Limits{})).Artifacts[0]
		fl, err := formattest.Flatten(t.Context(), &Format, a)
		if err != nil {
			t.Fatal(err)
		}
		return fl
	}()
	if f := fl.At(0x9000); len(f) != 1 || f[0].Linkage != symbol.CutName(strings.Repeat("x", n)) {
		t.Errorf("%.80v", f)
	}
	if f := fl.At(0xa000); len(f) != 1 || f[0].Linkage != "last" {
		t.Errorf("%.80v", f)
	}
}
