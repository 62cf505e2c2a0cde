package simpleperf_test

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/symlake/symlake/formats/profile"
	"github.com/symlake/symlake/formats/profile/profiletest"
	"github.com/symlake/symlake/formats/profile/simpleperf"
	"github.com/symlake/symlake/formats/report"
	"github.com/symlake/symlake/formats/samples"
	"github.com/symlake/symlake/formats/symbol"
)

var texts = []*profile.Format{simpleperf.Text}

// printed is what report-sample prints without --protobuf.
const printed = `sample:
  event_type: cpu-cycles
  time: 100
  event_count: 7
  thread_id: 12
  thread_name: main
  vaddr_in_file: 1f3a
  file: /data/app/shop/lib/arm64/libcart.so
  symbol: unknown
  callchain:
    vaddr_in_file: 2f10
    file: /data/app/shop/base.apk!/lib/arm64/libcart.so
    symbol: libcart.so[+2f10]
    vaddr_in_file: 400
    file: /apex/com.android.runtime/lib64/libc.so
    symbol: __start_thread
    vaddr_in_file: 10
    file: /data/app/shop/base.apk
    symbol: int a.b.c(a.d)
sample:
  event_type: task-clock:u
  time: 250
  event_count: 9
  thread_id: 13
  vaddr_in_file: 1f3a
  file: /data/app/shop/lib/arm64/libcart.so
  symbol: unknown
lost_situation:
  sample_count: 2
  lost_count: 3
sample:
  event_type: cpu-cycles
  time: 300
  event_count: 1
  thread_id: 13
  vaddr_in_file: ffffff8008
  file: [kernel.kallsyms]
  symbol: unknown
  execution_type: native
  callchain:
    vaddr_in_file: 1f3a
    file: /data/app/shop/lib/arm64/libcart.so
    symbol: unknown
    execution_type: native
`

func answers(o *[]string) *profile.Options {
	return &profile.Options{Ask: func(_ context.Context, frames []report.Frame, answer func(int, *symbol.Answer)) error {
		for i := range frames {
			f := &frames[i]
			*o = append(*o, fmt.Sprintf("%s %x", f.Image, f.At.Value))
			switch {
			case f.Managed != nil:
				answer(i, &symbol.Answer{Status: symbol.Found, Frames: []symbol.Frame{{Function: "com.shop.Cart." + f.Managed.Method + "Original"}}})
			case f.At.Value == 0x1f3a:
				answer(i, &symbol.Answer{Status: symbol.Found, Frames: []symbol.Frame{{Function: "add(int)"}, {Function: "total(int)"}}})
			default:
				answer(i, &symbol.Answer{Status: symbol.NoArtifact})
			}
		}
		return nil
	}}
}

// Symbols that are none get names; inlined functions become entries.
func TestText(t *testing.T) {
	t.Parallel()
	want := strings.Replace(printed, "  symbol: unknown\n  callchain:\n", "  symbol: add(int)\n  callchain:\n    vaddr_in_file: 1f3a\n    file: /data/app/shop/lib/arm64/libcart.so\n    symbol: total(int)\n", 1)
	want = strings.Replace(want, "  symbol: unknown\nlost", "  symbol: add(int)\n  callchain:\n    vaddr_in_file: 1f3a\n    file: /data/app/shop/lib/arm64/libcart.so\n    symbol: total(int)\nlost", 1)
	want = strings.Replace(want, "    symbol: unknown\n    execution_type: native\n", "    symbol: add(int)\n    execution_type: native\n    vaddr_in_file: 1f3a\n    file: /data/app/shop/lib/arm64/libcart.so\n    symbol: total(int)\n", 1)
	want = strings.Replace(want, "int a.b.c(a.d)", "int com.shop.Cart.cOriginal(a.d)", 1)
	for _, end := range []string{"\n", "\r\n"} {
		var asked []string
		o := answers(&asked)
		var out bytes.Buffer
		if err := profile.Answer(t.Context(), texts, profile.Bytes("x", []byte(strings.ReplaceAll(printed, "\n", end))), &out, o); err != nil {
			t.Fatal(err)
		}
		if out.String() != strings.ReplaceAll(want, "\n", end) {
			t.Errorf("%s", out.String())
		}
		if wanted := []string{"[libcart.so] 1f3a", "[libcart.so] 2f10", "[] 0"}; !slices.Equal(asked, wanted) {
			t.Errorf("asked for %q", asked)
		}
		if c := &o.Counts; c.Samples != 3 || c.Places != 3 || c.Answered != 2 || c.Named != 1 || len(c.Kept) != 0 {
			t.Errorf("%+v", *c)
		}
		p := &samples.Profile{}
		if err := profile.Samples(t.Context(), texts, profile.Bytes("x", out.Bytes()), p); err != nil {
			t.Fatal(err)
		}
		profiletest.Check(t, p)
		wanted := []string{
			"main int com.shop.Cart.cOriginal(a.d);__start_thread;libcart.so+0x2f10;total(int);add(int)* [1 7 0]",
			" total(int);add(int)* [1 0 9]",
			" total(int);add(int)*;[kernel.kallsyms]+0xffffff8008 [1 1 0]",
		}
		var got []string
		for i := range p.Samples {
			stack := ""
			for at := p.Samples[i].Stack; at != samples.None; at = p.Stacks[at].Caller {
				f := &p.Frames[p.Stacks[at].Frame]
				name := f.Function
				if f.Inlined {
					name += "*"
				}
				stack = ";" + name + stack
			}
			got = append(got, fmt.Sprintf("%s %s %d", p.Threads[p.Samples[i].Thread].Name, stack[1:], p.Values[3*i:3*i+3]))
		}
		if !slices.Equal(got, wanted) || p.Lost != 3 || p.Duration != 200 || p.Types[2] != (samples.Type{Name: "task-clock:u", Unit: "nanoseconds"}) {
			t.Errorf("%s\n%+v", strings.Join(got, "\n"), p)
		}
	}
}

func TestTextBegins(t *testing.T) {
	t.Parallel()
	for head, want := range map[string]bool{
		printed: true, "meta_info:\n  trace_offcpu: false\n" + printed: true, "": false, "sample:\n": false,
		"sample:\nevent_type: x\n": false, "sample:\n  name: x\n": false, "\x00\n" + printed: false, string(shop()): false,
	} {
		if got := simpleperf.Text.Begins([]byte(head)); got != want {
			t.Errorf("%.40q: %v", head, got)
		}
	}
}

func TestTextSuite(t *testing.T) {
	t.Parallel()
	profiletest.Run(t, simpleperf.Text, profiletest.Fixture{Name: "text", Data: []byte(printed), Samples: 3, Places: 3, Again: true, Keeps: [][]byte{[]byte("lost_situation:\n  sample_count: 2\n"), []byte("execution_type: native")}})
}

// The cost grows with the text, not faster.
func TestTextLinear(t *testing.T) {
	cost := func(n int) float64 {
		b := []byte("sample:\n  event_type: cpu-cycles\n  vaddr_in_file: 0\n  file: libcart.so\n  symbol: unknown\n  callchain:\n")
		for i := range n {
			b = fmt.Appendf(b, "    vaddr_in_file: %x\n    file: libcart.so\n    symbol: unknown\n", i)
		}
		return testing.AllocsPerRun(1, func() {
			var out bytes.Buffer
			if err := profile.Answer(t.Context(), texts, profile.Bytes("x", b), &out, (&profiletest.Store{Found: true}).Options()); err != nil {
				t.Fatal(err)
			}
			if err := profile.Samples(t.Context(), texts, profile.Bytes("x", out.Bytes()), &samples.Profile{}); err != nil {
				t.Fatal(err)
			}
		})
	}
	if small, large := cost(200), cost(1600); large > 16*small {
		t.Errorf("%v allocations for 200 entries, %v for 1,600", small, large)
	}
}

func FuzzText(f *testing.F) {
	f.Add([]byte(printed))
	profiletest.Fuzz(f, simpleperf.Text)
}
