package retrace_test

import (
	"os"
	"strings"
	"testing"

	"github.com/symlake/symlake/formats/formattest"
	"github.com/symlake/symlake/formats/report"
)

// Our own program, shrunk and run: what R8's retrace makes of its failure.
func TestShop(t *testing.T) {
	read := func(name string) string {
		b, err := os.ReadFile(formattest.Testdata(t, "r8/"+name))
		if err != nil {
			t.Fatal(err)
		}
		return string(b)
	}
	class, text := mapping(t, read("shop.map.txt")), read("shop.txt")
	same(t, "R8's school", read("shop.r8.txt"), print(t, class, report.ManagedOptions{School: report.R8}, text))

	// What the lines stand in changes nothing; each dress is a substitution in the text, and in what comes out.
	r8 := read("shop.r8.txt")
	for _, dress := range []struct {
		name string
		in   func(line string) string
	}{
		{"logcat, threadtime", func(l string) string { return "02-03 10:11:12.300  4300  4311 E AndroidRuntime: " + l }},
		{"logcat, time", func(l string) string { return "02-03 10:11:12.300 E/AndroidRuntime( 4300): " + l }},
		{"logcat, brief", func(l string) string { return "E/AndroidRuntime( 4300): " + l }},
		{"Android Studio", func(l string) string {
			return "2025-02-03 10:11:12.300  4300-4311  AndroidRuntime          com.example.shop                     E  " + l
		}},
		{"a crash service's indent", func(l string) string { return strings.Replace(l, "\t", "       ", 1) }},
		{"DOS", func(l string) string { return l + "\r" }},
		{"another label", func(l string) string {
			return strings.Replace(l, `Exception in thread "main" `, "Fatal Exception: ", 1)
		}},
		{"a console's label", func(l string) string { return strings.Replace(l, `Exception in thread "main" `, "Exception ", 1) }},
		{"no label", func(l string) string { return strings.Replace(l, `Exception in thread "main" `, "", 1) }},
		{"a space before the place", func(l string) string { return strings.Replace(l, "(r8-", " (r8-", 1) }},
		{"a module", func(l string) string { return strings.Replace(l, "at ", "at app//", 1) }},
		{"a module and its version", func(l string) string { return strings.Replace(l, "at ", "at shop@1.2/", 1) }},
		{"a jar", func(l string) string {
			if strings.Contains(l, "at ") {
				l += " ~[shop.jar:?]"
			}
			return l
		}},
		{"suppressed", func(l string) string { return strings.Replace(l, "Caused by: ", "\tSuppressed: ", 1) }},
		{"no UTF-8", func(l string) string { return strings.Replace(l, "cannot pay", "\xff\xfe\x80 é", 1) }},
	} {
		var in, want strings.Builder
		for line := range strings.Lines(text) {
			in.WriteString(dress.in(strings.TrimSuffix(line, "\n")) + "\n")
		}
		for line := range strings.Lines(strings.ReplaceAll(r8, "(Main", "(r8-map-id-Main")) {
			line = strings.ReplaceAll(dress.in(strings.TrimSuffix(line, "\n")), "(r8-map-id-Main", "(Main")
			want.WriteString(line + "\n")
		}
		same(t, dress.name, want.String(), print(t, class, report.ManagedOptions{}, in.String()))
		same(t, dress.name+", no last line end", strings.TrimSuffix(want.String(), "\n"), print(t, class, report.ManagedOptions{}, strings.TrimSuffix(in.String(), "\n")))
	}
}

// Lines that R8's retrace does not read.
func TestBareLines(t *testing.T) {
	class := mapping(t, `com.example.Cart -> a.b.c:
# {"id":"sourceFile","fileName":"Cart.kt"}
    1:3:void add(com.example.Item,int):10:12 -> d
    4:4:void add(com.example.Item[]):20:20 -> d
    5:5:int size():30:30 -> e
    6:6:void gone(com.example.Item):40:40 -> f
    6:6:void caller(java.lang.Object):41 -> f
com.example.Item -> a.b.e:
com.example.EmptyCartException -> x:
com.example.Word -> y:
kotlin.text.StringsKt__StringsJVMKt -> k.s:
    1:1:int length():5:5 -> a
`)
	for in, want := range map[string]string{
		"a.b.c.d(a.b.e,int)":                "com.example.Cart.add(com.example.Item,int)",
		"  a.b.c.d(a.b.e, int)  ":           "  com.example.Cart.add(com.example.Item,int)  ",
		"a.b.c.d(a.b.e[])":                  "com.example.Cart.add(com.example.Item[])",
		"a.b.c.d(a.b.unknown)":              "com.example.Cart.add(com.example.Item[])\n<OR> com.example.Cart.add(com.example.Item,int)",
		"a.b.c.e()":                         "com.example.Cart.size()",
		"a.b.c.f(a.b.e)":                    "com.example.Cart.caller(java.lang.Object)",
		"a.b.c.nobody(a.b.e)":               "com.example.Cart.nobody(com.example.Item)",
		"a.b.c.d(SourceFile:2)":             "com.example.Cart.add(Cart.kt:11)",
		"a.b.c.e(Unknown Source)":           "com.example.Cart.size(Cart.kt)",
		"E/Tag ( 1): a.b.c.d(a.b.e[])":      "E/Tag ( 1): com.example.Cart.add(com.example.Item[])",
		"see a.b.c.d(a.b.e)":                "see a.b.c.d(a.b.e)",
		"- locked <0x01> (a a.b.e)":         "- locked <0x01> (a a.b.e)",
		"at a.b.c.e(http://x/y.js:1:2)":     "at a.b.c.e(http://x/y.js:1:2)",
		"at a.b.c.e(index.js:1:2)":          "at a.b.c.e(index.js:1:2)",
		"[CIRCULAR REFERENCE: x]":           "[CIRCULAR REFERENCE: com.example.EmptyCartException]",
		"java.lang.Error: x: not there: -1": "java.lang.Error: com.example.EmptyCartException: not there: -1",
		"java.lang.Error: y: not there":     "java.lang.Error: y: not there",
		"x: y: z: is: a.b.e":                "com.example.EmptyCartException: y: z: is: com.example.Item",
		"\tat k.s.a(SourceFile:1)":          "\tat kotlin.text.StringsKt__StringsJVMKt.length(StringsJVM.kt:5)",
	} {
		same(t, in, want+"\n", print(t, class, report.ManagedOptions{}, in+"\n"))
	}
	// R8 guesses another file for a part of a class of several files.
	same(t, "R8's guess", "\tat kotlin.text.StringsKt__StringsJVMKt.length(StringsKt__StringsJVM.kt:5)\n", print(t, class, report.ManagedOptions{School: report.R8}, "\tat k.s.a(SourceFile:1)\n"))
}
