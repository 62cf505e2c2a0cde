package sourcemap

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/symlake/symlake/formats/formattest"
)

// mapGolden is X.golden.json: what trace-mapping and source-map agree on.
type mapGolden struct {
	Cases []struct {
		Line, Column uint32
		Expected     *mapPlace
		FunctionName *string `json:"function_name"`
	}
}

type mapPlace struct {
	Source, Name *string
	Line, Column *uint32
}

// Every recorded answer of @jridgewell/trace-mapping and of source-map.
func TestGoldens(t *testing.T) {
	for _, g := range []struct {
		pattern string
		cases   int
	}{
		{"sourcemaps/symbolic/*.golden.json", 456}, {"sourcemaps/measure-rn/*.golden.json", 269}, {"sourcemaps/rust-sourcemap/*/*.golden.json", 81},
		{"own-sourcemaps/hermes/*.golden.json", 50}, {"own-sourcemaps/web/*.golden.json", 50},
	} {
		files, err := filepath.Glob(formattest.Fixture(t, strings.SplitN(g.pattern, "*", 2)[0]) + "/*" + strings.SplitN(g.pattern, "*", 2)[1])
		if err != nil {
			t.Fatal(err)
		}
		cases := 0
		for _, file := range files {
			cases += checkGolden(t, file)
		}
		if cases != g.cases {
			t.Errorf("%s: %d cases, want %d", g.pattern, cases, g.cases)
		}
	}
}

// checkGolden compares the answers for a map with the golden beside it, and returns how many there are.
func checkGolden(t *testing.T, file string) int {
	t.Helper()
	var all mapGolden
	readJSON(t, file, &all)
	x := mustExplode(t, inputOf(t, strings.TrimSuffix(file, ".golden.json")))
	for _, c := range all.Cases {
		frames := x.place(c.Line-1, c.Column)
		if c.Expected == nil || c.Expected.Line == nil {
			if len(frames) > 0 {
				t.Errorf("%s: %d:%d: %+v, want none", file, c.Line, c.Column, frames)
			}
			continue
		}
		if len(frames) == 0 {
			t.Errorf("%s: %d:%d: none, want %+v", file, c.Line, c.Column, c.Expected)
			continue
		}
		f := frames[0]
		if f.File != text0(c.Expected.Source) || f.Line != *c.Expected.Line || f.Column != *c.Expected.Column || f.Name != text0(c.Expected.Name) {
			t.Errorf("%s: %d:%d: %+v, want %s:%d:%d %s", file, c.Line, c.Column, f, text0(c.Expected.Source), *c.Expected.Line, *c.Expected.Column, text0(c.Expected.Name))
		}
		if c.FunctionName != nil && f.Linkage != *c.FunctionName {
			t.Errorf("%s: %d:%d: function %q, want %q", file, c.Line, c.Column, f.Linkage, *c.FunctionName)
		}
	}
	return len(all.Cases)
}

// Places in the maps of fifty packages, as they were published lately, are where trace-mapping has them.
// testdata/js/newest.sh brings them.
func TestNewest(t *testing.T) {
	cache := os.Getenv("SYMLAKE_NEWEST")
	if cache == "" {
		t.Skip("a long form, of make bench: SYMLAKE_NEWEST=CACHE/newest")
	}
	files, err := filepath.Glob(filepath.Join(cache, "maps", "*.golden.json"))
	if err != nil {
		t.Fatal(err)
	}
	places := 0
	for _, file := range files {
		places += checkGolden(t, file)
	}
	t.Logf("%d places of %d maps", places, len(files))
	if places < 20000 {
		t.Errorf("%d places of %d maps: run testdata/js/newest.sh", places, len(files))
	}
}

func text0(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}
