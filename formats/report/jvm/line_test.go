package jvm

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/symlake/symlake/formats/formattest"
	"github.com/symlake/symlake/formats/report"
)

// r8Line is the expression that R8's retrace reads lines by, if it is given none (9.5).
const r8Line = `(?:.*?\bat\s+%c\.%m\s*\(%S\)\p{Z}*(?:~\[.*\])?)|(?:(?:(?:%c|.*)?[:"]\s+)?%c(?:(:|]).*)?)`

// byHand reads a line as R8 does, by the grammar.
func byHand(input []byte) string {
	var l line
	if parseManaged(input, false, &l) || parseThrown(input, false, &l) {
		return pieces(&l)
	}
	return ""
}

// byExpression does the same by R8's expression.
func byExpression(e *report.Expression, input []byte) string {
	var l line
	if parseExpression(e, input, &l) {
		return pieces(&l)
	}
	return ""
}

func pieces(l *line) string {
	return fmt.Sprintf("class %q method %q file %v %q input %v %d parts %v", l.m.Class, l.m.Method, l.m.Filed, l.m.File, l.m.Lined, l.m.Line, l.parts)
}

func mustExpression(t testing.TB, source string) *report.Expression {
	t.Helper()
	e, err := report.ParseExpression(source)
	if err != nil {
		t.Fatal(err)
	}
	return e
}

var javaTexts = []string{
	"at a.b.c(SourceFile:12)", "\tat a.b.c(SourceFile:12) ~[app.jar:1.0]", "at a.b.c(SourceFile:12) [app.jar:1.0]", "at app//a.b.c(X.java:1)",
	"at java.base@17.0.1/java.lang.Thread.run(Thread.java:833)", "x at a.b.c (Unknown Source)", "at a.b.<init>(Native Method)", "at a.b.<clinit>()",
	"at a..b(X)", "at .a(X)", "at a.1b(X)", "at 1a.b(X)", "at a.b.1.c(X)", "cat a.b(X)", "at\va.b(X)", "at a.b(:foo::bar:1)", "at a.b(:foo::bar:)", "at a.b(x)(y:3)",
	"at a.b(x) at c.d(y)", "at a.b (x", "at a.b(x)\u00a0\u2028", "at a.b(x)\t", "format a.b(x)", "at a.b.c(r8-map-id-0123abc:99999999999)", "at -.-(x)", "at a.b.(x)",
	" C: m//s", "C: m/", "a.b.C: app//d.E: x", "a.b.C: message", "a.b.C: d", "a.b.C", "a.b.C ", " a.b.C", "Caused by: a.b: c: d", "Suppressed: a.b: x", "Suppressed: a.b: x y", "Suppressed", "Suppressed: a", "Suppressed: Suppressed", "x y: Suppressed",
	`Exception in thread "main" a.b.C: x`, `"a" b`, `a" b`, `a"" b: c`, `: "a`, `x"  y: z`, "[CIRCULAR REFERENCE: a.b]", "[CIRCULAR REFERENCE: a.b", "a]b", "a]", "net::ERR, a: b=c", "-1: x", "x: -5",
	"", ":", ": ", "\xff\xfe: \x80", "at \xff.\xfe(\x80:1)", "x:\va", "1: a", "a: 1",
}

// The grammar is R8's.
func TestGrammarIsR8s(t *testing.T) {
	e := mustExpression(t, r8Line)
	for _, input := range javaTexts {
		if want, got := byExpression(e, []byte(input)), byHand([]byte(input)); want != got {
			t.Errorf("%q:\n%s\nwant\n%s", input, got, want)
		}
	}
}

// Every line of the real stacks, too.
func TestGrammarOnRealStacks(t *testing.T) {
	e := mustExpression(t, r8Line)
	n := 0
	for _, name := range []string{"proguard-live", "proguard", "event-text"} {
		err := filepath.WalkDir(formattest.Fixture(t, name), func(path string, d os.DirEntry, err error) error {
			if err != nil || d.IsDir() || filepath.Ext(path) != ".json" && filepath.Ext(path) != ".txt" {
				return err
			}
			b, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			text := strings.NewReplacer(`\n`, "\n", `\t`, "\t", `\"`, `"`, `",`, "").Replace(string(b))
			for input := range strings.Lines(text) {
				input = strings.TrimRight(strings.TrimPrefix(strings.TrimLeft(input, " "), `"`), "\r\n")
				if len(input) > 1000 || n > 40000 {
					continue
				}
				n++
				if want, got := byExpression(e, []byte(input)), byHand([]byte(input)); want != got {
					t.Errorf("%q:\n%s\nwant\n%s", input, got, want)
				}
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	if n < 1000 {
		t.Errorf("%d lines", n)
	}
}

func FuzzJavaLine(f *testing.F) {
	for _, input := range javaTexts {
		f.Add([]byte(input))
	}
	e := mustExpression(f, r8Line)
	f.Fuzz(func(t *testing.T, input []byte) {
		if len(input) > 200 || strings.ContainsAny(string(input), "\n\r") {
			return
		}
		if want, got := byExpression(e, input), byHand(input); want != got {
			t.Errorf("%q:\n%s\nwant\n%s", input, got, want)
		}
		for _, own := range []bool{false, true} { // parts lie in the line, in order
			var l line
			if !parseManaged(input, own, &l) && !parseThrown(input, own, &l) {
				continue
			}
			at := 0
			for _, p := range l.parts {
				if p.start < at || p.end < p.start || p.end > len(input) {
					t.Fatalf("%q: parts %v", input, l.parts)
				}
				at = p.end
			}
			if l.start < 0 || l.start > l.parts[0].start {
				t.Fatalf("%q: begins at %d, parts %v", input, l.start, l.parts)
			}
		}
	})
}

// The compiler takes any source, and what it made any line.
func FuzzExpression(f *testing.F) {
	for _, source := range []string{r8Line, `foo\%c`, `%c\s%C`, `%t %c.%m\(%a\)`, `(?:%c|%m)*`, `%`, `%%`, `%z`, `[%c]`, `(?P<x>%c)`, `%c{1000}`, `((((((((`, `\`, `x[.*\]|%c|.*`} {
		f.Add(source, []byte("at a.b.c(SourceFile:12)"))
	}
	f.Fuzz(func(t *testing.T, source string, input []byte) {
		if len(source) > 300 || len(input) > 300 {
			return
		}
		e, err := report.ParseExpression(source)
		if err != nil {
			return
		}
		var l line
		if !parseExpression(e, input, &l) {
			return
		}
		at := 0
		for _, p := range l.parts {
			if p.start < at || p.end < p.start || p.end > len(input) {
				t.Fatalf("%q on %q: parts %v", source, input, l.parts)
			}
			at = p.end
		}
	})
}
