package all

import (
	"bytes"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/symlake/symlake/formats/report"
	"github.com/symlake/symlake/formats/symbol"
)

const quotedReport = "Incident Identifier: 1\nCode Type: ARM-64\n\nThread 0 Crashed:\n0   My Game   0x0000000104a3004c 0x104a2c000 + 16460\n1   My Game   0x0000000104a30050 0x104a2c000 + 16464\n\n" +
	"Thread 0 crashed with ARM Thread State (64-bit):\n    x0: 0x0000000104a3004c   x1: 0x1\n\nBinary Images:\n0x104a2c000 - 0x104a3bfff My Game arm64  <4c4c44d855553144a18c9d79e6bf39ea> /var/My Game.app/My Game\n"

// before puts something before each line.
func before(mark, text string) string {
	return mark + strings.ReplaceAll(strings.TrimSuffix(text, "\n"), "\n", "\n"+mark) + "\n"
}

// What a mail, a page or a log puts before the lines of a report does not hide it, and stands before
// the lines that are added.
func TestQuoted(t *testing.T) {
	chain := []symbol.Frame{{Function: "inner", File: "/src/a.swift", Line: 3}, {Function: "outer", File: "b.m", Line: 4}}
	answers := [][]symbol.Answer{{{}, {Status: symbol.Found, Frames: chain}}}
	const frame = gameUUID + ",My Game 0x104a3004c 0x104a2c000+0x404c"
	for _, mark := range []string{"> ", ">", ">> ", "> > ", " > ", "\t", "2025-02-03 10:11:12.345678+0100 My Game[4242:93120] ", "2025-02-03T10:11:12.3456789Z "} {
		text := before(mark, quotedReport)
		s := one(t, text, report.Options{})
		if got := place(&s.Threads[0].Frames[0]); got != frame || s.Format() != "apple-crash" || len(s.Threads[0].Frames) != 2 {
			t.Errorf("%q: %s %s", mark, s.Format(), got)
		}
		var out bytes.Buffer
		if err := report.Print(&out, s, answers); err != nil {
			t.Fatal(err)
		}
		want := before(mark, strings.Replace(quotedReport, "0x104a2c000 + 16464", "inner (in My Game) (a.swift:3)\n                                 outer (in My Game) (b.m:4)", 1))
		if mark != "\t" {
			if diff := cmp.Diff(want, out.String()); diff != "" {
				t.Errorf("%q: %s", mark, diff)
			}
		}
	}
	text := "> \"main\" sysTid=7\n> \n> #00 pc 0000000000000010  /data/libcart.so\n> ```\n"
	s := one(t, text, report.Options{})
	var out bytes.Buffer
	if err := report.Print(&out, s, [][]symbol.Answer{{{Status: symbol.Found, Frames: chain[:1]}}}); err != nil {
		t.Fatal(err)
	}
	want := strings.Replace(text, "libcart.so\n", "libcart.so\n>                          inner\n>                          /src/a.swift:3:0\n", 1)
	if diff := cmp.Diff(want, out.String()); diff != "" {
		t.Error(diff)
	}
	s = one(t, strings.ReplaceAll(quotedReport, "   0x", "\u00a0\u00a0 0x"), report.Options{})
	if got := place(&s.Threads[0].Frames[0]); got != frame {
		t.Errorf("between spaces that do not break: %s", got)
	}
	s = one(t, before("> ", "goroutine 1 [running]:\nmain.f(0x1)\n\t/src/a.go:20 +0x1d"), report.Options{Artifacts: []string{"shop"}})
	if f := s.Threads[0].Frames[0]; f.At.Anchor != "main.f" {
		t.Errorf("%+v", f)
	}
}
