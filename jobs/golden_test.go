package jobs

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/symlake/symlake/formats/formattest"
	"github.com/symlake/symlake/jobs/wire"
)

// golden is what llvm-symbolizer answers for an object, see testdata/README.md.
type golden struct {
	Cases []struct {
		Addr   string
		Frames []wire.Frame
	}
}

// The whole way, file to sealed row to printed answer, gives what
// llvm-symbolizer gives. (formats/elf compares every golden with its listed
// exceptions; these have one, see oneDestructor.)
func TestGoldensThroughStore(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"libgame-arm64-dw5.so", "libgame-arm64-dw4-zlib.so", "libgame-arm64-dwarf64.so", "libgame-arm64-thinlto.so",
		"libgame-armv7thumb-dw5.so", "libgame-x64-typeunits.so", "libgame-x86-dw4.so", "libgame-arm64be-dw5.so"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			object := formattest.Testdata(t, "elf/"+name)
			text, err := os.ReadFile(object + ".golden.json")
			if err != nil {
				t.Fatal(err)
			}
			var g golden
			if err := json.Unmarshal(text, &g); err != nil || len(g.Cases) == 0 {
				t.Fatal("no cases", err)
			}
			store := filepath.Join(t.TempDir(), "store")
			mustRun(t, []int{0}, "--store", store, "ingest", object)
			args := []string{"--store", store, "--json", "lookup", name}
			for _, c := range g.Cases {
				args = append(args, c.Addr)
			}
			out, _ := mustRun(t, []int{0}, args...)
			lines := strings.Split(strings.TrimSpace(out), "\n")
			if len(lines) != len(g.Cases) {
				t.Fatalf("%d answers to %d questions", len(lines), len(g.Cases))
			}
			for i, c := range g.Cases {
				var got wire.Answer
				if err := json.Unmarshal([]byte(lines[i]), &got); err != nil {
					t.Fatal(err)
				}
				if want, have := frameText(c.Frames), frameText(got.Frames); want != have {
					t.Errorf("%s: (-llvm-symbolizer +symlake)\n%s", c.Addr, cmp.Diff(want, have))
				}
			}
		})
	}
}

// oneDestructor: the complete and the base object destructor are one piece of
// code with two symbols; llvm-symbolizer prints the one, DWARF has the other.
var oneDestructor = strings.NewReplacer("EngineD1Ev", "EngineD2Ev")

func frameText(frames []wire.Frame) string {
	var b strings.Builder
	for _, f := range frames {
		fmt.Fprintf(&b, "%s %s:%d:%d\n", oneDestructor.Replace(f.Linkage), f.File, f.Line, f.Column)
	}
	return b.String()
}
