package sourcemap

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/symlake/symlake/formats"
	"github.com/symlake/symlake/formats/formattest"
)

// Some writers of JSON escape '/', which is a digit of base 64; ';' may be escaped as well. Such mappings
// have as many lines, and say the same, also where the file is not in memory.
func TestEscapedMappings(t *testing.T) {
	plain := `{"version":3,"file":"a.js","sources":["a/b.ts"],"names":[],"mappings":"AAAA;CA+/BC;;AA+/BA` + strings.Repeat(";AACA", 100_000) + `"}`
	want := mustExplode(t, formattest.InputOf("a.js.map", []byte(plain), formats.Limits{}))
	if lines := want.artifact.End >> 32; lines != 100_004 || len(want.ranges) < 100_002 {
		t.Fatalf("%d lines, %d ranges", lines, len(want.ranges))
	}
	from, mappings, _ := strings.Cut(plain, `"mappings":`)
	for _, r := range []*strings.Replacer{
		strings.NewReplacer("/", `\/`),
		strings.NewReplacer("/", `\u002f`, ";", `\u003b`),
		strings.NewReplacer(";;", `\u003B;`),
	} {
		text := from + `"mappings":` + r.Replace(mappings)
		inputs := map[string]*formats.Input{}
		for _, kind := range []string{"mapped", "read"} {
			in := formattest.InputOf("a.js.map", []byte(text), formats.Limits{})
			if kind == "read" {
				in.Mapped = nil
			}
			inputs[kind] = in
		}
		for kind, in := range inputs {
			got := mustExplode(t, in)
			if got.artifact.End != want.artifact.End {
				t.Errorf("%s: %d lines, want %d", kind, got.artifact.End>>32, want.artifact.End>>32)
			}
			if diff := cmp.Diff(want.ranges[:100], got.ranges[:100], cmp.AllowUnexported(answer{})); diff != "" || len(got.ranges) != len(want.ranges) {
				t.Errorf("%s: %d ranges, want %d: %s", kind, len(got.ranges), len(want.ranges), diff)
			}
		}
	}
}
