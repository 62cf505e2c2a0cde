package clr_test

import (
	"bytes"
	"strings"
	"testing"

	"github.com/symlake/symlake/formats/report"
	"github.com/symlake/symlake/formats/report/clr"
	"github.com/symlake/symlake/formats/report/reporttest"
	"github.com/symlake/symlake/formats/symbol"
)

const stack = "System.FormatException: digit: x\n" +
	"  at Shop.Core.Cart`1+Entry[T].Parse (System.String text) [0x00036] in <b1d69ab0751f4334bd0372dbdb888719>:0 \n" +
	"  at Shop.Core.Program.<Main>m__0 () [0x00000] in <b1d69ab0751f4334bd0372dbdb888719>:0 \n" +
	"  at Shop.Core.Program.Try (System.String what, System.Collections.Generic.List`1[T] all, System.Int32& n) [0x00002] in <b1d69ab0751f4334bd0372dbdb888719#5f>:0 \n" +
	"  at Shop.Core.Program..ctor () [0x00001] in <filename unknown>:0 \n"

func TestDialect(t *testing.T) {
	reporttest.Run(t, clr.Dialect, reporttest.Fixture{Name: "mono", Frames: 4, Text: stack})
}

func split(t *testing.T, text string) (all []*report.Report) {
	t.Helper()
	err := report.Split(t.Context(), strings.NewReader(text), []report.Dialect{clr.Dialect}, report.Options{Artifacts: []string{"given"}}, func(r *report.Report) error {
		all = append(all, r)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

func TestFrames(t *testing.T) {
	frames := split(t, stack)[0].Threads[0].Frames
	const id = "b1d69ab0-751f-4334-bd03-72dbdb888719"
	for i, want := range []struct {
		image, anchor, precise string
		offset                 uint64
	}{
		{id, "Shop.Core.Cart`1.Entry.Parse", "Shop.Core.Cart`1.Entry.Parse(System.String)", 0x36},
		{id, "Shop.Core.Program.<Main>m__0", "Shop.Core.Program.<Main>m__0()", 0},
		{id, "Shop.Core.Program.Try", "Shop.Core.Program.Try(System.String, System.Collections.Generic.List`1[T], System.Int32&)", 2},
		{"given", "Shop.Core.Program.ctor", "Shop.Core.Program.ctor()", 1},
	} {
		f := frames[i]
		if f.Kind != symbol.CLR || len(f.Image) != 1 || f.Image[0] != want.image || f.At != (symbol.Where{Space: symbol.Anchored, Anchor: want.anchor, Value: want.offset}) ||
			len(f.Or) != 1 || f.Or[0].Anchor != want.precise || f.Or[0].Value != want.offset {
			t.Errorf("frame %d: %+v, want %+v", i, f, want)
		}
	}
}

// Lines that have a file already, or no place, are text.
func TestPasses(t *testing.T) {
	for _, line := range []string{
		"  at Shop.Core.Program.Try (System.String what) [0x00003] in /src/demo.cs:59 ",
		"  at Shop.Core.Program.Try(System.String what) in /src/demo.cs:line 59",
		"  at Player.OnHit () [0x00000] in <00000000000000000000000000000000>:0 ",
		"  at (wrapper managed-to-native) System.Object.wait () [0x00000]",
		"  at Player.OnHit () <0x40f1c8a0 + 0x00012> in <b1d69ab0751f4334bd0372dbdb888719>:0 ",
		"Game.Player:OnHit(Int32) (at Assets/Player.cs:12)",
		"] in <b1d69ab0751f4334bd0372dbdb888719>:0 [0x1",
		"at ( [0x1] in <b1d69ab0751f4334bd0372dbdb888719>:0",
		"at x) [0x1] in <b1d69ab0751f4334bd0372dbdb888719>:0",
	} {
		for _, r := range split(t, line+"\n") {
			if r.Frames() > 0 {
				t.Errorf("%s: %+v", line, r.Threads)
			}
		}
	}
}

func TestPrint(t *testing.T) {
	r := split(t, stack)[0]
	answers := [][]symbol.Answer{{
		{Status: symbol.Found, Frames: []symbol.Frame{{Function: "Shop.Core.Cart`1.Entry.Parse(System.String)", File: "/src/demo.cs", Line: 28, Column: 31}}},
		{Status: symbol.Found, Frames: []symbol.Frame{{Function: "Shop.Core.Program.<Main>m__0"}}},
		{Status: symbol.Hole},
		{Status: symbol.Found, Frames: []symbol.Frame{{Function: "Shop.Core.Program.Start", File: "a.cs", Line: 1}}},
	}}
	var out bytes.Buffer
	if err := report.Print(&out, r, answers); err != nil {
		t.Fatal(err)
	}
	want := strings.Replace(stack, "[0x00036] in <b1d69ab0751f4334bd0372dbdb888719>:0", "[0x00036] in /src/demo.cs:28", 1)
	want = strings.Replace(want, "Program..ctor () [0x00001] in <filename unknown>:0", "Program.Start () [0x00001] in a.cs:1", 1)
	if out.String() != want {
		t.Errorf("got\n%s\nwant\n%s", out.String(), want)
	}
}
