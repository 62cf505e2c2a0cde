package all

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/symlake/symlake/formats/report"
	"github.com/symlake/symlake/formats/symbol"
)

// A report on what a process used of the processor, and the next process of the same report.
const resourceReport = `Date/Time:        2026-01-02 03:04:05.000 +0000
Architecture:     arm64e
Incident Identifier: 1

Heaviest stack for the target process:
  18  ??? (libraft.dylib + 14340) [0x1db258804]
  18  ??? (game + 16460) [0x104a3004c]
  6   ??? (game + 16464) [0x104a30050]

Powerstats for:   game [7]
Architecture:     arm64e
  Thread 0x2a    DispatchQueue "main"(1)    18 samples (1-18)
  18  ??? (libraft.dylib + 14340) [0x1db258804] 1-18
    16  turn(_:) + 12 (Turn (new).swift:3,1 in game + 16460) [0x104a3004c] 1-16
     *16  ??? (kernel + 39327) [0xfffffff00721999f] 16
    2   ??? (game + 16464) [0x104a30050] 17-18
  2  wait + 4 (libraft.dylib)

  Binary Images:
         0x104a2c000 -                ???  game (1.0)  <4C4C44D8-5555-3144-A18C-9D79E6BF39EA>  /var/game
  *0xfffffff007210000 - 0xfffffff007bfffff  kernel (1)  <4C4C44D8-5555-3144-A18C-9D79E6BF39EB>  /System/kernel

Powerstats for:   raftd [8]
Architecture:     arm64e
  3  ??? (libraft.dylib + 14340) [0x1db258804]
  3  main + 8 (My Raft (2) + 9000) [0x1dae8885c]
`

// What sample prints of a process.
const sampleReport = `Process:         game [7]
Code Type:       ARM64

Call graph:
    9 Thread_42   DispatchQueue_1: main  (serial)
    + 9 ???  (in game)  load address 0x104a2c000 + 0x404c  [0x104a3004c]
    + ! 8 turn(_:)  (in game) + 29,31,...  [0x104a30050,0x104a30054,...]  Turn.swift:12
    + 1 -[Raft go:]  (in My Raft (2)) + 10  [0x105b35bd0]
    9 Thread_43
      9 ???  [0x10b00000c]

Sort by top of stack, same collapsed (when >= 5):
        wait  (in libraft.dylib)        856

Binary Images:
       0x104a2c000 -        0x104a3bff7 +game (1.0 - 1) <4C4C44D8-5555-3144-A18C-9D79E6BF39EA> /var/game
       0x105b33000 -        0x105b6afff +My Raft (2) (1) <4C4C44D8-5555-3144-A18C-9D79E6BF39EB> /var/My Raft (2)
`

func TestAppleSamples(t *testing.T) {
	const raft = "libraft.dylib 0x1db258804 0x1db255000+0x38"
	for _, c := range []struct {
		text string
		want []string
	}{
		{resourceReport, []string{
			"0", gameUUID + ",game 0x104a30050 0x104a2c000+0x4050", gameUUID + ",game 0x104a3004c 0x104a2c000+0x4048", raft + "00",
			"42", "4c4c44d8-5555-3144-a18c-9d79e6bf39eb,kernel 0xfffffff00721999f 0xfffffff007210000+0x999f", gameUUID + ",game 0x104a3004c 0x104a2c000+0x4048", raft + "00",
			"42", gameUUID + ",game 0x104a30050 0x104a2c000+0x4050",
			"0", raft + "04",
			"0", "My Raft (2) 0x1dae8885c 0x1dae86534+0x2328",
		}},
		{sampleReport, []string{
			"42", gameUUID + ",game 0x104a30050 0x104a2c000+0x4050", gameUUID + ",game 0x104a3004c 0x104a2c000+0x4048",
			"42", "4c4c44d8-5555-3144-a18c-9d79e6bf39eb,My Raft (2) 0x105b35bd0 0x105b33000+0x2bd0",
			"43", " 0x10b00000c 0x10b00000c nowhere",
		}},
	} {
		var got []string
		for _, s := range framed(split(t, c.text, report.Options{})) {
			if s.Format() != "apple-sample" || symbol.ArchFamily(s.Arch) != "arm64" {
				t.Errorf("%s %s", s.Format(), s.Arch)
			}
			for _, th := range s.Threads {
				got = append(got, fmt.Sprint(th.ID))
				for i := range th.Frames {
					got = append(got, place(&th.Frames[i]))
				}
			}
		}
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Error(diff)
		}
	}
}

// An image without an end reaches 4 GiB far, but does not overrule a frame's own words.
func TestAppleOpenEnd(t *testing.T) {
	text := "[  0] 4C4C44D8-5555-3144-A18C-9D79E6BF39EA 0x0000000104a2c000 /var/game\n0   libraft.dylib   0x0000000134a3004c 0x134a2c000 + 16460\n"
	if diff := cmp.Diff("libraft.dylib 0x134a3004c 0x134a2c000+0x404a", place(&one(t, text, report.Options{}).Threads[0].Frames[0])); diff != "" {
		t.Error(diff)
	}
}

func TestPrintAppleSamples(t *testing.T) {
	found := symbol.Answer{Status: symbol.Found, Frames: []symbol.Frame{{Function: "inner", File: "/src/a.swift", Line: 3}, {Linkage: "_outer", File: "b.m"}}}
	text, _, _ := strings.Cut(resourceReport, "\nPowerstats for:   raftd")
	_, text, _ = strings.Cut(text, "\n") // the date belongs to no report yet
	s := one(t, text, report.Options{})
	if diff := cmp.Diff("turn(_:) + 12 (Turn (new).swift:3,1 in game + 16460) [0x104a3004c] 1-16", string(s.FrameText(&s.Threads[1].Frames[1]))); diff != "" {
		t.Error(diff)
	}
	var out bytes.Buffer
	if err := report.Print(&out, s, [][]symbol.Answer{{found, {}, found}, {{}, found}}); err != nil {
		t.Fatal(err)
	}
	want := strings.NewReplacer(
		"6   ??? (game + 16464) [0x104a30050]", "6   inner (in game) (a.swift:3)\n      _outer (in game) (b.m:0) [0x104a30050]",
		"  18  ??? (libraft.dylib + 14340) [0x1db258804]\n", "  18  inner (in libraft.dylib) (a.swift:3)\n      _outer (in libraft.dylib) (b.m:0) [0x1db258804]\n",
		"16  turn(_:) + 12 (Turn (new).swift:3,1 in game + 16460) [", "16  inner (in game) (a.swift:3)\n        _outer (in game) (b.m:0) [",
	).Replace(text)
	if diff := cmp.Diff(want, out.String()); diff != "" {
		t.Error(diff)
	}
}
