package answer_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/symlake/symlake/formats/report"
	"github.com/symlake/symlake/formats/report/all"
	"github.com/symlake/symlake/formats/symbol"
	"github.com/symlake/symlake/sinks/answer"
	"github.com/symlake/symlake/sinks/catalog"
	"github.com/symlake/symlake/sinks/lookup"
	"github.com/symlake/symlake/sinks/lookup/lookuptest"
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

// answerer makes a new client of a world's store.
func answerer(w *lookuptest.World) *answer.Client { return answer.New(w.Client()) }

// stackOf splits text that holds one stack.
func stackOf(t testing.TB, text string) *report.Report {
	t.Helper()
	return splitWith(t, text, report.Options{})
}

func splitWith(t testing.TB, text string, o report.Options) *report.Report {
	t.Helper()
	var one *report.Report
	lookuptest.NoError(t, report.Split(t.Context(), strings.NewReader(text), all.Dialects, o, func(s *report.Report) error {
		if len(s.Threads) > 0 {
			lookuptest.FailIf(t, one != nil, "two stacks in %q", text)
			one = s
		}
		return nil
	}))
	lookuptest.FailIf(t, one == nil, "no stack in %q", text)
	return one
}

const otherBuild = "00000000000000000000000000000000000000ff"

func stackWorld(t testing.TB) (*lookuptest.World, *lookuptest.Image, *lookuptest.Image) {
	w := lookuptest.NewWorld(t)
	cart, libc := lookuptest.NewImage(lookuptest.CartID, "libcart.so", 50), lookuptest.NewImage(strings.Repeat("c0", 20), "libc.so", 50)
	w.Publish(cart)
	loaded := w.Publish(libc)
	x86 := lookuptest.NewImage(strings.Repeat("c1", 20), "libc.so", 50)
	x86.Arch = "x86_64"
	w.Publish(x86)
	w.Object(loaded.Source.URL, catalog.ObjectLoaded, "")
	w.Object("s3://symbols/libnew.so", catalog.ObjectRejected, "elf: file+0x0: corrupt input")
	w.Must(w.Catalog.Names.Add(t.Context(), "libnew.so", catalog.Ref{Object: "s3://symbols/libnew.so"}))
	return w, cart, libc
}

func TestStack(t *testing.T) {
	w, cart, libc := stackWorld(t)
	s := stackOf(t, fmt.Sprintf(tombstone, lookuptest.CartID, otherBuild))
	c := answerer(w)
	answers, err := c.Stack(t.Context(), s, answer.Options{})
	lookuptest.NoError(t, err)
	lookuptest.FailIf(t, len(answers) != 1 || len(answers[0]) != 7, "%d threads", len(answers))
	a := answers[0]
	cart.Check(t, 0x14, a[0])
	cart.Check(t, 0x68, a[1]) // relative to the ELF inside the APK
	libc.Check(t, 0x94, a[2]) // by file name: the arm64 one
	for i, want := range map[int]symbol.Status{3: symbol.NoArtifact /* of another build: never by file name */, 4: symbol.Hole, 5: symbol.Outside, 6: symbol.Rejected} {
		lookuptest.FailIf(t, a[i].Status != want || a[i].Err == nil, "#%02d: %s %v, want %s", i, a[i].Status, a[i].Err, want)
	}
	lookuptest.FailIf(t, w.Blocks.Trips.Load() != 1, "%d trips for one stack", w.Blocks.Trips.Load())
	var out strings.Builder
	lookuptest.NoError(t, report.Print(&out, s, answers))
	lookuptest.FailIf(t, !strings.Contains(out.String(), "cart0()") || !strings.Contains(out.String(), "libcart.so (add+4)"), "%s", &out)
}

// --artifact and --app speak where the text does not.
func TestStackOptions(t *testing.T) {
	w, cart, _ := stackWorld(t)
	twin := lookuptest.NewImage(strings.Repeat("d0", 20), "libcart.so", 50)
	twin.Recorded = append(twin.Recorded, symbol.Name{Kind: symbol.NameApp, Text: "shop@2"})
	twin.Salt = "twin"
	w.Publish(twin)
	c := answerer(w)
	s := stackOf(t, "ABI: 'arm64'\nbacktrace:\n  #00 pc 00010014  libcart.so\n")
	one := func(o answer.Options) symbol.Answer {
		t.Helper()
		answers, err := c.Stack(t.Context(), s, o)
		lookuptest.NoError(t, err)
		return answers[0][0]
	}
	a := one(answer.Options{})
	lookuptest.FailIf(t, a.Status != symbol.Ambiguous, "%+v", a)
	twin.Check(t, 0x14, one(answer.Options{App: "shop@2"}))
	cart.Check(t, 0x14, one(answer.Options{Artifacts: []string{strings.Repeat("c0", 20), lookuptest.CartID}}))
	s = stackOf(t, fmt.Sprintf("ABI: 'arm64'\nbacktrace:\n  #00 pc 00010014  libcart.so (BuildId: %s)\n", otherBuild))
	a = one(answer.Options{Artifacts: []string{lookuptest.CartID}, App: "shop@2"})
	lookuptest.FailIf(t, a.Status != symbol.NoArtifact, "the text's id was overruled: %+v", a)
}

func TestExplain(t *testing.T) {
	w, cart, libc := stackWorld(t)
	w.Record(cart.ID, func(r *catalog.Record) {
		p := *r.Published
		p.Quality.Missing = []string{"dwo:cart.dwo"}
		r.Published = &p
	})
	s := stackOf(t, fmt.Sprintf(tombstone, lookuptest.CartID, otherBuild))
	x := make([][]answer.Explanation, len(s.Threads))
	err := answerer(w).Explain(t.Context(), s, answer.Options{}, func(thread, frame int, one *answer.Explanation) error {
		lookuptest.FailIf(t, frame != len(x[thread]), "frame %d behind %d", frame, len(x[thread]))
		x[thread] = append(x[thread], *one)
		return nil
	})
	lookuptest.NoError(t, err)
	lookuptest.FailIf(t, len(x) != 1 || len(x[0]) != 7, "%d", len(x))
	f := x[0][0]
	lookuptest.FailIf(t, f.Status != symbol.Found || !strings.Contains(f.Text, "libcart.so (add+4)") || len(f.Tried) != 1 || f.Tried[0].Name != lookuptest.CartID, "%+v", f)
	lookuptest.FailIf(t, f.Artifact != cart.ID || f.Canonical != lookuptest.CartID || len(f.Load) != 16 || f.Object != "s3://symbols/libcart.so", "%+v", f)
	lookuptest.FailIf(t, !f.Located || f.Raw != 0x10014 || f.Stepped.Value != 0x10014 || f.Position != 0x14 || f.Start != 0x10 || f.End != 0x20, "%+v", f)
	lookuptest.FailIf(t, len(f.Missing) != 1 || len(f.SameFile) != 0, "%+v", f)
	f = x[0][2]
	lookuptest.FailIf(t, f.Artifact != libc.ID || len(f.Ledger) != 1 || f.Ledger[0].State != "loaded", "%+v", f)
	f = x[0][3] // the id is unknown: what else has that file name
	lookuptest.FailIf(t, f.Status != symbol.NoArtifact || len(f.SameFile) != 1 || f.SameFile[0].Canonical != lookuptest.CartID || f.SameFile[0].Arch != "arm64", "%+v", f)
	f = x[0][4]
	lookuptest.FailIf(t, f.Status != symbol.Hole || !f.Located || f.Position != 0xf4 || f.Start != 0xf0 || f.End != 0x100, "%+v", f)
	f = x[0][5]
	lookuptest.FailIf(t, f.Status != symbol.Outside || !f.Located || f.Position != 0xfeffff, "%+v", f)
	f = x[0][6]
	lookuptest.FailIf(t, f.Status != symbol.Rejected || len(f.Ledger) != 1 || !strings.Contains(f.Ledger[0].Reason, "corrupt input"), "%+v", f)
}

// Many stacks at once are answered as each alone, in order, and a block is read once.
func TestStacks(t *testing.T) {
	w := lookuptest.NewWorld(t)
	im := lookuptest.NewImage(lookuptest.CartID, "libcart.so", 4000)
	loaded := w.Publish(im)
	game := lookuptest.NewImage("ee"+lookuptest.CartID[2:], "libgame.so", 300)
	game.Salt = "game"
	w.Publish(game)
	var qs []answer.Query
	for i := range 200 {
		text := ""
		for f := range 12 {
			pos := uint64(i*7919+f*104729) % im.End
			text += fmt.Sprintf("#%02d pc %08x  libcart.so (BuildId: %s)\n", f, lookuptest.ImageBase+pos, lookuptest.CartID)
			if f%4 == 1 {
				text += fmt.Sprintf("#%02d pc %08x  libgame.so\n", f, lookuptest.ImageBase+pos%game.End)
			}
		}
		o := answer.Options{}
		if i%2 == 0 {
			o.Artifacts = []string{"libgame.so"}
		}
		qs = append(qs, answer.Query{Stack: stackOf(t, text), Options: o})
	}
	c := answerer(w)
	w.Blocks.Spans.Store(0)
	next := 0
	lookuptest.NoError(t, c.Stacks(t.Context(), qs, func(i int, got [][]symbol.Answer) {
		lookuptest.FailIf(t, i != next, "answer %d came as number %d", i, next)
		next++
		want, err := answerer(w).Stack(t.Context(), qs[i].Stack, qs[i].Options)
		lookuptest.NoError(t, err)
		lookuptest.FailIf(t, fmt.Sprint(got) != fmt.Sprint(want), "stack %d: got %v, want %v", i, got, want)
	}))
	lookuptest.FailIf(t, next != len(qs), "%d answers", next)
	cold := answerer(w)
	w.Blocks.Spans.Store(0)
	lookuptest.NoError(t, cold.Stacks(t.Context(), qs, func(int, [][]symbol.Answer) {}))
	most := int64(loaded.Rows) + 40
	lookuptest.FailIf(t, w.Blocks.Spans.Load() > most, "%d rows read, the load has %d", w.Blocks.Spans.Load(), loaded.Rows)
}

// The observer is told of the frames of a stack, also without an artifact.
func TestStackObserved(t *testing.T) {
	w := lookuptest.NewWorld(t)
	w.Publish(lookuptest.NewImage(lookuptest.CartID, "libcart.so", 50))
	counts := map[string]int{}
	c := answer.New(w.ClientWith(lookup.Options{Observer: lookup.Observer{
		Answered: func(k symbol.Kind, s symbol.Status, n int) { counts[fmt.Sprintf("%s %s", k, s)] += n },
	}}))
	text := "#00 pc 00010014  libcart.so (BuildId: " + lookuptest.CartID + ")\n#01 pc 00000014  libnone.so (BuildId: ffffffffffffffffffffffffffffffff)\n"
	_, err := c.Stack(t.Context(), stackOf(t, text), answer.Options{})
	lookuptest.NoError(t, err)
	want := map[string]int{"elf found": 1, "elf no-artifact": 1}
	lookuptest.FailIf(t, fmt.Sprint(counts) != fmt.Sprint(want), "heard %v, want %v", counts, want)
}

// A stack has no answer after its context ended.
func TestStackDeadline(t *testing.T) {
	w := lookuptest.NewWorld(t)
	w.Publish(lookuptest.NewImage(lookuptest.CartID, "libcart.so", 20))
	c := answerer(w)
	hang := func(ctx context.Context) error { <-ctx.Done(); return ctx.Err() }
	w.Blocks.Before.Store(&hang)
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Millisecond)
	defer cancel()
	_, err := c.Stack(ctx, stackOf(t, "#00 pc 00010014  libcart.so (BuildId: "+lookuptest.CartID+")\n"), answer.Options{})
	lookuptest.FailIf(t, !errors.Is(err, context.DeadlineExceeded), "%v", err)
}
