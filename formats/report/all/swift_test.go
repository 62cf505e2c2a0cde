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

const swiftReportText = "*** Signal 11: Backtracing from 0x7f55c4824724... done ***\n\n*** Program crashed: Bad pointer dereference at 0x0000000000000004 ***\n\nPlatform: x86_64 Linux (Ubuntu 24.04.3 LTS)\n\n" +
	"Thread 0 \"cart worker\" crashed:\n\n" +
	" 0                0x00007f55c4824724 <unknown> in libcart.so\n" +
	" 1 [ra] [inlined] 0x00007f55c4824785 sum(of:in:) in libcart.so at /src/Sums.swift:3:4\n" +
	" 2 [ra]           0x00007f55c4824785 closure #1 in Cart.sum() + 12 in libcart.so at /src/Cart in use.swift:9:4\n" +
	" 3 [ra] [system]  0x00007fc183a2a1ca <unknown> in libraft.so.6\n...\n 9 [async]        0x00007f55c4824790 next() in libcart.so\n\n" +
	"Thread 1:\n\n0 0x00007fd183a2a1ca\n\nRegisters:\n\nrax 0x000055e91c7005f0  fe ff ff ff  ····\n\nImages (19 omitted):\n\n" +
	"0x00007f55c4820000\u20130x00007f55c4826000 0a900536e7746c31ae5bd3d3916d09002c8dbf1b libcart.so   /usr/lib/libcart.so\n" +
	"0x00007fc183a00000\u20130x00007fc183bb0039 <no build ID>                            libraft.so.6 /usr/lib/libraft.so.6\n\nBacktrace took 1.11s\n"

const swiftReportJSON = `{ "timestamp": "2025-02-03T10:11:12.000Z", "kind": "crashReport", "description": "Bad pointer", "faultAddress": "0x04", "platform": "macOS 15.1", "architecture": "arm64", "threads": [ ` +
	`{ "name": "cart", "crashed": true, "registers": {"x0": "0x1" }, "frames": [ { "kind": "programCounter", "address": "0x104a30050" }, { "kind": "returnAddress", "address": "0x104a30060", "inlined": true, "symbol": "a" }, ` +
	`{ "kind": "returnAddress", "address": "0x104a30060", "symbol": "b", "offset": 4, "description": "b + 4", "image": "game" }, { "kind": "omittedFrames", "count": 3 }, { "kind": "truncated" } ] } ], "omittedImages": 1, ` +
	`"images": [ { "name": "game", "buildId": "4c4c44d855553144a18c9d79e6bf39ea", "path": "/var/game", "baseAddress": "0x104a2c000", "endOfText": "0x104a3c000" } ] , "backtraceTime": 1.1 }` + "\n"

// Each frame says whether it is a return address; lines that were inlined are the next one's.
func TestSwift(t *testing.T) {
	const id = "0a900536e7746c31ae5bd3d3916d09002c8dbf1b"
	for _, c := range []struct {
		text, format string
		kind         symbol.Kind
		o            report.Options
		want         []string
	}{
		{swiftReportText, "swift", symbol.ELF, report.Options{}, []string{id + ",libcart.so 0x7f55c4824724 0x7f55c4820000+0x4724 0", id + ",libcart.so 0x7f55c4824785 0x7f55c4820000+0x4784 1",
			"libraft.so.6 0x7fc183a2a1ca 0x7fc183a00000+0x2a1c9 0", id + ",libcart.so 0x7f55c4824790 0x7f55c4820000+0x4790 0", " 0x7fd183a2a1ca 0x7fd183a2a1ca nowhere 0"}},
		{before("> ", swiftReportText), "swift", symbol.ELF, report.Options{Frame0: report.Stepped}, []string{id + ",libcart.so 0x7f55c4824724 0x7f55c4820000+0x4724 0", id + ",libcart.so 0x7f55c4824785 0x7f55c4820000+0x4785 1",
			"libraft.so.6 0x7fc183a2a1ca 0x7fc183a00000+0x2a1ca 0", id + ",libcart.so 0x7f55c4824790 0x7f55c4820000+0x4790 0", " 0x7fd183a2a1ca 0x7fd183a2a1ca nowhere 0"}},
		{swiftReportJSON, "swift-json", symbol.MachO, report.Options{}, []string{"4c4c44d855553144a18c9d79e6bf39ea,game 0x104a30050 0x104a2c000+0x4050 0",
			"4c4c44d855553144a18c9d79e6bf39ea,game 0x104a30060 0x104a2c000+0x405c 1"}},
	} {
		s := one(t, c.text, c.o)
		var got []string
		for _, th := range s.Threads {
			for i := range th.Frames {
				f := &th.Frames[i]
				got = append(got, fmt.Sprintf("%s %d", place(f), f.Layout.Above))
				if f.Kind != c.kind {
					t.Errorf("of kind %q", f.Kind)
				}
			}
		}
		if diff := cmp.Diff(c.want, got); diff != "" || s.Format() != c.format {
			t.Error(s.Format(), diff)
		}
	}
	s := framed(split(t, swiftReportText+"after\n"+swiftReportText[:400], report.Options{}))[0]
	if th := s.Threads; len(th) != 2 || th[0].Name != "cart worker" || th[1].ID != 1 || s.Arch != "x86_64" {
		t.Errorf("%s", dump([]*report.Report{s}))
	}
	for _, text := range []string{"Thread 0:\n", "Thread 0 \"x\":\n", "Thread 0 Crashed:\n", "Thread 1 crashed with ARM Thread State\n"} {
		if begins("swift", text) {
			t.Errorf("%q begins a report of Swift", text)
		}
	}
}

func TestPrintSwift(t *testing.T) {
	found := symbol.Answer{Status: symbol.Found, Frames: []symbol.Frame{{Function: "clamp(_:)", Linkage: "$s5clamp", File: "/src/a.swift", Line: 8, Column: 10}, {Function: "step()"}}}
	answers := [][]symbol.Answer{{found, found}}
	for text, edits := range map[string][]string{
		swiftReportText: {"<unknown> in libcart.so\n", "clamp(_:) in libcart.so at /src/a.swift:8:10\n                                     step() in libcart.so\n",
			"closure #1 in Cart.sum() + 12 in libcart.so at /src/Cart in use.swift:9:4", "step() in libcart.so"},
		swiftReportJSON: {`{ "kind": "programCounter", "address": "0x104a30050" }`,
			`{"kind": "programCounter", "address": "0x104a30050", "symbol": "$s5clamp", "description": "clamp(_:)", "sourceLocation": {"file": "/src/a.swift", "line": 8, "column": 10}, "inlined": true},` +
				`{"kind": "programCounter", "address": "0x104a30050", "symbol": "step()", "description": "step()"}`,
			`{ "kind": "returnAddress", "address": "0x104a30060", "symbol": "b", "offset": 4, "description": "b + 4", "image": "game" }`,
			`{"kind": "returnAddress", "address": "0x104a30060", "image": "game", "symbol": "step()", "description": "step()"}`},
	} {
		if i := strings.Index(text, "*** Program"); i > 0 {
			text = text[i:]
		}
		var out bytes.Buffer
		if err := report.Print(&out, one(t, text, report.Options{}), answers); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(strings.NewReplacer(edits...).Replace(text), out.String()); diff != "" {
			t.Error(diff)
		}
	}
}
