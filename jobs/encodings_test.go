package jobs

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/text/encoding/unicode"

	"github.com/symlake/symlake/formats/formattest"
)

// A stack is answered alike in each encoding in which other programs pass it on.
func TestEncodings(t *testing.T) {
	t.Parallel()
	mapping := formattest.Testdata(t, "r8/shop.map.txt")
	raw, err := os.ReadFile(formattest.Testdata(t, "r8/shop.txt"))
	if err != nil {
		t.Fatal(err)
	}
	text := string(raw)
	answer := func(input string) (out, errOut string) {
		t.Helper()
		file := filepath.Join(t.TempDir(), "stack.txt")
		if err := os.WriteFile(file, []byte(input), 0o600); err != nil {
			t.Fatal(err)
		}
		return mustRun(t, []int{0}, "symbolicate", "--symbols", mapping, file)
	}
	want, _ := answer(text)
	if want == text {
		t.Fatal("nothing is answered")
	}
	wide, err := unicode.UTF16(unicode.LittleEndian, unicode.UseBOM).NewEncoder().String(text)
	if err != nil {
		t.Fatal(err)
	}
	quoted, err := json.Marshal(strings.TrimSpace(text))
	if err != nil {
		t.Fatal(err)
	}
	for name, input := range map[string]string{
		"UTF-16":          wide,
		"mark":            "\ufeff" + text,
		"returns":         strings.ReplaceAll(text, "\n", "\r"),
		"no-break spaces": strings.ReplaceAll(text, " ", "\u00a0"),
		"escapes":         string(bytes.Trim(quoted, `"`)) + "\n",
	} {
		if out, _ := answer(input); strings.TrimSpace(out) != strings.TrimSpace(want) {
			t.Errorf("%s: got\n%s\nwant\n%s", name, out, want)
		}
	}

	for input, words := range map[string][]string{
		"":                              {"no frame was recognized", "stack.txt", "empty"},
		"at a.b.c[SourceFile:12]\n":     {"no frame was recognized", "nearest", "java"},
		`{"user":1,"frames":[]}` + "\n": {"no frame was recognized", "JSON with user, frames"},
	} {
		out, errOut := answer(input)
		if out != input || strings.Count(errOut, "\n") != 1 {
			t.Errorf("%q became %q, with the words\n%s", input, out, errOut)
		}
		for _, word := range words {
			if !strings.Contains(errOut, word) {
				t.Errorf("%q: %q is not in %s", input, word, errOut)
			}
		}
	}
	if _, errOut := answer(text); strings.Contains(errOut, "recognized") {
		t.Error(errOut)
	}

	var many strings.Builder
	for i := range 25 {
		fmt.Fprintf(&many, "#00 pc 0000000000001000  /data/lib%d.so\n", i)
	}
	if _, errOut := answer(many.String()); strings.Count(errOut, "\n") != 21 || !strings.Contains(errOut, "and 5 more") {
		t.Errorf("25 images without symbols:\n%s", errOut)
	}
}
