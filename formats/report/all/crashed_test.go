package all

import (
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/symlake/symlake/formats/formattest"
	"github.com/symlake/symlake/formats/report"
)

// Reports that say which thread failed mark that thread, and no other.
func TestCrashed(t *testing.T) {
	t.Parallel()
	file := func(name string) string {
		text, err := os.ReadFile(formattest.Testdata(t, "stacks/"+name))
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	for _, c := range []struct {
		name, text string
		want       []bool
	}{
		{"apple-crash", file("apple-crash.txt"), []bool{false, true}},
		{"ips", file("apple-ips.txt"), []bool{true, false}},
		{"stackwalk", walkReport, []bool{true, false}},
		{"stackwalk, JSON", `{"modules":[{"filename":"libcart.so","debug_id":"` + walkID + `"}],"crashing_thread":{"frames":[{"module":"libcart.so","module_offset":"0x10"}]},"threads":[{"frames":[{"module":"libcart.so","module_offset":"0x10"}]}]}`, []bool{true, false}},
		{"swift", swiftReportText, []bool{true, false}},
		{"swift, JSON", swiftReportJSON, []bool{true}},
		{"kscrash", `{"binary_images":[{"image_addr":4096,"image_size":4096,"name":"/a/game","uuid":"4C4C44D8-5555-3144-A18C-9D79E6BF39EA"}],"crash":{"error":{"type":"mach"},"threads":[{"crashed":false,"index":0,"backtrace":{"contents":[{"instruction_addr":4100,"object_addr":4096}]}},{"crashed":true,"index":1,"backtrace":{"contents":[{"instruction_addr":4100,"object_addr":4096}]}}]}}`, []bool{false, true}},
		{"sentry", strings.Replace(sentryReport, `{"id":8,`, `{"id":8,"crashed":true,`, 1), []bool{false, true}},
		{"sentry, behind the stack", strings.Replace(sentryReport, `]}}]},"debug_meta"`, `]},"crashed":true}]},"debug_meta"`, 1), []bool{false, true}},
		{"datadog", strings.Replace(datadogReport, `"crashed":false`, `"crashed":true`, 1), []bool{false, true}},
		{"tombstone", file("threads.txt"), []bool{false, false}},
	} {
		s := framed(split(t, c.text, report.Options{}))
		if len(s) == 0 {
			t.Errorf("%s: no report", c.name)
			continue
		}
		var got []bool
		for _, th := range s[0].Threads {
			got = append(got, th.Crashed)
		}
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("%s: %s", c.name, diff)
		}
	}
}
