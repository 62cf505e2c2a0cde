package event_test

import (
	"strings"
	"testing"

	"github.com/symlake/symlake/formats/report"
	"github.com/symlake/symlake/formats/report/event"
	"github.com/symlake/symlake/formats/symbol"
)

const sentryDotNet = `{"platform":"csharp","exception":{"values":[{"type":"System.FormatException","stacktrace":{"frames":[
{"function":"Main","package":"demo, Version=0.0.0.0","instruction_addr":"0x38","addr_mode":"rel:0","function_id":"0x6000011"},
{"function":"Try","package":"demo, Version=0.0.0.0","instruction_addr":"0x3","addr_mode":"rel:0","function_id":16}]}}]},
"debug_meta":{"images":[{"type":"pe_dotnet","code_id":"9FF5CAA410008000","debug_id":"B1D69AB0-751F-4334-BD03-72DBDB888719-0","debug_file":"demo.pdb","code_file":"C:\\app\\demo.exe"}]}}
`

// A frame of .NET has an offset in the code of a method, which a token or its row tells.
func TestSentryDotNet(t *testing.T) {
	var frames []report.Frame
	err := report.Split(t.Context(), strings.NewReader(sentryDotNet), []report.Dialect{event.Dialect}, report.Options{}, func(r *report.Report) error {
		for _, th := range r.Threads {
			frames = append(frames, th.Frames...)
		}
		return nil
	})
	if err != nil || len(frames) != 2 {
		t.Fatalf("%v, %+v", err, frames)
	}
	for i, want := range []uint64{16<<32 | 3, 17<<32 | 0x38} {
		f := &frames[i]
		if f.Kind != symbol.CLR || f.At != (symbol.Where{Space: symbol.Position, Value: want}) || f.Image[0] != "b1d69ab0-751f-4334-bd03-72dbdb888719-0" {
			t.Errorf("frame %d: %+v, want position %#x", i, f, want)
		}
	}
}
