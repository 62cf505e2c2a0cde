package jobs

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/symlake/symlake/formats/formattest"
	"github.com/symlake/symlake/jobs/wire"
)

// summaryLine decodes a record with the counts of an input; ok is false for records of stacks.
func summaryLine(t *testing.T, line string) (s wire.SummaryRecord, ok bool) {
	t.Helper()
	var members map[string]json.RawMessage
	if err := json.Unmarshal([]byte(line), &members); err != nil {
		t.Fatalf("%v: %s", err, line)
	}
	if members["threads"] == nil {
		t.Errorf("a script that reads a record a stack finds no threads in %s", line)
	}
	if members["recognized"] == nil {
		return s, false
	}
	s.Summary = new(wire.Summary)
	if err := json.Unmarshal([]byte(line), &s); err != nil {
		t.Fatal(err)
	}
	return s, true
}

// TestStrict gives inputs with frames, with none, and with some that have no symbols.
func TestStrict(t *testing.T) {
	t.Parallel()
	mapping := formattest.Testdata(t, "r8/shop.map.txt")
	dir := t.TempDir()
	file := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	raw, err := os.ReadFile(formattest.Testdata(t, "r8/shop.txt"))
	if err != nil {
		t.Fatal(err)
	}
	known := file("known.txt", string(raw))
	none := file("none.txt", "nothing to see\n")
	native := file("native.txt", strings.Repeat("#00 pc 0000000000001000  /data/liba.so\n", 3)+"#00 pc 0000000000001000  [vdso]\n")

	for name, c := range map[string]struct {
		code   int
		files  []string
		counts []string // inputs with a record of counts
		strict []string // the same with --strict
	}{
		"all known":     {0, []string{known}, nil, []string{known}},
		"no symbols":    {0, []string{native}, nil, []string{native}},
		"nothing":       {3, []string{none}, []string{none}, []string{none}},
		"one of two":    {3, []string{known, none}, []string{none}, []string{known, none}},
		"the other one": {3, []string{none, known}, []string{none}, []string{none, known}},
	} {
		for _, strict := range []bool{false, true} {
			args, code, want := append([]string{"symbolicate", "--json", "--symbols", mapping}, c.files...), 0, c.counts
			if strict {
				args, code, want = append(args, "--strict"), c.code, c.strict
			}
			out, errOut := mustRun(t, []int{code}, args...)
			var got []string
			for line := range strings.Lines(out) {
				if s, ok := summaryLine(t, line); ok {
					got = append(got, s.Input)
					if (s.Recognized == 0) != (s.Input == none) || s.Recognized == 0 && (s.Looks == "" || s.LookedFor == "") {
						t.Errorf("%s: %s", name, line)
					}
				}
			}
			if !slices.Equal(got, want) {
				t.Errorf("%s, strict %v: counts of %v, want %v\n%s", name, strict, got, want, out)
			}
			if said := strings.Contains(errOut, "no frame was recognized"); said != slices.Contains(c.files, none) {
				t.Errorf("%s: %s", name, errOut)
			}
		}
	}

	out, errOut := mustRun(t, []int{0}, "symbolicate", "--json", "--strict", "--symbols", mapping, native)
	lines := strings.Split(strings.TrimSpace(out), "\n")
	s, ok := summaryLine(t, lines[len(lines)-1])
	if !ok || s.Recognized != 4 || s.Answered != 0 || len(s.Unanswered) != 2 {
		t.Fatalf("counts %+v", s.Summary)
	}
	for i, want := range []wire.Unanswered{
		{Frames: 3, Image: "/data/liba.so", Status: "no-artifact", Reason: `no artifact is called "liba.so"`},
		{Frames: 1, Image: "[vdso]", Status: "no-artifact", Reason: "the code is the kernel's: no file has it"},
	} {
		if s.Unanswered[i] != want {
			t.Errorf("%+v, want %+v", s.Unanswered[i], want)
		}
	}
	if first, _, _ := strings.Cut(errOut, "\n"); !strings.Contains(first, `"frames":3`) || strings.Count(errOut, "not symbolicated") != 2 {
		t.Error(errOut)
	}
}
