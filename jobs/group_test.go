package jobs

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/symlake/symlake/formats/formattest"
	"github.com/symlake/symlake/sinks/group"
)

const (
	groupSites = 104 // in each program
	leastSame  = 95  // of 100 sites have one group in two builds
)

// groupBuild is a build of the program of testdata/group.
type groupBuild struct {
	name string
	args []string // the compiler and its flags
}

// groupBuilds are builds of C++ and Rust. make test compares the first two, make soak all of a language.
var groupBuilds = map[string][]groupBuild{
	"sites.cpp": {
		{"clang -O1 -fno-inline", []string{"clang-19", "-x", "c++", "-O1", "-fno-inline"}},
		{"clang -O3", []string{"clang-19", "-x", "c++", "-O3"}},
		{"clang -O2", []string{"clang-19", "-x", "c++", "-O2"}},
		{"clang -O3 -flto", []string{"clang-19", "-x", "c++", "-O3", "-flto", "-fuse-ld=lld-19"}},
		{"gcc -O1", []string{"g++", "-O1"}},
		{"gcc -O2", []string{"g++", "-O2"}},
		{"gcc -O3", []string{"g++", "-O3"}},
		{"gcc -O2 -fno-inline", []string{"g++", "-O2", "-fno-inline"}},
	},
	"sites.rs": {
		{"rustc -O1", []string{"rustc", "-Copt-level=1"}},
		{"rustc -O3", []string{"rustc", "-Copt-level=3"}},
		{"rustc -O2, one unit", []string{"rustc", "-Copt-level=2", "-Ccodegen-units=1"}},
		{"rustc -O3, newer names", []string{"rustc", "-Copt-level=3", "-Csymbol-mangling-version=v0"}},
		{"rustc -O0", []string{"rustc", "-Copt-level=0"}},
	},
}

// compilers says how to get each.
var compilers = map[string]string{"clang-19": "apt-get install clang-19 lld-19", "g++": "apt-get install g++", "rustc": "apt-get install rustc"}

// TestGroupBuilds: two builds of one source with other optimization give the same group for 95 of 100 crash sites. Each
// program walks its own stack at each of its sites, and prints it as a row.
func TestGroupBuilds(t *testing.T) {
	t.Parallel()
	for source, builds := range groupBuilds {
		if os.Getenv("SYMLAKE_GROUPS") == "" {
			if builds = builds[:2]; source != "sites.cpp" {
				continue
			}
		}
		t.Run(source, func(t *testing.T) {
			t.Parallel()
			var first map[int]string
			for i, b := range builds {
				groups := b.groups(t, source)
				if i == 0 {
					first = groups
				}
				different := map[string]int{}
				same := 0
				for site, g := range groups {
					if different[g]++; g == first[site] {
						same++
					}
				}
				t.Logf("%s and %s: %d of %d sites have the same group", builds[0].name, b.name, same, groupSites)
				if len(groups) != groupSites || same*100 < leastSame*groupSites {
					t.Errorf("%s and %s: %d of %d sites", builds[0].name, b.name, same, len(groups))
				}
				if len(different)*100 < leastSame*groupSites {
					t.Errorf("%s: %d sites have %d groups alone", b.name, len(groups), len(different))
				}
			}
		})
	}
}

// groups builds the program, runs it and symbolicates its rows. It returns the groups by site.
func (b *groupBuild) groups(t *testing.T, source string) map[int]string {
	t.Helper()
	compiler := formattest.Tool(t, b.args[0], compilers[b.args[0]])
	dir := t.TempDir()
	program := filepath.Join(dir, "sites")
	args := append(b.args[1:len(b.args):len(b.args)], "-g", "-o", program, formattest.Testdata(t, "group/"+source))
	if source == "sites.cpp" {
		args = append(args, "-funwind-tables", "-fno-exceptions", "-fno-rtti")
	}
	cmd := exec.Command(compiler, args...)
	cmd.Dir = dir
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%s: %v\n%s", b.name, err, out)
	}
	raw, err := exec.Command(program).Output()
	if err != nil {
		t.Fatal(err)
	}
	rows := filepath.Join(dir, "rows.ndjson")
	if err := os.WriteFile(rows, raw, 0o600); err != nil {
		t.Fatal(err)
	}
	out := filepath.Join(dir, "out")
	mustRun(t, []int{0}, "symbolicate", "--symbols", program, "--input", rows, "--output", out)
	answered, err := os.ReadFile(filepath.Join(out, "rows.ndjson"))
	if err != nil {
		t.Fatal(err)
	}
	groups := map[int]string{}
	for line := range bytes.Lines(answered) {
		var row struct {
			Site  int
			Group string
		}
		if err := json.Unmarshal(line, &row); err != nil {
			t.Fatal(err)
		}
		if !strings.HasPrefix(row.Group, fmt.Sprint(group.Version)+":") {
			t.Fatalf("site %d has the group %q", row.Site, row.Group)
		}
		if _, known := groups[row.Site]; !known {
			groups[row.Site] = row.Group
		}
	}
	return groups
}
