package jobs

import (
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/symlake/symlake/formats/formattest"
)

// A bundle made now, by esbuild, Metro and Hermes' compiler, that throws on V8 and on Hermes: each frame has the
// place that trace-mapping looks up and the function that metro-symbolicate names. The maps of Metro and of the compiler
// are composed here; Metro's own composing is what the oracle read. Functions of esbuild's bundle come from the
// bundle: V8 prints them so when the bundle is not minified.
func TestFreshBundle(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("it makes a bundle")
	}
	formattest.Tool(t, "node", "apt-get install nodejs")
	formattest.Tool(t, "npm", "apt-get install npm")
	cache := os.Getenv("CACHE") // where the packages are kept, outside the tree
	if cache == "" {
		dir, err := os.UserCacheDir()
		if err != nil {
			t.Fatal(err)
		}
		cache = filepath.Join(dir, "symlake")
	}
	out := t.TempDir()
	if text, err := exec.Command("bash", formattest.Testdata(t, "js/live.sh"), cache, out).CombinedOutput(); err != nil {
		if exit, ok := errors.AsType[*exec.ExitError](err); ok && exit.ExitCode() == 7 {
			formattest.Missing(t, "packages of npm", string(text))
		}
		t.Fatalf("%v\n%s", err, text)
	}
	text, err := os.ReadFile(filepath.Join(out, "cases.json"))
	if err != nil {
		t.Fatal(err)
	}
	var all struct {
		Cases []struct {
			Engine, Map, Stack string
			Frames             []struct {
				liveFrame
				Plain *string
			}
		}
	}
	if err := json.Unmarshal(text, &all); err != nil || len(all.Cases) != 9 {
		t.Fatal(len(all.Cases), err)
	}
	store := filepath.Join(t.TempDir(), "store")
	for _, f := range []string{"web.js", "web.js.map", "rn.map", "rn.hbc.map"} { // all at once would do as well
		mustRun(t, []int{0}, "--store", store, "ingest", filepath.Join(out, f))
	}
	artifacts := map[string]string{"web.js.map": "web.js.map", "rn.map": "rn.map", "rn.composed.map": "rn.hbc.map"}
	frames, named := 0, 0
	for _, c := range all.Cases {
		got := scriptAnswers(t, store, artifacts[c.Map], c.Stack)
		for _, want := range c.Frames {
			for len(got) > 0 && got[0].Raw != strings.TrimSpace(want.Line) {
				got = got[1:]
			}
			if len(got) == 0 {
				t.Fatalf("%s: %q has no answer", c.Engine, want.Line)
			}
			if why := want.differs(got[0]); why != "" {
				t.Errorf("%s: %q: %s", c.Engine, want.Line, why)
			}
			if want.Plain != nil && len(got[0].Frames) > 0 {
				if name := lastName(*want.Plain); slices.Contains(ownFunctions, name) {
					named++
					if f := lastName(got[0].Frames[0].Function); f != name {
						t.Errorf("%s: %q is in %q, want %q", c.Engine, want.Line, f, name)
					}
				}
			}
			got = got[1:]
			frames++
		}
	}
	if t.Log(frames, "frames,", named, "functions from the bundle"); frames < 50 || named < 5 {
		t.Error("too few")
	}
}

// ownFunctions are the functions of testdata/js/live with a name, but for inner: esbuild makes that one an
// expression without a name, called where it stands, and its map does not say.
var ownFunctions = []string{"price", "total", "job", "sum", "callback", "undefinedCall"}

// lastName is the last element of a function's name, without the number with which a bundler keeps names apart.
func lastName(s string) string {
	s = s[strings.LastIndexAny(s, ".#")+1:]
	return regexp.MustCompile(`\d+$`).ReplaceAllString(s, "")
}
