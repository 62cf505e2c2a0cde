package jobs

import (
	"fmt"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/symlake/symlake/formats/formattest"
	"github.com/symlake/symlake/formats/profile"
	"github.com/symlake/symlake/formats/profile/pprof"
	"github.com/symlake/symlake/formats/samples"
)

// TestPprof answers profiles of perf, and compares each sample with the answers of Google's pprof: functions, files, lines
// and inlined calls of our programs. testdata/profile/pprof/record.sh recorded them.
func TestPprof(t *testing.T) {
	t.Parallel()
	kept := formattest.Testdata(t, "profile/kept")
	for _, name := range []string{"tree", "matrix"} {
		out := filepath.Join(t.TempDir(), name+".pb.gz")
		mustRun(t, []int{0}, "symbolicate", "--symbols", filepath.Join(kept, "symbols"), filepath.Join(kept, name+".pb.gz"), "--output", out)
		want := pprofStacks(t, formattest.Testdata(t, "profile/pprof/"+name+".pb.gz"))
		if len(want) < 5 {
			t.Fatalf("%s: %d stacks alone", name, len(want))
		}
		if diff := cmp.Diff(want, pprofStacks(t, out)); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
}

// pprofStacks returns the stacks of a profile, with the frames of our programs alone.
func pprofStacks(t *testing.T, file string) []string {
	t.Helper()
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var p samples.Profile
	if err := profile.Samples(t.Context(), []*profile.Format{pprof.Format}, profile.Bytes(file, b), &p); err != nil {
		t.Fatal(err)
	}
	sums := map[string]int64{}
	for i, s := range p.Samples {
		var names []string
		for at := s.Stack; at >= 0; at = p.Stacks[at].Caller {
			f := p.Frames[p.Stacks[at].Frame]
			if f.File == "" || !slices.Contains([]string{"tree", "matrix", "libkernel.so"}, path.Base(f.Module)) {
				continue
			}
			// llvm-symbolizer knows the last part alone of a name without a linkage name.
			names = append(names, fmt.Sprintf("%s %s:%d:%d %v", lastPart(f.Function), path.Clean(f.File), f.Line, f.Column, f.Inlined))
		}
		sums[strings.Join(names, "\n")] += p.Value(i, 0)
	}
	var all []string
	for stack, sum := range sums {
		all = append(all, fmt.Sprintf("%s %d", stack, sum))
	}
	slices.Sort(all)
	return all
}

var scope = regexp.MustCompile(`^.*::`)

// lastPart is the last part of a function's name.
func lastPart(name string) string { return scope.ReplaceAllString(name, "") }
