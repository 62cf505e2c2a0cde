package r8_test

import (
	"reflect"
	"strings"
	"testing"

	"github.com/symlake/symlake/formats"
	"github.com/symlake/symlake/formats/formattest"
	"github.com/symlake/symlake/formats/r8"
	"github.com/symlake/symlake/formats/symbol"
)

func classes(t *testing.T, text string) map[string]*symbol.Class {
	t.Helper()
	return formattest.Classes(t, &r8.Format, formattest.InputOf("mapping.txt", []byte(text), formats.Limits{}))
}

// The last class of a name counts, whole: R8's retrace prints y unmapped for this mapping.
func TestRepeatedClass(t *testing.T) {
	c := classes(t, "a.First -> x:\n    1:1:void one():11:11 -> a\n    2:2:void two():12:12 -> y\na.Second -> x:\n    1:1:void three():21:21 -> a\n")["x"]
	if c.Original != "a.Second" || len(c.Members) != 1 || len(c.Named("y")) != 0 || c.Named("a")[0].Original != "three" {
		t.Fatalf("%+v", c)
	}
}

func TestMembers(t *testing.T) {
	l := func(first, last uint32, count uint8) symbol.Lines {
		return symbol.Lines{First: first, Last: last, Count: count}
	}
	for line, want := range map[string]symbol.Member{
		"    1:3:void a.b.Other.m(int,c.D[]):5:7 -> z": {Name: "z", Method: &symbol.Method{Class: "a.b.Other", Original: "m", Type: "void", Params: "int,c.D[]"}, Lines: l(1, 3, 2), From: l(5, 7, 2)},
		"  1:3:void a.C.m():5 -> z":                    {Name: "z", Method: &symbol.Method{Original: "m", Type: "void"}, Lines: l(1, 3, 2), From: l(5, 5, 1)},
		"\t7:void m() -> z\r":                          {Name: "z", Method: &symbol.Method{Original: "m", Type: "void"}, Lines: l(7, 7, 1)},
		"    0:65535:void <init>():33:33 -> <init>":    {Name: "<init>", Method: &symbol.Method{Original: "<init>", Type: "void"}, Lines: l(0, 65535, 2), From: l(33, 33, 2)},
		"    int[] x.Y.f -> z":                         {Name: "z", Method: &symbol.Method{Field: true, Class: "x.Y", Original: "f", Type: "int[]"}},
		"    void m(int, long):3 -> z":                 {Name: "z", Method: &symbol.Method{Original: "m", Type: "void", Params: "int,long"}, From: l(3, 3, 1)},
		"    1:1:\xff\xfe \x80m():1:1 -> \xf0":         {Name: "\xf0", Method: &symbol.Method{Original: "\x80m", Type: "\xff\xfe"}, Lines: l(1, 1, 2), From: l(1, 1, 2)},
	} {
		c := classes(t, "a.C -> b:\n"+line+"\n")["b"]
		if len(c.Members) != 1 || !reflect.DeepEqual(c.Members[0], want) {
			t.Errorf("%q:\n%+v\nwant\n%+v", line, c.Members, want)
		}
	}
}

// An annotation belongs to the line above it, and is one from its version on.
func TestRules(t *testing.T) {
	const head = `# {"id":"com.android.tools.r8.mapping","version":"2.1"}` + "\n"
	const body = `a.C -> b:
# {"id":"sourceFile","fileName":"C\u00e9.kt"}
# {"id":"com.android.tools.r8.synthesized"}
    int f -> a
      # {"id":"com.android.tools.r8.residualsignature","signature":"Lx;"}
    1:1:void m():1:1 -> a
    1:1:void n():2 -> a
      # {"id":"com.android.tools.r8.rewriteFrame","conditions":["throws(La;)","x"],"actions":["removeInnerFrames(1)"],"new":{"a":[1,{}]}}
      # { "id":"com.android.tools.r8.outlineCallsite", "positions": { "10": 4, "2": 5 }, "outline":"La;a()I" }
      # {"id":"com.example.unknown","x":null}
`
	c := classes(t, head+body)["b"]
	want := []symbol.Rule{
		{Kind: symbol.RewriteFrame, Conditions: []string{"throws(La;)", "x"}, Actions: []string{"removeInnerFrames(1)"}},
		{Kind: symbol.OutlineCallsite, Positions: []symbol.OutlinePosition{{Outline: 2, Line: 5}, {Outline: 10, Line: 4}}, Text: "La;a()I"},
	}
	if c.File != "Cé.kt" || !c.Synthesized || !c.Members[0].Rules[0].Undeclared || c.Members[0].Rules[0].Text != "Lx;" ||
		c.Members[1].Rules != nil || !reflect.DeepEqual(c.Members[2].Rules, want) {
		t.Errorf("%+v", c)
	}
	c = classes(t, body)["b"]
	if c.File != "Cé.kt" || c.Synthesized || !c.Members[2].Rules[0].Undeclared {
		t.Errorf("without a version: %+v", c)
	}
	c = classes(t, strings.ReplaceAll(body, "\n", "\r\n"))["b"]
	if c.File != "Cé.kt" || len(c.Members) != 3 {
		t.Errorf("with CRLF: %+v", c)
	}
}

// Mappings as editors, shells and other tools leave them say the same. R8's retrace 9.5.28 reads all but the one with a
// byte order mark so too.
func TestOddMappings(t *testing.T) {
	const plain = `# {"id":"com.android.tools.r8.mapping","version":"2.2"}
com.x.Foo -> a.a:
# {"id":"sourceFile","fileName":"Foo.kt"}
    int f -> a
    1:3:void foo(int):10:12 -> b
      # {"id":"com.android.tools.r8.residualsignature","signature":"(I)V"}
com.x.Bar -> a.b:
    4:4:void com.x.Foo.bar():20 -> c
`
	want := classes(t, plain)
	for name, text := range map[string]string{
		"CRLF":                          strings.ReplaceAll(plain, "\n", "\r\n"),
		"a byte order mark":             "\ufeff" + plain,
		"a mark before a class":         "\ufeffcom.x.Zero -> a.0:\n" + plain,
		"a mark before R8's header":     "\ufeff# compiler: R8\r\n" + plain,
		"no blank before arrows":        strings.ReplaceAll(plain, " -> ", "-> "),
		"no blank behind arrows":        strings.ReplaceAll(plain, " -> ", " ->"),
		"no blanks around arrows":       strings.ReplaceAll(plain, " -> ", "->"),
		"more blanks around arrows":     strings.ReplaceAll(plain, " -> ", "  ->   "),
		"blanks at the end":             strings.ReplaceAll(plain, "\n", "  \t\n"),
		"blank lines":                   strings.ReplaceAll(plain, "\n", "\n \n\n"),
		"tabs":                          strings.ReplaceAll(plain, "    ", "\t"),
		"comments that are no JSON":     strings.ReplaceAll(plain, "\n    ", "\n# {\n    # {\"id\":\n  # {junk} [\n#\n    "),
		"values of other kinds":         strings.ReplaceAll(plain, "\"Foo.kt\"}", "\"Foo.kt\",\"x\":[1,{\"y\":null}]}"),
		"a version that is a number":    strings.ReplaceAll(plain, `"2.2"`, "2.2"),
		"a source file that is null":    strings.ReplaceAll(plain, "a.a:\n", "a.a:\n# {\"id\":\"sourceFile\",\"fileName\":null}\n"),
		"a second source file":          strings.ReplaceAll(plain, "Foo.kt\"}\n", "Foo.kt\"}\n# {\"id\":\"sourceFile\",\"fileName\":\"Second.kt\"}\n"),
		"no line end behind the last":   strings.TrimSuffix(plain, "\n"),
		"annotations in single quotes":  strings.ReplaceAll(plain, `"`, "'"),
		"an annotation without blanks":  strings.ReplaceAll(plain, "# {", "#{"),
		"a source file below an indent": strings.ReplaceAll(plain, "# {\"id\":\"sourceFile", "    # {\"id\":\"sourceFile"),
	} {
		got := classes(t, text)
		delete(got, "a.0")
		for class := range want {
			if class != "" && !reflect.DeepEqual(got[class], want[class]) {
				t.Errorf("%s: %s: %+v", name, class, got[class])
			}
		}
	}
	c := classes(t, "com.x.Fööß日本 -> a.日:\n    void größe() -> é\n")["a.日"]
	if c == nil || c.Original != "com.x.Fööß日本" || c.Members[0].Original != "größe" || c.Members[0].Name != "é" {
		t.Errorf("names beyond ASCII: %+v", c)
	}
}
