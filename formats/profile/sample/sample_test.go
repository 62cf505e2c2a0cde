package sample_test

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/symlake/symlake/formats/profile"
	"github.com/symlake/symlake/formats/profile/profiletest"
	"github.com/symlake/symlake/formats/profile/sample"
	"github.com/symlake/symlake/formats/report"
	"github.com/symlake/symlake/formats/samples"
	"github.com/symlake/symlake/formats/symbol"
)

var list = []*profile.Format{sample.Format}

// sampled is what `sample` prints.
const sampled = `Analysis of sampling game (pid 7) every 1 millisecond
Process:         game [7]
Path:            /var/game
Code Type:       ARM64

Call graph:
    9 Thread_42   DispatchQueue_1: com.apple.main-thread  (serial)
    + 9 start  (in dyld) + 2236  [0x1a2c4ff28]
    +   9 ???  (in game)  load address 0x104a2c000 + 0x404c  [0x104a3004c]
    +     6 turn(_:)  (in game) + 29,31,...  [0x104a30050,0x104a30054,...]  Turn.swift:12
    +     ! 4 -[Raft go:]  (in My Raft (2)) + 10  [0x105b35bd0]
    +     ! 1 operator delete(void*)  (in game) + 4  [0x104a30060]
    +     2 ???  [0x10b00000c]
    3 Thread_43: worker
    + 3 thread_start  (in libsystem_pthread.dylib) + 8  [0x1a2e01da0]
    2 Thread_44

Total number in stack (recursive counted multiple, when >=5):
        9       start  (in dyld) + 2236  [0x1a2c4ff28]

Sort by top of stack, same collapsed (when >= 5):
        wait  (in libraft.dylib)        856

Binary Images:
       0x104a2c000 -        0x104a3bff7 +game (1.0 - 1) <4C4C44D8-5555-3144-A18C-9D79E6BF39EA> /var/game
       0x105b33000 -        0x105b6afff +My Raft (2) (1) <4C4C44D8-5555-3144-A18C-9D79E6BF39EB> /var/My Raft (2)
`

// dumped is what spindump prints, of two processes.
const dumped = `Date/Time:        2026-01-02 03:04:05.000 +0000
Architecture:     arm64e
Steps:            18 (10ms sampling interval)

Heaviest stack for the target process:
  18  ??? (libraft.dylib + 14340) [0x1db258804]
  18  ??? (game + 16460) [0x104a3004c]

Process:          game [7] (suspended)
Architecture:     arm64e

  Thread 0x2a    DispatchQueue "com.apple.main-thread"(1)    18 samples (1-18)    priority 46 (base 46)
  <process frontmost, thread QoS user interactive, IO tier 0>
  18  ??? (libraft.dylib + 14340) [0x1db258804] 1-18
    16  turn(_:) + 12 (Turn (new).swift:3,1 in game + 16460) [0x104a3004c] 1-16
     *10  ??? (kernel + 39327) [0xfffffff00721999f] (blocked) 1-10
     *6   ??? (kernel + 39327) [0xfffffff00721999f] (running) 11-16
    2   ??? (game + 16464) [0x104a30050] 17-18
  Thread 0x2b    Thread name "worker"    2 samples (1-2)
  2  wait + 4 (libraft.dylib) 1-2
    1  <truncated backtrace>

  Binary Images:
         0x104a2c000 -                ???  game (1.0)  <4C4C44D8-5555-3144-A18C-9D79E6BF39EA>  /var/game
  *0xfffffff007210000 - 0xfffffff007bfffff  kernel (1)  <4C4C44D8-5555-3144-A18C-9D79E6BF39EB>  /System/kernel

Process:          raftd [8]
Architecture:     arm64e

  Thread 0x2c    3 samples (1-3)
  3  ??? (libraft.dylib + 14340) [0x1db258804]
  3  main + 8 (My Raft (2) + 9000) [0x1dae8885c]
`

// heaviest has no trees.
const heaviest = `Command:         game
PID:             7

Heaviest stack for the target process:
  18  ??? (libraft.dylib + 14340) [0x1db258804]
  18  ??? (game + 16460) [0x104a3004c]
  6   ??? (game + 16464) [0x104a30050]

Binary Images:
         0x104a2c000 -                ???  game (1.0)  <4C4C44D8-5555-3144-A18C-9D79E6BF39EA>  /var/game
`

// stacks are the samples of a text, each with its thread and its value.
func stacks(t testing.TB, text []byte) (all []string) {
	t.Helper()
	p := &samples.Profile{}
	if err := profile.Samples(t.Context(), list, profile.Bytes("x", text), p); err != nil {
		t.Fatal(err)
	}
	profiletest.Check(t, p)
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
			names = append(names, name+" "+f.Module)
		}
		slices.Reverse(names)
		th := p.Threads[p.Samples[i].Thread]
		all = append(all, fmt.Sprintf("%s %d/%d %s: %s = %d", th.Process, th.PID, th.TID, th.Name, strings.Join(names, " > "), p.Value(i, 0)))
	}
	return all
}

func TestSamples(t *testing.T) {
	t.Parallel()
	const main = "game 7/42 com.apple.main-thread: "
	for _, c := range []struct {
		text string
		want []string
	}{
		{sampled, []string{
			main + "start dyld > game+0x404c game > turn(_:)@Turn.swift:12 game > -[Raft go:] My Raft (2) = 4",
			main + "start dyld > game+0x404c game > turn(_:)@Turn.swift:12 game > operator delete(void*) game = 1",
			main + "start dyld > game+0x404c game > turn(_:)@Turn.swift:12 game = 1",
			main + "start dyld > game+0x404c game > 0x10b00000c  = 2",
			main + "start dyld > game+0x404c game = 1",
			"game 7/43 worker: thread_start libsystem_pthread.dylib = 3",
		}},
		{dumped, []string{
			main + "libraft.dylib+0x3804 libraft.dylib > turn(_:)@Turn (new).swift:3 game > kernel+0x999f kernel = 10",
			main + "libraft.dylib+0x3804 libraft.dylib > turn(_:)@Turn (new).swift:3 game > kernel+0x999f kernel = 6",
			main + "libraft.dylib+0x3804 libraft.dylib > game+0x4050 game = 2",
			"game 7/43 worker: wait libraft.dylib > <truncated backtrace>  = 1",
			"game 7/43 worker: wait libraft.dylib = 1",
			"raftd 8/44 : libraft.dylib+0x3804 libraft.dylib = 3",
			"raftd 8/44 : main My Raft (2) = 3",
		}},
		{heaviest, []string{
			"game 7/0 : libraft.dylib+0x3804 libraft.dylib > game+0x404c game > game+0x4050 game = 6",
			"game 7/0 : libraft.dylib+0x3804 libraft.dylib > game+0x404c game = 12",
		}},
	} {
		if got := stacks(t, []byte(c.text)); !slices.Equal(got, c.want) {
			t.Errorf("%s", strings.Join(got, "\n"))
		}
		if crlf := stacks(t, []byte(strings.ReplaceAll(c.text, "\n", "\r\n"))); !slices.Equal(crlf, c.want) {
			t.Errorf("with CRLF: %s", strings.Join(crlf, "\n"))
		}
	}
}

// Answers are as reports have them, and their inlined functions are frames.
func TestAnswered(t *testing.T) {
	t.Parallel()
	o := &profile.Options{Ask: func(_ context.Context, frames []report.Frame, answer func(int, *symbol.Answer)) error {
		for i := range frames {
			a := &symbol.Answer{Status: symbol.NoArtifact}
			if slices.Contains(frames[i].Image, "game") {
				a = &symbol.Answer{Status: symbol.Found, Frames: []symbol.Frame{{Function: "add(int)", File: "/src/cart.h", Line: 4}, {Function: fmt.Sprintf("total%x(int)", frames[i].At.Value), File: "cart.cpp", Line: 42}}}
			}
			answer(i, a)
		}
		return nil
	}}
	var out bytes.Buffer
	if err := profile.Answer(t.Context(), list, profile.Bytes("x", []byte(dumped)), &out, o); err != nil {
		t.Fatal(err)
	}
	const main = "game 7/42 com.apple.main-thread: libraft.dylib+0x3804 libraft.dylib > total104a30048(int)@cart.cpp:42 game > add(int)*@cart.h:4 game > kernel+0x999f kernel = "
	got := stacks(t, out.Bytes())
	if len(got) != 7 || got[0] != main+"10" || got[1] != main+"6" || got[2] != "game 7/42 com.apple.main-thread: libraft.dylib+0x3804 libraft.dylib > total104a30050(int)@cart.cpp:42 game > add(int)*@cart.h:4 game = 2" {
		t.Errorf("%s\n%s", strings.Join(got, "\n"), out.Bytes())
	}
	if c := &o.Counts; c.Samples != 26 || c.Answered != 3 || len(c.Kept) != 0 {
		t.Errorf("%+v", *c)
	}
}

func TestBegins(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]bool{
		sampled: true, dumped: true, heaviest: true, "": false, "Call graph:\n": false, "\x00" + sampled: false,
		"Process: game [7]\n\nThread 0 Crashed:\n0   game   0x0000000104a3004c 0x104a2c000 + 16460\n": false,
		"  18  ??? (game + 16460) [0x104a3004c]\n":                                                    false,
		"Call graph:\n    9 Thread_42\n    + 9 main  (in game) + 24  [0x104a3004c]\n":                 true,
	} {
		if got := sample.Format.Begins([]byte(text)); got != want {
			t.Errorf("%.60q: %v", text, got)
		}
	}
}

// The cost of a text grows with its lines, at any depth.
func TestLinear(t *testing.T) {
	cost := func(n int) float64 {
		b := []byte("Heaviest stack for the target process:\n")
		for i := range n {
			b = fmt.Appendf(b, "  %d  ??? (game + %d) [0x%x]\n", n-i, 4096+i, 0x104a2d000+i)
		}
		return testing.AllocsPerRun(1, func() {
			var out bytes.Buffer
			if err := profile.Answer(t.Context(), list, profile.Bytes("x", b), &out, (&profiletest.Store{Found: true}).Options()); err != nil {
				t.Fatal(err)
			}
			p := &samples.Profile{}
			if err := profile.Samples(t.Context(), list, profile.Bytes("x", out.Bytes()), p); err != nil || len(p.Samples) != n {
				t.Fatalf("%d samples of %d lines: %v", len(p.Samples), n, err)
			}
		})
	}
	if small, large := cost(200), cost(1600); large > 16*small {
		t.Errorf("%v allocations for 200 lines, %v for 1,600", small, large)
	}
}

func TestSuite(t *testing.T) {
	t.Parallel()
	profiletest.Run(t, sample.Format,
		profiletest.Fixture{Name: "sample", Data: []byte(sampled), Samples: 14, Places: 6},
		profiletest.Fixture{Name: "spindump", Data: []byte(dumped), Samples: 26, Places: 7},
		profiletest.Fixture{Name: "heaviest", Data: []byte(heaviest), Samples: 18, Places: 3},
	)
}

func FuzzSample(f *testing.F) {
	f.Add([]byte(sampled))
	f.Add([]byte(dumped))
	profiletest.Fuzz(f, sample.Format)
}
