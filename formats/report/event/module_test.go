package event_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/symlake/symlake/formats/report"
	"github.com/symlake/symlake/formats/report/all"
)

// sentryModules is an event as Sentry's library for browsers makes it: frames of modules have instruction_addr, and
// addr_mode counts in the list of images.
const sentryModules = `{"exception":{"values":[{"type":"RuntimeError","value":"unreachable","stacktrace":{"frames":[
{"filename":"https://shop.test/run.js","function":"traps","lineno":5,"colno":19},
{"filename":"https://shop.test/app.wasm","function":"run","instruction_addr":"0x1c1","addr_mode":"rel:1","platform":"native"},
{"filename":"https://shop.test/other.wasm","function":"g","instruction_addr":"0x99","platform":"native"},
{"filename":"https://shop.test/app.wasm","function":"app::Disc::area(int) const","instruction_addr":"0x265","addr_mode":"rel:1","platform":"native"}]}}]},
"debug_meta":{"images":[{"type":"sourcemap","code_file":"https://shop.test/run.js","debug_id":"11111111-2222-3333-4444-555555555555"},
{"type":"wasm","code_id":"146d3ce252af1c3d385e12d50cb7db55e0fd261180","code_file":"https://shop.test/app.wasm","debug_file":null,"debug_id":"146d3ce252af1c3d385e12d50cb7db550"}]}}
`

func TestModules(t *testing.T) {
	var got []string
	err := report.Split(t.Context(), strings.NewReader(sentryModules), all.Dialects, report.Options{}, func(r *report.Report) error {
		for _, thread := range r.Threads {
			for _, f := range thread.Frames {
				got = append(got, fmt.Sprintf("%s %v %#x", f.Kind, f.Image, f.At.Value))
			}
		}
		return nil
	})
	want := []string{
		"wasm [146d3ce252af1c3d385e12d50cb7db55e0fd261180 app.wasm] 0x265",
		"wasm [other.wasm] 0x99",
		"wasm [146d3ce252af1c3d385e12d50cb7db55e0fd261180 app.wasm] 0x1c1",
		"sourcemap [11111111-2222-3333-4444-555555555555 run.js] 0x400000012",
	}
	if err != nil || !slices.Equal(got, want) {
		t.Errorf("%q, %v", got, err)
	}
}
