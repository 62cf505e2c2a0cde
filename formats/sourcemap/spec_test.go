package sourcemap

import (
	"path/filepath"
	"slices"
	"testing"

	"github.com/symlake/symlake/formats"
	"github.com/symlake/symlake/formats/formattest"
)

// specTest is a case of the suite of TC39's source map specification.
type specTest struct {
	Name             string
	SourceMapFile    string
	SourceMapIsValid bool
	TestActions      []struct {
		ActionType                                                   string
		Present                                                      []string
		GeneratedLine, GeneratedColumn, OriginalLine, OriginalColumn uint32
		OriginalSource, MappedName                                   *string
		IntermediateMaps                                             []string
	}
}

// The specification's own tests: valid maps answer as they say, the rest is refused.
func TestSpecification(t *testing.T) {
	for _, suite := range []struct {
		file, folder string
		count        int
	}{{"spec-tests.json", "resources", 50}, {"range-proposal-tests.json", "resources/proposals/range-mappings", 7}} {
		dir := formattest.Fixture(t, "sourcemaps/tc39")
		var all struct{ Tests []specTest }
		readJSON(t, filepath.Join(dir, suite.file), &all)
		if len(all.Tests) != suite.count {
			t.Fatalf("%d tests", len(all.Tests))
		}
		for _, c := range all.Tests {
			t.Run(c.Name, func(t *testing.T) { c.run(t, filepath.Join(dir, suite.folder)) })
		}
	}
}

func (c *specTest) run(t *testing.T, dir string) {
	x, err := explodeAll(inputOf(t, filepath.Join(dir, c.SourceMapFile)))
	if !c.SourceMapIsValid {
		if err == nil || !formats.Rejects(err) {
			t.Fatalf("not refused: %v", err)
		}
		t.Log(err)
		return
	}
	if err != nil {
		t.Fatal(err)
	}
	for _, a := range c.TestActions {
		if a.ActionType == "checkIgnoreList" {
			x.ignores(t, a.Present)
			continue
		}
		frames := x.place(a.GeneratedLine, a.GeneratedColumn)
		for _, next := range a.IntermediateMaps {
			if len(frames) == 0 {
				t.Fatalf("%+v: no answer", a)
			}
			below := mustExplode(t, inputOf(t, filepath.Join(dir, next)))
			frames = below.place(frames[0].Line-1, frames[0].Column)
		}
		if len(frames) == 0 && a.OriginalSource == nil {
			continue // a segment without a source
		}
		if len(frames) != 1 {
			t.Fatalf("%+v: %v", a, frames)
		}
		f := frames[0]
		name, source := "", ""
		if a.OriginalSource != nil {
			source = *a.OriginalSource
		}
		if a.MappedName != nil {
			name = *a.MappedName
		}
		if f.File != source || f.Line != a.OriginalLine+1 || f.Column != a.OriginalColumn || f.Name != name {
			t.Errorf("%+v: %+v", a, f)
		}
	}
}

// ignores checks that the sources that the map ignores are these.
func (x *exploded) ignores(t *testing.T, want []string) {
	t.Helper()
	for i := range x.ranges {
		f := &x.ranges[i].frames[0]
		if slices.Contains(want, f.File) != f.Ignored {
			t.Errorf("%s: ignored %t", f.File, f.Ignored)
		}
	}
}
