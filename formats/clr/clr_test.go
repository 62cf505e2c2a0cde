package clr

import (
	"context"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/symlake/symlake/formats"
	"github.com/symlake/symlake/formats/formattest"
	"github.com/symlake/symlake/formats/symbol"
)

func data(t testing.TB, file string) string { return formattest.Testdata(t, "clr") + "/" + file }

func TestFormat(t *testing.T) {
	formattest.Run(t, &Format, data(t, "demo.exe"), data(t, "demo.pdb"), data(t, "embedded.exe"))
}

// openBeside opens a file of testdata with its companions.
func openBeside(t *testing.T, file string) *formats.Artifact {
	return &formattest.Open(t, &Format, formattest.Beside(t, data(t, file))).Artifacts[0]
}

// TestIdentity: an assembly, its PDB, and the assembly that holds it, are told by the debug directory.
func TestIdentity(t *testing.T) {
	want := "b1d69ab0-751f-4334-bd03-72dbdb888719-0"
	for _, file := range []string{"demo.exe", "demo.pdb"} {
		a := openBeside(t, file)
		if a.Kind != symbol.CLR || a.Canonical != want || a.Rank != symbol.RankDWARF {
			t.Errorf("%s: %s %q, rank %d", file, a.Kind, a.Canonical, a.Rank)
		}
		for _, n := range []symbol.Name{{Kind: symbol.NameDebugID, Text: want}, {Kind: symbol.NameMVID, Text: "b1d69ab0-751f-4334-bd03-72dbdb888719"}, {Kind: symbol.NameFile, Text: "demo.exe"}} {
			if !slices.Contains(a.Names, n) {
				t.Errorf("%s: no %v in %v", file, n, a.Names)
			}
		}
	}
}

// frame is a line of a stack of Mono: the method, the offset in its code, the file and the line.
var frame = regexp.MustCompile(`^  at (\S+) \(.*\) \[0x([0-9a-f]+)\] in (.+):([0-9]+) `)

// TestMono holds answers against the lines that Mono itself printed with the same files.
func TestMono(t *testing.T) {
	text, err := os.ReadFile(data(t, "demo.lines.txt"))
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range []string{"demo.exe", "demo.pdb", "embedded.exe"} {
		flat, err := formattest.Flatten(context.Background(), &Format, openBeside(t, file))
		if err != nil {
			t.Fatal(err)
		}
		starts := map[string]uint64{}
		for _, at := range flat.Borders() {
			for _, f := range flat.At(at) {
				if _, ok := starts[f.Linkage]; !ok {
					starts[f.Linkage] = at
				}
			}
		}
		compared := 0
		for line := range strings.Lines(string(text)) {
			m := frame.FindStringSubmatch(line)
			if m == nil || !strings.HasPrefix(m[3], "/src/") {
				continue
			}
			name := strings.NewReplacer("[T]", "", "+", ".").Replace(m[1])
			offset, _ := strconv.ParseUint(m[2], 16, 32)
			start, ok := starts[name]
			if !ok {
				t.Errorf("%s: no %s", file, name)
				continue
			}
			if strings.HasSuffix(name, ".Pay") && offset < 0x30 {
				continue // Mono gives the lambda in a state machine the name of the machine's method
			}
			got := flat.At(start + offset)
			if len(got) != 1 || got[0].File != m[3] || strconv.Itoa(int(got[0].Line)) != m[4] {
				t.Errorf("%s: %s+%#x is %v, want %s:%s", file, name, offset, got, m[3], m[4])
			}
			compared++
		}
		if compared < 12 {
			t.Errorf("%s: %d frames compared", file, compared)
		}
	}
}

// An assembly without its PDB has names. A PDB without its assembly has places, and names the missing assembly.
func TestAlone(t *testing.T) {
	for file, want := range map[string]symbol.Frame{
		"demo.exe": {Linkage: "Shop.Core.Program.Try"},
		"demo.pdb": {File: "/src/demo.cs", Line: 59, Column: 19},
	} {
		in := formattest.Input(t, data(t, file))
		a := &formattest.Open(t, &Format, in).Artifacts[0]
		flat, err := formattest.Flatten(context.Background(), &Format, a)
		if err != nil {
			t.Fatal(err)
		}
		if got := flat.At(16<<32 | 3); len(got) != 1 || got[0] != want {
			t.Errorf("%s: %v, want %v", file, got, want)
		}
		q, err := a.Explode(context.Background(), 0, func(*symbol.Run) error { return nil })
		if err != nil || (len(q.Missing) == 1) != (file == "demo.pdb") {
			t.Errorf("%s: %v, missing %v", file, err, q.Missing)
		}
	}
}

func FuzzCLR(f *testing.F) {
	formattest.Seed(f, 64<<10, data(f, "demo.exe"), data(f, "demo.pdb"), data(f, "embedded.exe"))
	f.Fuzz(func(t *testing.T, b []byte) {
		magic := "BSJB"
		if len(b) > 0 && b[0] == 'M' {
			magic = "MZ"
		}
		formattest.Fuzz(t, &Format, magic, b)
	})
}
