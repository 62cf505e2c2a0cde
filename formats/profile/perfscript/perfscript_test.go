package perfscript_test

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/symlake/symlake/formats/profile"
	"github.com/symlake/symlake/formats/profile/perfscript"
	"github.com/symlake/symlake/formats/profile/profiletest"
	"github.com/symlake/symlake/formats/report"
	"github.com/symlake/symlake/formats/samples"
	"github.com/symlake/symlake/formats/symbol"
)

var list = []*profile.Format{perfscript.Format}

// mixed has samples as several versions of perf print them, of one program.
const mixed = `# captured on: Sat Nov 21
tree    12/12  100.000000: PERF_RECORD_MMAP2 12/12: [0x56173ee78000(0x2000) @ 0x1000 fe:00 11355222 1682929417]: r-xp /srv/app/tree
tree    12/13  [003]  100.000001:    1003009 cpu-clock:u:
	            129a [unknown] (/srv/app/tree)
	            1aef [unknown] (/srv/app/tree)
	           2724a __libc_start_call_main+0x7a (/usr/lib/libc.so.6)

My Tree   12 100.5:  5 cycles:
	ffffffff8157adb5 perf_event_mmap+0x235 ([kernel.kallsyms])
	    56173ee7829a [unknown] (/srv/app/tree (deleted))
	    7fd9c6299000 [unknown] (/usr/lib/other.so)
	    7fd9c6299123 [unknown] (/usr/lib/other.so+0x123)
	            1aef price (inlined)
  cart.h:7
	            1aef total+0x3 (/srv/app/tree)
  cart.cc:30

tree 12 101.0:     1003009 cpu-clock:u:      56173ee7829a [unknown] (/srv/app/tree)
tree 12 101.1:     1003009 cpu-clock:u:
`

func asker(questions *[]string) *profile.Options {
	return &profile.Options{Ask: func(_ context.Context, frames []report.Frame, answer func(int, *symbol.Answer)) error {
		for i := range frames {
			f := &frames[i]
			*questions = append(*questions, fmt.Sprintf("%s %v 0x%x %+v", f.Image, f.At.Space == symbol.FileOffset, f.At.Value, f.At.Mapped))
			a := &symbol.Answer{Status: symbol.Found, Frames: []symbol.Frame{{Function: "leaf(int)", File: "a.h", Line: 3}, {Function: fmt.Sprintf("f%x(A, B)", f.At.Value), File: "a.cc", Line: 9}}}
			if f.Image[0] != "tree" {
				a = &symbol.Answer{Status: symbol.NoArtifact}
			}
			answer(i, a)
		}
		return nil
	}}
}

func stacks(t testing.TB, text []byte) (all []string, p *samples.Profile) {
	t.Helper()
	p = &samples.Profile{}
	if err := profile.Samples(t.Context(), list, profile.Bytes("x", text), p); err != nil {
		t.Fatal(err)
	}
	for i := range p.Samples {
		var names []string
		for at := p.Samples[i].Stack; at != samples.None; at = p.Stacks[at].Caller {
			f := &p.Frames[p.Stacks[at].Frame]
			name := f.Function
			if f.Inlined {
				name += "*"
			}
			if f.File != "" {
				name += fmt.Sprintf("@%s:%d", f.File, f.Line)
			}
			names = append(names, name)
		}
		slices.Reverse(names)
		all = append(all, strings.Join(names, " > "))
	}
	return all, p
}

// Frames without a name are asked for by their offsets in the file, at any address of the run.
func TestAnswer(t *testing.T) {
	t.Parallel()
	var questions []string
	o := asker(&questions)
	var out bytes.Buffer
	if err := profile.Answer(t.Context(), list, profile.Bytes("x", []byte(mixed)), &out, o); err != nil {
		t.Fatal(err)
	}
	want := []string{"[tree] true 0x129a &{Offset:4096 Size:8192 Within:false}", "[tree] true 0x1aee &{Offset:4096 Size:8192 Within:false}", "[libc.so.6] true 0x27249 <nil>", "[other.so] true 0x122 <nil>"}
	if !slices.Equal(questions, want) {
		t.Errorf("asked for %q", questions)
	}
	if c := &o.Counts; c.Samples != 4 || c.Places != 4 || c.Answered != 2 || len(c.Kept) != 0 {
		t.Errorf("%+v", *c)
	}
	all, p := stacks(t, out.Bytes())
	wantStacks := []string{
		"__libc_start_call_main > f1aee(A, B)@a.cc:9 > leaf(int)*@a.h:3 > f129a(A, B)@a.cc:9 > leaf(int)*@a.h:3",
		"total@cart.cc:30 > price*@cart.h:7 > other.so+0x123 > other.so+0x7fd9c6299000 > f129a(A, B)@a.cc:9 > leaf(int)*@a.h:3 > perf_event_mmap",
		"f129a(A, B)@a.cc:9 > leaf(int)*@a.h:3",
	}
	if !slices.Equal(all, wantStacks) {
		t.Errorf("%s", strings.Join(all, "\n"))
	}
	if len(p.Types) != 3 || p.Types[1] != (samples.Type{Name: "cpu-clock:u", Unit: "nanoseconds"}) || p.Value(0, 1) != 1003009 || p.Value(1, 2) != 5 || p.Lost != 1 || p.Duration != 999999000 ||
		p.Threads[0] != (samples.Thread{PID: 12, TID: 13, Name: "tree"}) || p.Threads[1].Name != "My Tree" || p.Frames[p.Stacks[p.Samples[0].Stack].Frame].Module != "/srv/app/tree" {
		t.Errorf("%+v %v %+v %d", p.Types, p.Values, p.Threads, p.Duration)
	}
}

// Headers have the fields that -F names.
func TestHeaders(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"perf 83220/83220 36556.170907:          1 cycles: \n\tffffffffa4c7c5c6 native_write_msr+0x6 ([kernel.kallsyms])\n":    "83220 83220 perf cycles",
		"Gecko\t25122 [007] 115539.936601:\t\t1000000 task-clock:u:\n        b3cea6c4\tLock::unlock() (/system/lib/libc.so)\n": "25122 25122 Gecko task-clock:u",
		"swapper     0 [000]  1.5: sched:sched_switch: prev_comm=a prev_pid=1\n\t1234 f (/a)\n":                                "0 0 swapper sched:sched_switch",
		"a b c 7/8 cpu-clock:\n\t1234 f+0x1 (/a)\n":                                                                            "7 8 a b c cpu-clock",
		"x 7 1.000001: \n\t1234 f+0x1 (/a)\n":                                                                                  "7 7 x ",
		"x 7 d.h.. 1.000001: 1 cycles:  1234 f+0x1 (/a)\n":                                                                     "7 7 x cycles",
	} {
		if !perfscript.Format.Begins([]byte(text)) {
			t.Errorf("%q is not known", text)
			continue
		}
		all, p := stacks(t, []byte(text))
		if len(all) != 1 {
			t.Errorf("%q: %q", text, all)
			continue
		}
		event := ""
		if len(p.Types) > 1 {
			event = p.Types[1].Name
		}
		if at := p.Threads[0]; fmt.Sprintf("%d %d %s %s", at.PID, at.TID, at.Name, event) != want {
			t.Errorf("%q: %+v %s", text, at, event)
		}
	}
	for _, text := range []string{"", "hello\n", "#1 0x1234 f (/a)\n", "main 12: error\n\tat f (a.js:1:2)\n", "E 12 34: message\n", "backtrace:\n    #00 pc 0001f3a8  /data/libcart.so\n", "10:30:11.5 12 x: y\n\t12 z\n"} {
		if perfscript.Format.Begins([]byte(text)) {
			t.Errorf("%q is perf's", text)
		}
	}
}

// The form passes the suite with texts of several versions, and with real ones.
func TestSuite(t *testing.T) {
	t.Parallel()
	fixtures := []profiletest.Fixture{{Name: "mixed", Data: []byte(mixed), Samples: 4, Places: 4}}
	for _, name := range []string{"tree", "matrix"} {
		raw, err := os.ReadFile("../../../testdata/profile/kept/" + name + ".script.txt")
		if err != nil {
			t.Fatal(err)
		}
		all, p := stacks(t, raw)
		if len(all) == 0 {
			t.Errorf("%s has no samples", name)
		}
		profiletest.Check(t, p)
	}
	profiletest.Run(t, perfscript.Format, fixtures...)
}

func FuzzPerfscript(f *testing.F) {
	f.Add([]byte(mixed))
	profiletest.Fuzz(f, perfscript.Format)
}
