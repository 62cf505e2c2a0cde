package explode

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/symlake/symlake/formats/formattest"
	"github.com/symlake/symlake/formats/symbol"
)

// goldenFile is what llvm-symbolizer 19 said of an object.
type goldenFile struct {
	Cases []struct {
		Addr   string
		Frames []struct {
			Linkage, File string
			Line, Column  uint32
		}
	}
}

func goldens(t *testing.T) []string {
	root := formattest.Fixture(t, "README.md")
	var list []string
	for _, dir := range []string{"elf", "own-native/elf"} {
		err := filepath.WalkDir(filepath.Join(filepath.Dir(root), dir), func(path string, _ os.DirEntry, err error) error {
			if err == nil && strings.HasSuffix(path, ".golden.json") {
				list = append(list, path)
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	return list
}

// TestGoldens compares every recorded answer of every fixture.
func TestGoldens(t *testing.T) {
	for _, golden := range goldens(t) {
		path := strings.TrimSuffix(golden, ".golden.json")
		name, _ := filepath.Rel(filepath.Dir(formattest.Fixture(t, "README.md")), path)
		for _, mapped := range []bool{true, false} {
			t.Run(name+map[bool]string{true: "", false: " in pieces"}[mapped], func(t *testing.T) {
				b, err := os.ReadFile(golden)
				if err != nil {
					t.Fatal(err)
				}
				var g goldenFile
				if err := json.Unmarshal(b, &g); err != nil {
					t.Fatal(err)
				}
				o := openObject(t, path, mapped)
				if o.sections.Info == nil {
					t.Skip("no DWARF")
				}
				all, q := o.answers(t)
				if q.UnitsBroken != 0 || q.LinesBroken != 0 {
					t.Errorf("quality %+v", q)
				}
				for _, c := range g.Cases {
					addr, _ := strconv.ParseUint(c.Addr, 0, 64)
					got := find(all, addr-o.image.Base)
					var want []symbol.Frame
					for _, f := range c.Frames {
						want = append(want, symbol.Frame{Linkage: f.Linkage, File: f.File, Line: f.Line, Column: f.Column})
					}
					if len(q.Missing) > 0 && len(got) == 1 && len(want) > 0 {
						// The inlined functions are in a file that is not here: the
						// place is the innermost frame's, the function the outermost.
						want = []symbol.Frame{want[0]}
						want[0].Linkage = c.Frames[len(c.Frames)-1].Linkage
					}
					if compare(got, want, o.names) == wrong {
						t.Errorf("%s:\n got %+v\nwant %+v", c.Addr, got, want)
					}
				}
			})
		}
	}
}
