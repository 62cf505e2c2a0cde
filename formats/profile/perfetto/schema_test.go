package perfetto

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/symlake/symlake/formats/formattest"
	"github.com/symlake/symlake/formats/profile"
	"github.com/symlake/symlake/formats/samples"
)

// Perfetto's own schema knows all that is appended, and a reader apart from ours finds the same names in it.
func TestSchema(t *testing.T) {
	t.Parallel()
	dir := os.Getenv("SYMLAKE_TRACE")
	if _, err := os.Stat(filepath.Join(dir, ".versions")); dir == "" || err != nil {
		formattest.Missing(t, "a folder with Perfetto's schema", "make readers makes it; then set SYMLAKE_TRACE to it, as make test does")
	}
	l := &lake{classes: map[string]*profile.Class{"a.b": {Original: "com.example.Cart", Fields: []profile.Member{{Name: "d", Original: "count"}},
		Lines: []profile.MethodLine{
			{Member: profile.Member{Name: "c", Original: "com.example.Price.of"}, Ranged: true, First: 1, Last: 3, Sourced: true, From: 10, To: 12},
			{Member: profile.Member{Name: "c", Original: "total"}, Ranged: true, First: 1, Last: 3, Sourced: true, From: 40, To: 40}}}}}
	recorded := slices.Concat(perfTrace(), otherTrace().cut(2))
	appended, _ := l.answer(t, recorded)
	whole := slices.Concat(recorded, appended)
	path := filepath.Join(t.TempDir(), "x.pftrace")
	if err := os.WriteFile(path, whole, 0o600); err != nil {
		t.Fatal(err)
	}
	out, err := exec.Command(filepath.Join(dir, "py/bin/python"), formattest.Testdata(t, "profile/pftrace.py"), path, fmt.Sprint(len(recorded))).Output()
	if err != nil {
		var why *exec.ExitError
		if errors.As(err, &why) {
			t.Fatalf("%v: %s", err, why.Stderr)
		}
		t.Fatal(err)
	}
	var to samples.Profile
	if err := samplesOf(t.Context(), profile.Bytes("trace", whole), &to); err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(strings.Split(strings.TrimSpace(string(out)), "\n"), stacksOf(&to)); d != "" || len(to.Samples) != 5 {
		t.Error(d)
	}
}

// stacksOf returns the functions of samples, from the innermost.
func stacksOf(p *samples.Profile) (stacks []string) {
	for _, s := range p.Samples {
		var names []string
		for at := s.Stack; at >= 0; at = p.Stacks[at].Caller {
			names = append(names, p.Frames[p.Stacks[at].Frame].Function)
		}
		stacks = append(stacks, strings.Join(names, " < "))
	}
	return stacks
}
