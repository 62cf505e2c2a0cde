package sourcemap

import (
	"bytes"
	"context"
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"

	"github.com/symlake/symlake/formats"
	"github.com/symlake/symlake/formats/formattest"
)

// withScript is a map with the script that it belongs to beside it.
func withScript(text, script []byte, file string) *formats.Input {
	in := formattest.InputOf(file+".map", text, formats.Limits{})
	in.Companion = func(_ context.Context, want formats.Ref) (*formats.Input, error) {
		if want.Name != file {
			return nil, formats.ErrNoCompanion
		}
		return formattest.InputOf(file, script, formats.Limits{}), nil
	}
	return in
}

// Names from the minified bundle equal Metro's function map, which is made from the sources,
// but where Babel rewrote what Metro saw (an eighth of the positions): classes became functions of assigned properties, modules got
// wrappers that pass __d a function, and exports lost their names without the map saying so.
func TestNamesFromBundle(t *testing.T) {
	dir := formattest.Fixture(t, "rn-live")
	in := inputOf(t, filepath.Join(dir, "app.map.gz"))
	script := inputOf(t, filepath.Join(dir, "app.js.gz"))
	want := mustExplode(t, in)
	code, _, _ := bytes.Cut(script.Mapped, []byte("//# sourceMappingURL=")) // else its own map, with all names, would win
	got := mustExplode(t, withScript(without(t, in.Mapped, "x_facebook_sources"), code, "app.js"))
	same, plain := 0, 0
	for _, g := range want.ranges {
		f := got.at(g.Start)
		if len(f) == 0 || f[0].Linkage == "" {
			t.Fatalf("%#x: no function", g.Start)
		}
		if strings.Contains(f[0].File, "react-test-renderer") { // as it was published: Babel left it alone
			plain++
			if f[0].Linkage == g.frames[0].Linkage {
				same++
			}
		}
	}
	if t.Logf("%d of %d the same", same, plain); plain < 10000 || same*100 < plain*85 {
		t.Errorf("%d of %d have Metro's name", same, plain)
	}
}

// without is a JSON object without a member.
func without(t *testing.T, text []byte, key string) []byte {
	t.Helper()
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(text, &fields); err != nil {
		t.Fatal(err)
	}
	delete(fields, key)
	text, err := json.Marshal(fields)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// What a script that is no script costs is the names alone.
func TestBrokenScript(t *testing.T) {
	text := []byte(`{"version":3,"sources":["a.ts"],"names":["add"],"mappings":"AAAA,SAASA"}`)
	for _, script := range []string{"function a(){", "\x00\x01", "", "}}}}", "a`${", string(bytes.Repeat([]byte("(["), 1<<16)), string(bytes.Repeat([]byte("function(){"), 1<<14))} {
		x := mustExplode(t, withScript(text, []byte(script), "app.js"))
		if f := x.place(0, 9); len(f) != 1 || f[0].Linkage != "" || f[0].Name != "add" {
			t.Errorf("%.20q: %v", script, f)
		}
	}
}
