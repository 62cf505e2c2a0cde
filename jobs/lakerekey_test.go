package jobs

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/symlake/symlake/formats/formattest"
)

// After a rotation the lake's files are still under the old store key, which gc keeps for them; compact --rekey seals them
// anew, once, and gc deletes the old key. The lake is whole all the while.
func TestCompactRekey(t *testing.T) {
	flags := lakeConfig(t, "url: "+filepath.Join(t.TempDir(), "lake"))
	do := func(args ...string) string {
		out, _ := mustRun(t, []int{0}, append(flags[:2:2], args...)...)
		return out
	}
	keys := func() string { // "VERSION:files of the lake" of each store key
		var list []string
		for _, line := range strings.Split(strings.TrimSpace(do("--json", "keys", "list")), "\n") {
			var k storeKeyJSON
			if err := json.Unmarshal([]byte(line), &k); err != nil {
				t.Fatalf("%v: %s", err, line)
			}
			list = append(list, fmt.Sprintf("%d:%d", k.Version, k.Lake))
		}
		return strings.Join(list, " ")
	}
	rewritten := func(args ...string) (n int) {
		var report struct {
			Rewritten int `json:"rewritten"`
		}
		out := do(append([]string{"--json", "compact", "--grace", "1ns"}, args...)...)
		if err := json.Unmarshal([]byte(out), &report); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
		return report.Rewritten
	}
	want := func(when, versions string) {
		t.Helper()
		if got := keys(); got != versions {
			t.Errorf("%s: store keys and their files are %s, want %s", when, got, versions)
		}
		do("verify")
	}
	do("ingest", formattest.Testdata(t, "elf/libgame-arm64-dw5.so"))
	want("loaded", "1:6")
	do("keys", "rotate")
	do("gc", "--grace", "1ns")
	want("rotated", "1:6 2:0")
	if n := rewritten(); n != 0 {
		t.Errorf("compact alone rewrites %d files", n)
	}
	if n := rewritten("--rekey"); n != 3 {
		t.Errorf("compact --rekey rewrites %d files, want 3", n)
	}
	want("sealed anew", "1:0 2:7")
	if n := rewritten("--rekey"); n != 0 {
		t.Errorf("compact --rekey again rewrites %d files", n)
	}
	do("gc", "--grace", "1ns")
	want("swept", "2:8")
}
