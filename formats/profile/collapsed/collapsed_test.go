package collapsed_test

import (
	"bytes"
	"context"
	"fmt"
	"runtime"
	"strings"
	"testing"

	"github.com/symlake/symlake/formats/profile"
	"github.com/symlake/symlake/formats/profile/collapsed"
	"github.com/symlake/symlake/formats/profile/profiletest"
	"github.com/symlake/symlake/formats/report"
	"github.com/symlake/symlake/formats/samples"
	"github.com/symlake/symlake/formats/symbol"
)

// Stacks as perf's, async-profiler's, py-spy's and Node's scripts write them.
const (
	mixed = "# cmdline: shop\nshop;main;libcart.so+0x1f3a 12\nshop;[libcart.so+0x1f40];std::vector<int>::push_back(int&&) 3\r\n\nshop;libc.so.6`0x1000;[unknown] 1\n" +
		"node;LazyCompile:*t https://shop.test/app.js:1:124;n (https://shop.test/app.js?v=1:1:201) 7\nswapper;default_idle_[k] 1.5"
	java = "java/lang/Thread.run_[j];a/b/c.d_[j];a.b.c.e 4\na.b.c.d:12;a.x 5\n"
)

func TestForm(t *testing.T) {
	t.Parallel()
	profiletest.Run(t, collapsed.Format,
		profiletest.Fixture{Name: "mixed", Data: []byte(mixed), Samples: 5, Places: 5, Again: true, Keeps: [][]byte{[]byte("# cmdline: shop\n"), []byte(" 3\r\n\n"), []byte("default_idle_[k] 1.5"), []byte("[unknown]")}},
		profiletest.Fixture{Name: "java", Data: []byte(java), Samples: 2, Places: 1, Again: true},
		profiletest.Fixture{Name: "names", Data: []byte("a;b 1\na;c 2\n"), Samples: 2},
	)
}

func FuzzCollapsed(f *testing.F) {
	f.Add([]byte(mixed))
	f.Add([]byte(java))
	profiletest.Fuzz(f, collapsed.Format)
}

func TestBegins(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]bool{
		mixed: true, java: true, "a;b 1": true, "a;b 1 2\n": true, "main 1\nmain;f 2\n": true, "a;b c d 12\n\n# x\n": true,
		strings.Repeat("main;f;g 12\n", 9000): true,
		"":                                    false, "a 1\n": false, "a;b\n": false, "a;b 1\nno count\n": false, "a;b x\n": false, "{\"a\":\"b;c 12\"}": false, "  at a;b 12\n": false, "a 1\nb 2\nc 3\nd;e 4\n": false,
		"x = 1; y = 2; z 3\n": false, "09-01 10:00:00 I tag: done in 12\n": false, ";a 12\n": false, "a;\tb 12\n": false,
		"#0 0x1f3a in main a.c:12\n#1 0x1f40 in f b.c:13\n": false,
	} {
		if got := collapsed.Format.Begins([]byte(text)); got != want {
			t.Errorf("%.60q: %v", text, got)
		}
	}
}

func answered(t *testing.T, text string, o *profile.Options) string {
	t.Helper()
	var out bytes.Buffer
	if err := profile.Answer(context.Background(), []*profile.Format{collapsed.Format}, profile.Bytes("x", []byte(text)), &out, o); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

// Callers' addresses are stepped back, inlined functions are entries of their own, and scripts keep the way they were written.
func TestAnswer(t *testing.T) {
	t.Parallel()
	asked := map[uint64]string{}
	o := &profile.Options{Ask: func(_ context.Context, frames []report.Frame, answer func(int, *symbol.Answer)) error {
		for i := range frames {
			asked[frames[i].At.Value] = frames[i].File
			a := symbol.Answer{Status: symbol.Found, Frames: []symbol.Frame{{Function: "add;int", File: "add.h", Line: 3}, {Function: "Cart::total()", File: "cart.cpp", Line: 42}}}
			if frames[i].Script != nil {
				a.Frames = []symbol.Frame{{Function: "new Cart", File: "src/cart.ts", Line: 7, Column: 2}}
			}
			answer(i, &a)
		}
		return nil
	}}
	got := answered(t, "main;libcart.so+0x1f3a;libcart.so+0x1f3a 12\nLazyCompile:*t app.js:1:124;n (app.js:1:201)_[j] 7\n", o)
	want := "main;Cart::total();add:int_[i];Cart::total();add:int_[i] 12\nLazyCompile:*Cart src/cart.ts:7:3;Cart (src/cart.ts:7:3)_[j] 7\n"
	if got != want {
		t.Errorf("got  %q\nwant %q", got, want)
	}
	if asked[0x1f3a] != "libcart.so" || asked[0x1f38] != "libcart.so" || asked[124] != "app.js" || asked[201] != "app.js" || len(asked) != 4 {
		t.Errorf("asked %v", asked)
	}
}

// Names of Java are given back where a mapping is known, as the text wrote them.
func TestJava(t *testing.T) {
	t.Parallel()
	o := &profile.Options{
		Ask: func(_ context.Context, frames []report.Frame, answer func(int, *symbol.Answer)) error {
			for i := range frames {
				a := symbol.Answer{Status: symbol.NoArtifact}
				if m := frames[i].Managed; m != nil && m.Class == "a.b.c" && m.Line == 12 {
					a = symbol.Answer{Status: symbol.Found, Frames: []symbol.Frame{{Function: "com.shop.Cart.total", File: "Cart.kt", Line: 42}}}
				}
				answer(i, &a)
			}
			return nil
		},
		Classes: func(_ context.Context, _, names []string, answer func(int, *profile.Class)) error {
			for i, name := range names {
				if name == "a.b.c" {
					answer(i, &profile.Class{Original: "com.shop.Cart", Methods: []profile.Member{{Name: "d", Original: "add"}, {Name: "e", Original: "x"}, {Name: "e", Original: "y"}}})
				} else {
					answer(i, nil)
				}
			}
			return nil
		},
		Mapped: func(context.Context, []string) (bool, error) { return true, nil },
	}
	got := answered(t, "java/lang/Thread.run_[j];a/b/c.d_[j];a.b.c.e;a.b.c.d:12 4\n", o)
	if want := "java/lang/Thread.run_[j];com/shop/Cart.add_[j];com.shop.Cart.e;com.shop.Cart.total:42 4\n"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	o.Mapped = func(context.Context, []string) (bool, error) { return false, nil }
	if got := answered(t, "a.b.c.d;a.b.c.e 4\n", o); got != "a.b.c.d;a.b.c.e 4\n" {
		t.Errorf("without a mapping: %q", got)
	}
}

func TestOddLines(t *testing.T) {
	t.Parallel()
	text := strings.Repeat("a;b 1\n", 20_000) + "no count\na;" + strings.Repeat("x", 2<<20) + " 5\na;c 2\n"
	o := (&profiletest.Store{}).Options()
	if got := answered(t, text, o); got != text || len(o.Counts.Kept) != 2 || o.Counts.Samples != 20_001 {
		t.Errorf("%d bytes of %d, %d samples, %+v", len(got), len(text), o.Counts.Samples, o.Counts.Kept)
	}
}

func TestWrite(t *testing.T) {
	t.Parallel()
	var p samples.Profile
	if err := profile.Samples(context.Background(), []*profile.Format{collapsed.Format}, profile.Bytes("x", []byte("a;b_[i];c d 4\na;e 1\na;b_[i];c d 2\n")), &p); err != nil {
		t.Fatal(err)
	}
	profiletest.Check(t, &p)
	var out bytes.Buffer
	if err := collapsed.Format.Write(&out, &p); err != nil || out.String() != "a;b_[i];c d 6\na;e 1\n" {
		t.Errorf("%v: %q", err, out.String())
	}
}

// The cost grows with the profile, not faster.
func TestLinear(t *testing.T) {
	cost := func(n int) uint64 {
		var text strings.Builder
		for i := range n {
			fmt.Fprintf(&text, "main;libcart.so+0x%x;f (app.js:1:%d);a.b.c 12\n", i, i+1)
		}
		var out bytes.Buffer
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		o := (&profiletest.Store{Found: true}).Options()
		o.Memory = 64 << 20
		if err := profile.Answer(context.Background(), []*profile.Format{collapsed.Format}, profile.Bytes("x", []byte(text.String())), &out, o); err != nil {
			t.Fatal(err)
		}
		runtime.ReadMemStats(&after)
		return after.TotalAlloc - before.TotalAlloc
	}
	if small, big := cost(1000), cost(8000); big > 16*small {
		t.Errorf("%d bytes for 1,000 stacks, %d for 8,000", small, big)
	}
}
