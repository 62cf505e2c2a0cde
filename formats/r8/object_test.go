package r8_test

import (
	"crypto/sha256"
	"errors"
	"flag"
	"fmt"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/symlake/symlake/formats"
	"github.com/symlake/symlake/formats/formattest"
	"github.com/symlake/symlake/formats/r8"
	"github.com/symlake/symlake/formats/symbol"
)

var update = flag.Bool("update", false, "write the goldens")

func TestSuite(t *testing.T) {
	formattest.Run(t, &r8.Format, formattest.Testdata(t, "r8/mapping.txt"))
	formattest.Run(t, &r8.Partition, formattest.Testdata(t, "r8/partition.zip"))
}

// Everything that a mapping can say, one line a member.
func TestGolden(t *testing.T) {
	all := formattest.Classes(t, &r8.Format, formattest.Input(t, formattest.Testdata(t, "r8/mapping.txt")))
	var names []string
	for name := range all {
		names = append(names, name)
	}
	slices.Sort(names)
	var b strings.Builder
	for _, name := range names {
		c := all[name]
		if c.Facts != nil {
			fmt.Fprintf(&b, "version %s packages %q\n", c.Facts.Version, c.Facts.Packages)
			continue
		}
		fmt.Fprintf(&b, "%s = %s %s synthesized=%t files=%v\n", c.Name, c.Original, c.File, c.Synthesized, c.Files)
		for _, m := range c.Members {
			fmt.Fprintf(&b, "  %s = %s %s.%s(%s) field=%t %v %v", m.Name, m.Type, m.Class, m.Original, m.Params, m.Field, m.Lines, m.From)
			for _, r := range m.Rules {
				fmt.Fprintf(&b, " %+v", r)
			}
			b.WriteByte('\n')
		}
	}
	path := formattest.Testdata(t, "r8/mapping.txt") + ".golden"
	if *update {
		if err := os.WriteFile(path, []byte(b.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if b.String() != string(want) {
		t.Fatalf("got\n%s\nwant\n%s", b.String(), want)
	}
}

// R8's partitioned form gives the same classes and facts, under the same id.
func TestPartition(t *testing.T) {
	text := formattest.Input(t, formattest.Testdata(t, "r8/mapping.txt"))
	parted := formattest.Input(t, formattest.Testdata(t, "r8/partition.zip"))
	want, got := formattest.Classes(t, &r8.Format, text), formattest.Classes(t, &r8.Partition, parted)
	if !reflect.DeepEqual(got, want) {
		t.Fatalf("%d classes, want %d, or they differ", len(got), len(want))
	}
	a, b := formattest.Open(t, &r8.Format, text).Artifacts[0], formattest.Open(t, &r8.Partition, parted).Artifacts[0]
	if a.ID != b.ID || a.Canonical != "5a0b0e1" {
		t.Fatalf("%s and %s", a.Canonical, b.Canonical)
	}
}

func input(text string, l formats.Limits) *formats.Input {
	return formattest.InputOf("mapping.txt", []byte(text), l)
}

// quality reads all parts.
func quality(t *testing.T, in *formats.Input) (q symbol.Quality, classes int, err error) {
	t.Helper()
	a := &formattest.Open(t, &r8.Format, in).Artifacts[0]
	for part := range a.Parts {
		got, err := a.ExplodeClasses(t.Context(), part, func(c *symbol.Class) error {
			if c.Facts == nil {
				classes++
			}
			return nil
		})
		if err != nil {
			return q, classes, err
		}
		q.Lines += got.Lines
		q.BadLines += got.BadLines
		q.UnitsBroken += got.UnitsBroken
		q.Warnings = append(q.Warnings, got.Warnings...)
	}
	return q, classes, a.Check(q)
}

func TestNames(t *testing.T) {
	for head, want := range map[string][]string{
		"": {"sha256:", "mapping.txt"},
		"# pg_map_id: ABCDEF0\n# pg_map_hash: SHA-256 abcdef01\n": {"abcdef0", "r8-map-id-abcdef0", "abcdef01", "r8-map-id-abcdef01", "mapping.txt"},
		"# compiler: R8\r\n#pg_map_id:  abcdef0123\r\n":           {"abcdef0123", "r8-map-id-abcdef0123", "mapping.txt"},
		"a.A -> a:\n# pg_map_id: beefbee\n":                       {"sha256:", "mapping.txt"}, // no header any more
	} {
		a := formattest.Open(t, &r8.Format, input(head+"x.Y -> y:\n    int f -> a\n", formats.Limits{})).Artifacts[0]
		var got []string
		for _, n := range a.Names {
			text := n.Text
			if strings.HasPrefix(text, "sha256:") {
				text = "sha256:"
			}
			got = append(got, text)
		}
		if !slices.Equal(got, want) {
			t.Errorf("%q: %q, want %q", head, got, want)
		}
	}
}

// The id of a mapping that has none of its own is the hash of all its bytes, however they are read.
func TestContentID(t *testing.T) {
	class := "x.Y -> y:\n# {\"id\":\"sourceFile\",\"fileName\":\"Y.java\"}\n" + strings.Repeat("    1:1:void m():1:1 -> a\n", 20_000)
	for name, text := range map[string]string{
		"one line":              "x.Y -> y:",
		"several windows":       class + "x.Z -> z:\n    int f -> a\n",
		"a line of megabytes":   class + "    void " + strings.Repeat("q", 3<<20) + "() -> b\n" + class,
		"it ends in a long one": class + "# " + strings.Repeat("q", 3<<20),
	} {
		for _, in := range []*formats.Input{input(text, formats.Limits{}), formattest.Unmapped(input(text, formats.Limits{}))} {
			want := fmt.Sprintf("sha256:%x", sha256.Sum256([]byte(text)))
			if got := formattest.Open(t, &r8.Format, in).Artifacts[0].Canonical; got != want {
				t.Errorf("%s: %s, want %s", name, got, want)
			}
		}
	}
}

// A bad line is counted and told by its place, never by its text; one in a hundred is too many.
func TestBadLines(t *testing.T) {
	var b strings.Builder
	b.WriteString("x.Y -> y:\n")
	for i := range 996 {
		fmt.Fprintf(&b, "    %d:%d:void secret%d():1:1 -> a\n", i, i, i)
	}
	b.WriteString("    99999999999:1:void secret():1:1 -> a\n    1:1:void secret() - > a\n  # {\"id\":\"secret\"\n")
	q, _, err := quality(t, input(b.String(), formats.Limits{}))
	want := []string{"line 998, column 14: want a line number and a colon", "line 999, column 28: want an arrow and a new name", "line 1000, column 3: want a JSON object: it is read as a comment"}
	if err != nil || q.Lines != 1000 || q.BadLines != 2 || !slices.Equal(q.Warnings, want) {
		t.Errorf("%v: %d of %d lines, %q", err, q.BadLines, q.Lines, q.Warnings)
	}
	_, _, err = quality(t, input(b.String()+strings.Repeat("    secret\n", 9), formats.Limits{}))
	if !errors.Is(err, formats.ErrCorrupt) || strings.Contains(err.Error(), "secret") {
		t.Errorf("too many: %v", err)
	}
	// Members below a class line that does not parse belong to no class.
	text := "x.Y -> y:\n    int f -> a\nbroken line\n    int g -> b\nx.Z -> z:\n" + strings.Repeat("    int h -> c\n", 300)
	if q, n, err := quality(t, input(text, formats.Limits{})); err != nil || q.BadLines != 2 || n != 2 {
		t.Errorf("%v: %d bad lines, %d classes, %q", err, q.BadLines, n, q.Warnings)
	}
}

// A version that is not known yet is read as the newest one, and said.
func TestNewerVersion(t *testing.T) {
	q, n, err := quality(t, input("# {\"id\":\"com.android.tools.r8.mapping\",\"version\":\"9.1\"}\nx.Y -> y:\n    int f -> a\n", formats.Limits{}))
	if err != nil || n != 1 || len(q.Warnings) != 1 || !strings.Contains(q.Warnings[0], "line 1") {
		t.Errorf("%v: %q", err, q.Warnings)
	}
}

// A version holds until the next one, also where parts are cut.
func TestConcatenated(t *testing.T) {
	var b strings.Builder
	const rule = "    1:1:void m():1:1 -> a\n# {\"id\":\"com.android.tools.r8.outline\"}\n"
	b.WriteString("a.A0 -> a0:\n" + rule + "# {\"id\":\"com.android.tools.r8.mapping\",\"version\":\"2.0\"}\na.A1 -> a1:\n" + rule)
	for i := 0; b.Len() < 9<<20; i++ {
		fmt.Fprintf(&b, "f.F%d -> f%d:\n    1:1:void b.B.m():1:1 -> a\n", i, i)
	}
	b.WriteString("a.A2 -> a2:\n" + rule + "# {\"id\":\"com.android.tools.r8.mapping\",\"version\":\"1.0\"}\r\na.A3 -> a3:\n" + rule + "b.B -> b:\n# {\"id\":\"sourceFile\",\"fileName\":\"B.kt\"}\n")
	in := input(b.String(), formats.Limits{})
	if parts := formattest.Open(t, &r8.Format, in).Artifacts[0].Parts; parts != 2 {
		t.Fatalf("%d parts", parts)
	}
	c := formattest.Classes(t, &r8.Format, in)
	for name, undeclared := range map[string]bool{"a0": true, "a1": false, "a2": false, "a3": true} {
		if got := c[name].Members[0].Rules[0].Undeclared; got != undeclared {
			t.Errorf("%s: undeclared %t", name, got)
		}
	}
	if c["f0"].FileOf("b.B") != "B.kt" {
		t.Error("a source file that a later part tells is not known in an earlier one")
	}
	if c[""].Facts.Version != "2.0" {
		t.Errorf("version %q", c[""].Facts.Version)
	}
}

// A class that is too large is left out and named; the rest stays.
func TestHostile(t *testing.T) {
	const good = "x.Y -> y:\n    int f -> a\n"
	long := strings.Repeat("q", 3<<20)
	for name, c := range map[string]struct {
		text             string
		classes, dropped int
		bad              uint64
	}{
		"a line of megabytes":         {good + "x.Z -> z:\n    void " + long + "() -> b\n    int g -> c\n" + strings.Repeat("    int h -> c\n", 100), 2, 0, 1},
		"a class line of megabytes":   {good + "x." + long + " -> z:\n" + "x.W -> w:\n" + strings.Repeat("    int h -> c\n", 200), 2, 0, 1},
		"a last line of megabytes":    {good + strings.Repeat("    int h -> c\n", 200) + "#" + long, 1, 0, 1},
		"a million overloads":         {good + "x.Z -> z:\n" + strings.Repeat("    1:1:void m():1:1 -> a\n", 1<<20) + "x.W -> w:\n", 2, 1, 0},
		"a group that holds itself":   {good + "x.Z -> z:\n" + strings.Repeat("    1:1:void x.Z.m():1:1 -> a\n", 1000), 2, 0, 0},
		"deeply nested annotations":   {good + "# " + strings.Repeat("{\"a\":", 1<<18) + "\n" + strings.Repeat("    int h -> c\n", 200), 1, 0, 1},
		"an annotation full of lists": {good + "# {\"x\":" + strings.Repeat("[", 1<<18) + "\n" + strings.Repeat("    int h -> c\n", 200), 1, 0, 0},
	} {
		q, n, err := quality(t, formattest.Unmapped(input(c.text, formats.Limits{})))
		if err != nil || n != c.classes || int(q.UnitsBroken) != c.dropped || q.BadLines != c.bad {
			t.Errorf("%s: %v, %d classes, %d dropped, %d bad lines: %q", name, err, n, q.UnitsBroken, q.BadLines, q.Warnings)
		}
		for _, w := range q.Warnings {
			if len(w) > 200 {
				t.Errorf("%s: a warning of %d bytes", name, len(w))
			}
		}
	}
	_, err := r8.Format.Open(t.Context(), input("a.A -> p.a:\na.B -> q.b:\na.C -> r.c:\n", formats.Limits{Files: 2}))
	if !errors.Is(err, formats.ErrLimit) {
		t.Errorf("too many packages: %v", err)
	}
}

func TestDetect(t *testing.T) {
	for text, want := range map[string]bool{
		"": false, "# compiler: R8\n": true, "# hello\n": false, "a -> b:\n": true, "a.b -> a.b:\n    int x -> y\n": true,
		"  a -> b:\n": false, "a -> b\n": false, "{\"a\": \"x -> y:\"}\n": false,
		"# Title\n\nx -> y:\nSome prose here.\nMore prose.\n": false,
	} {
		if got := r8.Format.Detect("mapping.txt", []byte(text)); got != want {
			t.Errorf("%q: %t", text, got)
		}
	}
}

func FuzzMapping(f *testing.F) {
	formattest.Seed(f, 64<<10, formattest.Testdata(f, "r8/mapping.txt"))
	f.Add([]byte("a -> b:\r\n  1:2:int c.d(e,f[]):3 -> g\n# {\"id\":\"sourceFile\",\"fileName\":\"\\ud800\"}\n"))
	f.Fuzz(func(t *testing.T, data []byte) { formattest.Fuzz(t, &r8.Format, "# compiler: R8\n", data) })
}

func FuzzPartition(f *testing.F) {
	formattest.Seed(f, 64<<10, formattest.Testdata(f, "r8/partition.zip"))
	f.Fuzz(func(t *testing.T, data []byte) { formattest.Fuzz(t, &r8.Partition, "PK\x03\x04", data) })
}
