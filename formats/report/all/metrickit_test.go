package all

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/symlake/symlake/formats/report"
	"github.com/symlake/symlake/formats/symbol"
)

// A crash has stacks that begin with the innermost frame; a hang has trees that begin with the outermost.
const metricReport = `{
  "timeStampBegin" : "2026-01-02 03:04:05",
  "crashDiagnostics" : [ { "callStackTree" : {
    "callStacks" : [ {
      "threadAttributed" : true,
      "callStackRootFrames" : [ {
        "binaryUUID" : "4C4C44D8-5555-3144-A18C-9D79E6BF39EA",
        "offsetIntoBinaryTextSegment" : 16460,
        "subFrames" : [ { "binaryUUID" : "4C4C44D8-5555-3144-A18C-9D79E6BF39EA", "offsetIntoBinaryTextSegment":16464, "binaryName" : "game", "address" : 4372758608 } ],
        "binaryName" : "game",
        "address" : 4372758604
      } ]
    } ],
    "callStackPerThread" : true },
    "diagnosticMetaData" : { "platformArchitecture" : "arm64e" } } ],
  "hangDiagnostics" : [ { "callStackTree" : {
    "callStackPerThread" : false,
    "callStacks" : [ { "callStackRootFrames" : [ {
      "offsetIntoBinaryTextSegment" : 14340, "binaryName" : "libraft.dylib", "address" : 7971637252,
      "subFrames" : [ { "offsetIntoBinaryTextSegment" : 16460, "binaryName" : "game", "address" : 4372758604 },
                      { "offsetIntoBinaryTextSegment" : 16464, "binaryName" : "game" } ]
    } ] } ] } } ]
}
`

func TestMetricKit(t *testing.T) {
	s := one(t, metricReport, report.Options{})
	if s.Format() != "metrickit" || s.Arch != "arm64e" {
		t.Errorf("%s %s", s.Format(), s.Arch)
	}
	var got [][]string
	for _, th := range s.Threads {
		var places []string
		for i := range th.Frames {
			places = append(places, place(&th.Frames[i]))
		}
		got = append(got, places)
	}
	want := [][]string{
		{gameUUID + ",game 0x104a3004c 0x104a2c000+0x404c", gameUUID + ",game 0x104a30050 0x104a2c000+0x404c"},
		{"game 0x104a3004c 0x104a2c000+0x404c", "libraft.dylib 0x1db258804 0x1db255000+0x3800"},
		{"game 0x4050 0x0+0x4050"},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(`"offsetIntoBinaryTextSegment" : 16460`, string(s.FrameText(&s.Threads[0].Frames[0]))); diff != "" {
		t.Error(diff)
	}

	chain := []symbol.Frame{{Function: "inner", File: "/src/a.swift", Line: 3}, {Linkage: "_mid", File: "b.m"}, {Function: "outer"}}
	var out bytes.Buffer
	if err := report.Print(&out, s, [][]symbol.Answer{{{}, {Status: symbol.Found, Frames: chain}}, {{Status: symbol.Found, Frames: chain[2:]}}}); err != nil {
		t.Fatal(err)
	}
	const printed = `, "symbol": "inner", "sourceFile": "a.swift", "sourceLine": 3, "inlinedInto": [{"symbol": "_mid", "sourceFile": "b.m", "sourceLine": 0}, {"symbol": "outer"}]`
	answered := strings.Replace(metricReport, `:16464`, `:16464`+printed, 1)
	answered = strings.Replace(answered, `: 16460, "binaryName"`, `: 16460, "symbol": "outer", "binaryName"`, 1)
	if diff := cmp.Diff(answered, out.String()); diff != "" || !json.Valid(out.Bytes()) {
		t.Error(diff)
	}
	out.Reset()
	if err := report.Print(&out, one(t, answered, report.Options{}), [][]symbol.Answer{{{}, {Status: symbol.Found, Frames: chain}}}); err != nil || out.String() != answered {
		t.Errorf("answered again: %v %s", err, out.String())
	}
}

// Frames nest as deep as stacks are, and no deeper than a stack can be read.
func TestMetricKitDepth(t *testing.T) {
	for depth, want := range map[int]int{1000: 1000, 100_000: 4096} {
		text := `{"callStackRootFrames":[` + strings.Repeat(`{"offsetIntoBinaryTextSegment":16,"binaryName":"game","subFrames":[`, depth) + strings.Repeat(`]}`, depth) + "]}\n"
		if got := len(one(t, text, report.Options{}).Threads[0].Frames); got != want {
			t.Errorf("%d frames of %d", got, depth)
		}
	}
}
