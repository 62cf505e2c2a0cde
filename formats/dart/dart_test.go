package dart_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/symlake/symlake/formats"
	"github.com/symlake/symlake/formats/dart"
	"github.com/symlake/symlake/formats/formattest"
	"github.com/symlake/symlake/formats/symbol"
)

// names opens a map and gives its pairs as "replacement=original".
func names(t *testing.T, text string) (pairs []string, q symbol.Quality, err error) {
	t.Helper()
	obj, err := dart.Format.Open(t.Context(), formattest.InputOf("map.json", []byte(text), formats.Limits{}))
	if err != nil {
		return nil, q, err
	}
	q, err = obj.Artifacts[0].ExplodeClasses(t.Context(), 0, func(c *symbol.Class) error {
		pairs = append(pairs, c.Name+"="+c.Original)
		return nil
	})
	return pairs, q, err
}

func TestNames(t *testing.T) {
	pairs, q, err := names(t, "\ufeff[\"Cart\",\"aa\", \"main\",\"main\", \"get:x@1\",\"b\", \"Late\",\"aa\", \"gone\",\"\"]\r\n")
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"aa=Cart", "main=main", "b=get:x@1"}, pairs); diff != "" || len(q.Warnings) != 1 {
		t.Errorf("%s, %q", diff, q.Warnings)
	}
	for text, want := range map[string]string{
		`["a","b"`:            "want the end of the array",
		`["a","b","c"]`:       "want names in pairs",
		`["a",1]`:             "want a name in quotes",
		`{"a":"b"}`:           "want an array of names",
		`["a","b"] x`:         "want nothing behind the array",
		`["a","b",["c","d"]]`: "want a name in quotes",
	} {
		_, _, err := names(t, text)
		if !errors.Is(err, formats.ErrCorrupt) || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", text, err)
		}
	}
}

func TestDetect(t *testing.T) {
	for text, want := range map[string]bool{
		`["Cart","aa"]`:                        true,
		"\ufeff [ \"Cart\" , \"aa\" ]\n":       true,
		`["MaterialApp","ex","Scaffold","ey"]`: true,
		`[]`:                                   false,
		`["Cart"]`:                             false,
		`["Cart","a b"]`:                       false,
		`["Cart",""]`:                          false,
		`["a","b",1]`:                          false,
		`["Cart","` + strings.Repeat("a", 25) + `"]`: false,
		`{"version":3}`: false,
	} {
		if got := dart.Format.Detect("map.json", []byte(text)); got != want {
			t.Errorf("%s: %t", text, got)
		}
	}
}

func TestFormat(t *testing.T) {
	formattest.Run(t, &dart.Format, formattest.Testdata(t, "dart/obfuscation-map.json"))
}

func FuzzNames(f *testing.F) {
	formattest.Seed(f, 4<<10, formattest.Testdata(f, "dart/obfuscation-map.json"))
	f.Add([]byte("[\"a\",\"\\ud800\",\"b\",\"c\""))
	f.Fuzz(func(t *testing.T, data []byte) { formattest.Fuzz(t, &dart.Format, "[\"", data) })
}

// A name that is too long is cut, and the map is read.
func TestLongNames(t *testing.T) {
	long := strings.Repeat("n", 127041)
	pairs, _, err := names(t, `["a","b","`+long+`","c","d","`+long+`"]`)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"b=a", "c=" + symbol.CutName(long), symbol.CutName(long) + "=d"}, pairs); diff != "" {
		t.Error(diff)
	}
}
