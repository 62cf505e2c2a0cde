package lookup_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/symlake/symlake/formats/report"
	"github.com/symlake/symlake/formats/symbol"
	"github.com/symlake/symlake/sinks/catalog"
	"github.com/symlake/symlake/sinks/lookup"
)

const tombstone = `*** *** *** *** *** *** *** *** *** *** *** *** *** *** *** ***
Build fingerprint: 'google/oriole/oriole:14/UQ1A/1:user/release-keys'
ABI: 'arm64'
pid: 4711, tid: 4712, name: GameThread  >>> shop.cart <<<
signal 11 (SIGSEGV), code 1 (SEGV_MAPERR), fault addr 0x0000000000000010

backtrace:
      #00 pc 0000000000010014  /data/app/~~x==/shop/lib/arm64/libcart.so (add+4) (BuildId: %[1]s)
      #01 pc 0000000000010068  /data/app/~~x==/shop/base.apk!libcart.so (offset 0x4a000) (BuildId: %[1]s)
      #02 pc 0000000000010094  /apex/com.android.runtime/lib64/bionic/libc.so
      #03 pc 0000000000010014  /data/app/~~x==/shop/lib/arm64/libcart.so (BuildId: %[2]s)
      #04 pc 00000000000100f4  /data/app/~~x==/shop/lib/arm64/libcart.so (BuildId: %[1]s)
      #05 pc 0000000000ffffff  /data/app/~~x==/shop/lib/arm64/libcart.so (BuildId: %[1]s)
      #06 pc 0000000000010014  /data/app/~~x==/shop/lib/arm64/libnew.so
`

// stackOf splits text that holds one stack.
func stackOf(t testing.TB, text string) *report.Report {
	t.Helper()
	return splitWith(t, text, report.Options{})
}

func splitWith(t testing.TB, text string, o report.Options) *report.Report {
	t.Helper()
	var one *report.Report
	noError(t, report.Split(t.Context(), strings.NewReader(text), o, func(s *report.Report) error {
		if len(s.Threads) > 0 {
			failIf(t, one != nil, "two stacks in %q", text)
			one = s
		}
		return nil
	}))
	failIf(t, one == nil, "no stack in %q", text)
	return one
}

const otherBuild = "00000000000000000000000000000000000000ff"

func stackWorld(t testing.TB) (*world, *image, *image) {
	w := newWorld(t)
	cart, libc := newImage(cartID, "libcart.so", 50), newImage(strings.Repeat("c0", 20), "libc.so", 50)
	w.publish(cart)
	loaded := w.publish(libc)
	x86 := newImage(strings.Repeat("c1", 20), "libc.so", 50)
	x86.Arch = "x86_64"
	w.publish(x86)
	w.object(loaded.Source.URL, catalog.ObjectLoaded, "")
	w.object("s3://symbols/libnew.so", catalog.ObjectRejected, "elf: file+0x0: corrupt input")
	w.must(w.catalog.Names.Add(t.Context(), "libnew.so", catalog.Ref{Object: "s3://symbols/libnew.so"}))
	return w, cart, libc
}

func TestStack(t *testing.T) {
	w, cart, libc := stackWorld(t)
	s := stackOf(t, fmt.Sprintf(tombstone, cartID, otherBuild))
	c := w.client()
	answers, err := c.Stack(t.Context(), s, lookup.StackOptions{})
	noError(t, err)
	failIf(t, len(answers) != 1 || len(answers[0]) != 7, "%d threads", len(answers))
	a := answers[0]
	cart.check(t, 0x14, a[0])
	cart.check(t, 0x68, a[1]) // relative to the ELF inside the APK
	libc.check(t, 0x94, a[2]) // by file name: the arm64 one
	for i, want := range map[int]symbol.Status{3: symbol.NoArtifact /* of another build: never by file name */, 4: symbol.Hole, 5: symbol.Outside, 6: symbol.Rejected} {
		failIf(t, a[i].Status != want || a[i].Err == nil, "#%02d: %s %v, want %s", i, a[i].Status, a[i].Err, want)
	}
	failIf(t, w.blocks.trips.Load() != 1, "%d trips for one stack", w.blocks.trips.Load())
	var out strings.Builder
	noError(t, report.Print(&out, s, answers))
	failIf(t, !strings.Contains(out.String(), "cart0()") || !strings.Contains(out.String(), "libcart.so (add+4)"), "%s", &out)
}

// --artifact and --app speak where the text does not.
func TestStackOptions(t *testing.T) {
	w, cart, _ := stackWorld(t)
	twin := newImage(strings.Repeat("d0", 20), "libcart.so", 50)
	twin.names = append(twin.names, symbol.Name{Kind: symbol.NameApp, Text: "shop@2"})
	twin.salt = "twin"
	w.publish(twin)
	c := w.client()
	s := stackOf(t, "ABI: 'arm64'\nbacktrace:\n  #00 pc 00010014  libcart.so\n")
	one := func(o lookup.StackOptions) symbol.Answer {
		t.Helper()
		answers, err := c.Stack(t.Context(), s, o)
		noError(t, err)
		return answers[0][0]
	}
	a := one(lookup.StackOptions{})
	failIf(t, a.Status != symbol.Ambiguous, "%+v", a)
	twin.check(t, 0x14, one(lookup.StackOptions{App: "shop@2"}))
	cart.check(t, 0x14, one(lookup.StackOptions{Artifacts: []string{strings.Repeat("c0", 20), cartID}}))
	s = stackOf(t, fmt.Sprintf("ABI: 'arm64'\nbacktrace:\n  #00 pc 00010014  libcart.so (BuildId: %s)\n", otherBuild))
	a = one(lookup.StackOptions{Artifacts: []string{cartID}, App: "shop@2"})
	failIf(t, a.Status != symbol.NoArtifact, "the text's id was overruled: %+v", a)
}

func TestExplain(t *testing.T) {
	w, cart, libc := stackWorld(t)
	w.record(cart.ID, func(r *catalog.Record) {
		p := *r.Published
		p.Quality.Missing = []string{"dwo:cart.dwo"}
		r.Published = &p
	})
	s := stackOf(t, fmt.Sprintf(tombstone, cartID, otherBuild))
	x := make([][]lookup.Explanation, len(s.Threads))
	err := w.client().Explain(t.Context(), s, lookup.StackOptions{}, func(thread, frame int, one *lookup.Explanation) error {
		failIf(t, frame != len(x[thread]), "frame %d behind %d", frame, len(x[thread]))
		x[thread] = append(x[thread], *one)
		return nil
	})
	noError(t, err)
	failIf(t, len(x) != 1 || len(x[0]) != 7, "%d", len(x))
	f := x[0][0]
	failIf(t, f.Status != symbol.Found || !strings.Contains(f.Text, "libcart.so (add+4)") || len(f.Tried) != 1 || f.Tried[0].Name != cartID, "%+v", f)
	failIf(t, f.Artifact != cart.ID || f.Canonical != cartID || len(f.Load) != 16 || f.Object != "s3://symbols/libcart.so", "%+v", f)
	failIf(t, !f.Located || f.Raw != 0x10014 || f.Stepped.Value != 0x10014 || f.Position != 0x14 || f.Start != 0x10 || f.End != 0x20, "%+v", f)
	failIf(t, len(f.Missing) != 1 || len(f.SameFile) != 0, "%+v", f)
	f = x[0][2]
	failIf(t, f.Artifact != libc.ID || len(f.Ledger) != 1 || f.Ledger[0].State != "loaded", "%+v", f)
	f = x[0][3] // the id is unknown: what else has that file name
	failIf(t, f.Status != symbol.NoArtifact || len(f.SameFile) != 1 || f.SameFile[0].Canonical != cartID || f.SameFile[0].Arch != "arm64", "%+v", f)
	f = x[0][4]
	failIf(t, f.Status != symbol.Hole || !f.Located || f.Position != 0xf4 || f.Start != 0xf0 || f.End != 0x100, "%+v", f)
	f = x[0][5]
	failIf(t, f.Status != symbol.Outside || !f.Located || f.Position != 0xfeffff, "%+v", f)
	f = x[0][6]
	failIf(t, f.Status != symbol.Rejected || len(f.Ledger) != 1 || !strings.Contains(f.Ledger[0].Reason, "corrupt input"), "%+v", f)
}
