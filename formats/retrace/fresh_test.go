package retrace_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/symlake/symlake/formats"
	"github.com/symlake/symlake/formats/formattest"
	"github.com/symlake/symlake/formats/r8"
	"github.com/symlake/symlake/formats/report"
	"github.com/symlake/symlake/formats/retrace"
	"github.com/symlake/symlake/formats/symbol"
)

// fresh is a file that testdata/r8/fresh.sh made: R8's jar, or the mapping it wrote.
func fresh(t *testing.T, name string) string {
	t.Helper()
	cache := os.Getenv("CACHE")
	if cache == "" {
		dir, err := os.UserCacheDir()
		if err != nil {
			t.Fatal(err)
		}
		cache = filepath.Join(dir, "symlake")
	}
	file := filepath.Join(cache, "r8", name)
	if _, err := os.Stat(file); err != nil {
		formattest.Missing(t, "R8 and a mapping of it", "testdata/r8/fresh.sh "+cache)
	}
	return file
}

// drawing makes stacks of what a mapping holds.
type drawing struct {
	*rand.Rand
	classes  []*symbol.Class // with members
	rewrites []place
	calls    []place
}

// place is a line of a mapping.
type place struct {
	class  *symbol.Class
	member *symbol.Member
}

func newDrawing(seed uint64, classes map[string]*symbol.Class) *drawing {
	d := &drawing{Rand: rand.New(rand.NewPCG(seed, 7))}
	for name, c := range classes {
		if name != "" && slices.ContainsFunc(c.Members, func(m symbol.Member) bool { return !m.Field }) {
			d.classes = append(d.classes, c)
		}
	}
	slices.SortFunc(d.classes, func(a, b *symbol.Class) int { return strings.Compare(a.Name, b.Name) })
	for _, c := range d.classes {
		for i := range c.Members {
			for _, rule := range c.Members[i].Rules {
				switch rule.Kind {
				case symbol.RewriteFrame:
					d.rewrites = append(d.rewrites, place{c, &c.Members[i]})
				case symbol.OutlineCallsite:
					d.calls = append(d.calls, place{c, &c.Members[i]})
				}
			}
		}
	}
	return d
}

func pick[T any](d *drawing, from []T) T { return from[d.IntN(len(from))] }

// frame draws a line of a stack: mostly a line of the mapping.
func (d *drawing) frame() string {
	c := pick(d, d.classes)
	m := pick(d, c.Members)
	for m.Field {
		m = pick(d, c.Members)
	}
	switch d.IntN(10) {
	case 0:
		return fmt.Sprintf("\tat %s.%s(%s)", c.Name, m.Name, pick(d, []string{"Unknown Source", "SourceFile", "Native Method", "r8-map-id-0", ""}))
	case 1:
		return fmt.Sprintf("\tat %s.%s(SourceFile:%d)", c.Name, m.Name, d.IntN(3000))
	case 2:
		return fmt.Sprintf("\tat %s.%s(X.kt:%d)", c.Name, pick(d, []string{"nobody", "a", "b"}), d.IntN(40))
	case 3:
		return fmt.Sprintf("\tat android.os.Handler.dispatchMessage(Handler.java:%d)", d.IntN(200))
	}
	return fmt.Sprintf("\tat %s.%s(r8-map-id-0:%d)", c.Name, m.Name, d.line(&m))
}

// line draws a number of a range.
func (d *drawing) line(m *symbol.Member) int {
	if m.Lines.Count == 0 {
		return 1 + d.IntN(50)
	}
	return int(m.Lines.First) + d.IntN(int(m.Lines.Last-m.Lines.First)+1)
}

// stack draws a stack of n frames.
func (d *drawing) stack(n int) []string {
	thrown := pick(d, []string{"java.lang.IllegalStateException", "java.lang.NullPointerException", pick(d, d.classes).Name})
	var lines []string
	if d.IntN(3) == 0 && len(d.rewrites) > 0 {
		p := pick(d, d.rewrites)
		for _, rule := range p.member.Rules {
			if rule.Kind == symbol.RewriteFrame && len(rule.Conditions) > 0 {
				thrown = strings.ReplaceAll(strings.TrimSuffix(strings.TrimPrefix(rule.Conditions[0], "throws(L"), ";)"), "/", ".")
			}
		}
		lines = append(lines, fmt.Sprintf("\tat %s.%s(:%d)", p.class.Name, p.member.Name, d.line(p.member)))
	}
	for len(lines) < n {
		if d.IntN(5) == 0 && len(d.calls) > 0 {
			lines = append(lines, d.call(pick(d, d.calls))...)
			continue
		}
		lines = append(lines, d.frame())
	}
	return append([]string{thrown + pick(d, []string{": drawn", "", ": a b c"})}, lines...)
}

// call draws an outline's frame and its caller's.
func (d *drawing) call(p place) []string {
	for _, rule := range p.member.Rules {
		class, method, ok := strings.Cut(rule.Text, ";")
		if rule.Kind != symbol.OutlineCallsite || !ok || len(rule.Positions) == 0 {
			continue
		}
		name, _, _ := strings.Cut(method, "(")
		at := pick(d, rule.Positions).Outline
		return []string{
			fmt.Sprintf("\tat %s.%s(:%d)", strings.ReplaceAll(class[1:], "/", "."), name, at),
			fmt.Sprintf("\tat %s.%s(:%d)", p.class.Name, p.member.Name, d.line(p.member)),
		}
	}
	return []string{d.frame()}
}

// classesOf reads a mapping.
func classesOf(t *testing.T, f *formats.Format, name string) map[string]*symbol.Class {
	t.Helper()
	b, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return formattest.Classes(t, f, formattest.InputOf(filepath.Base(name), b, formats.Limits{}))
}

// ready are classes as Retrace asks for them.
func ready(classes map[string]*symbol.Class) func(string) *retrace.Class {
	made := map[string]*retrace.Class{}
	for name, c := range classes {
		made[name] = retrace.NewClass(c, c)
	}
	return func(name string) *retrace.Class { return made[name] }
}

// asRetrace compares the answers for n drawn stacks with those of R8's retrace for the same mapping, plain and verbose.
func asRetrace(t *testing.T, what string, d *drawing, n int, file string, all ...map[string]*symbol.Class) {
	t.Helper()
	java := formattest.Tool(t, "java", "apt-get install default-jdk-headless")
	var text []string
	for range n {
		text = append(text, d.stack(5)...)
	}
	drawn := filepath.Join(t.TempDir(), "stacks.txt")
	if err := os.WriteFile(drawn, []byte(lines(text)), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, verbose := range []bool{false, true} {
		args := []string{"-cp", fresh(t, "r8.jar"), "com.android.tools.r8.retrace.Retrace", "--quiet"}
		if verbose {
			args = append(args, "--verbose")
		}
		want, err := exec.CommandContext(t.Context(), java, append(args, file, drawn)...).Output()
		if err != nil {
			t.Fatal(err)
		}
		for i, classes := range all {
			o := report.ManagedOptions{School: report.R8, Verbose: verbose}
			same(t, fmt.Sprintf("%s, verbose %v, form %d", what, verbose, i), string(want), print(t, ready(classes), o, lines(text)))
		}
	}
}

// A mapping that R8 has just made; a thousand frames drawn of it, each answered as R8's
// retrace does, to the byte; and the same from the mapping as R8 partitions it.
func TestFreshMapping(t *testing.T) {
	file := fresh(t, "mapping.txt")
	classes := classesOf(t, &r8.Format, file)
	const seed, stacks = 20250203, 200
	d := newDrawing(seed, classes)
	if len(d.rewrites) == 0 || len(d.calls) == 0 {
		t.Fatalf("the mapping has %d rules for frames and %d calls of outlines", len(d.rewrites), len(d.calls))
	}
	asRetrace(t, fmt.Sprintf("seed %d", seed), d, stacks, file, classes, classesOf(t, &r8.Partition, fresh(t, "map.zip")))
}

// Mappings that R8 has made with six sets of options, for DEX and for class files: 400 stacks drawn of each.
func TestFreshBuilds(t *testing.T) {
	if os.Getenv("SYMLAKE_R8_BUILDS") == "" {
		t.Skip("a long form, of make soak: SYMLAKE_R8_BUILDS=1 after testdata/r8/builds.sh")
	}
	builds, err := filepath.Glob(filepath.Join(fresh(t, "builds"), "*", "mapping.txt"))
	if err != nil || len(builds) != 12 {
		t.Fatalf("%d mappings, not 12: run testdata/r8/builds.sh (%v)", len(builds), err)
	}
	stacks := 0
	for i, file := range builds {
		const sites = 400
		name := filepath.Base(filepath.Dir(file))
		t.Run(name, func(t *testing.T) {
			classes := classesOf(t, &r8.Format, file)
			asRetrace(t, name, newDrawing(uint64(i), classes), sites, file, classes)
		})
		stacks += sites
	}
	t.Logf("%d stacks of %d mappings", stacks, len(builds))
}

// plain draws a stack of frames of the mapping, with their lines.
func (d *drawing) plain(n int) []string {
	lines := []string{"java.lang.IllegalStateException: drawn"}
	for len(lines) <= n {
		c := pick(d, d.classes)
		m := pick(d, c.Members)
		if !m.Field && m.Lines.Count > 0 {
			lines = append(lines, fmt.Sprintf("\tat %s.%s(SourceFile:%d)", c.Name, m.Name, d.line(&m)))
		}
	}
	return append(lines, "")
}
