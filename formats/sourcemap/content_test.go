package sourcemap

import (
	"context"
	"encoding/json"
	"errors"
	"maps"
	"strings"
	"testing"

	"github.com/symlake/symlake/formats"
	"github.com/symlake/symlake/formats/formattest"
)

// textsOf is what a map emits of its sources' texts, by file.
func textsOf(t *testing.T, in *formats.Input) map[string]string {
	t.Helper()
	obj, err := openMap(context.Background(), in, nil)
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]string{}
	err = obj.Artifacts[0].Texts(context.Background(), func(file string, text []byte) error {
		got[file] = string(text)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return got
}

// Texts come under the names that frames have: with the source root, of every section; null ones and those
// of sources without a name do not come.
func TestTexts(t *testing.T) {
	const odd = "a\tb\u2028\U0001f600\"\\ \u00e9"
	quoted, err := json.Marshal(odd)
	if err != nil {
		t.Fatal(err)
	}
	one := `{"version":3,"sourceRoot":"src","sources":["a.ts","./b.ts",null,"c.ts"],"sourcesContent":["one\n",` + string(quoted) + `,"of nobody",null,"too many"],"mappings":"AAAA"}`
	two := `{"version":3,"sourcesContent":["two"],"mappings":"AAAA","sources":["z.ts"]}`
	for text, want := range map[string]map[string]string{
		one: {"src/a.ts": "one\n", "src/b.ts": odd},
		`{"version":3,"sections":[{"offset":{"line":0,"column":0},"map":` + one + `},{"offset":{"line":5,"column":0},"map":` + two + `}]}`: {"src/a.ts": "one\n", "src/b.ts": odd, "z.ts": "two"},
		`{"version":3,"sources":["a"],"mappings":"AAAA"}`:                       {},
		`{"version":3,"sources":["a"],"mappings":"AAAA","sourcesContent":null}`: {},
	} {
		if got := textsOf(t, formattest.InputOf("a.js.map", []byte(text), formats.Limits{})); !maps.Equal(got, want) {
			t.Errorf("%.80s: %q, want %q", text, got, want)
		}
	}
}

// A text above the limit is passed over, and those behind it come.
func TestTextsAboveTheLimit(t *testing.T) {
	text := `{"version":3,"sources":["a","b"],"sourcesContent":["` + strings.Repeat("x", 101) + `","y"],"mappings":"AAAA"}`
	in := formattest.InputOf("a.js.map", []byte(text), formats.Limits{SourceBytes: 100})
	if got := textsOf(t, in); !maps.Equal(got, map[string]string{"b": "y"}) {
		t.Errorf("%q", got)
	}
}

// The compiler's map of Hermes answers with the packager's sources, so their texts are wanted.
func TestTextsOfComposed(t *testing.T) {
	got := textsOf(t, folder(t, formattest.Testdata(t, "js/index.android.bundle.hbc.map")))
	if len(got) == 0 {
		t.Fatal("no texts")
	}
	for file := range got {
		if strings.HasSuffix(file, ".bundle") {
			t.Errorf("the text of %s, which no answer names", file)
		}
	}
}

func TestTextsStop(t *testing.T) {
	stop := errors.New("stop")
	obj, err := openMap(context.Background(), formattest.InputOf("a.js.map", []byte(`{"version":3,"sources":["a"],"sourcesContent":["x"],"mappings":"AAAA"}`), formats.Limits{}), nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := obj.Artifacts[0].Texts(context.Background(), func(string, []byte) error { return stop }); err != stop {
		t.Error(err)
	}
}
