package all_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/symlake/symlake/formats/formattest"
)

const module = "MODULE Linux arm64 0102030405060708090A0B0C0D0E0F100 libx.so\n"

var breakpadShapes = []formattest.Shape{
	of("breakpad/functions", "x.sym", 5000, func(n int) string { return module + each(n, "\n", "FUNC %x000 10 0 f\n%[1]x000 10 1 0") }),
	of("breakpad/functions at one address", "x.sym", 10000, func(n int) string { return module + each(n, "\n", "FUNC 1000 10 0 f%d") }),
	of("breakpad/nested functions", "x.sym", 5000, func(n int) string { return module + each(n, "\n", "FUNC %x ffffff 0 f") }),
	of("breakpad/lines of one function", "x.sym", 10000, func(n int) string {
		return module + "FUNC 0 ffffff 0 f\n" + each(n, "\n", "%x 1 7 0")
	}),
	of("breakpad/lines at one address", "x.sym", 10000, func(n int) string {
		return module + "FUNC 0 ffffff 0 f\n" + each(n, "\n", "10 10 %d 0")
	}),
	of("breakpad/lines that overlap", "x.sym", 10000, func(n int) string {
		return module + "FUNC 0 ffffff 0 f\n" + each(n, "\n", "%x ffffff 7 0")
	}),
	of("breakpad/inlines of one record", "x.sym", 10000, func(n int) string {
		return module + "INLINE_ORIGIN 0 g\nFUNC 0 ffffffff 0 f\nINLINE 0 5 0 0" + each(n, "", " %x0 1")
	}),
	of("breakpad/inlines that overlap", "x.sym", 5000, func(n int) string {
		return module + "INLINE_ORIGIN 0 g\nFUNC 0 ffffffff 0 f\n" + each(n, "\n", "INLINE 0 5 0 0 %x ffffff")
	}),
	of("breakpad/nested inlines", "x.sym", 400, func(n int) string {
		return module + "INLINE_ORIGIN 0 g\nFUNC 0 ffffffff 0 f\n" + each(n, "\n", "INLINE %d 5 0 0 0 ffffff")
	}),
	of("breakpad/files", "x.sym", 20000, func(n int) string { return module + each(n, "\n", "FILE %d a%[1]d.c") + "\nPUBLIC 0 0 p" }),
	of("breakpad/one file", "x.sym", 20000, func(n int) string { return module + each(n, "\n", "FILE 0 a.c") + "\nPUBLIC 0 0 p" }),
	of("breakpad/origins", "x.sym", 20000, func(n int) string {
		return module + each(n, "\n", "INLINE_ORIGIN %d f%[1]d") + "\nPUBLIC 0 0 p"
	}),
	of("breakpad/public symbols", "x.sym", 20000, func(n int) string { return module + each(n, "\n", "PUBLIC %x 0 p%[1]d") }),
	of("breakpad/public symbols at one address", "x.sym", 20000, func(n int) string { return module + each(n, "\n", "PUBLIC 0 0 p%d") }),
	of("breakpad/public symbols backward", "x.sym", 20000, func(n int) string {
		var b strings.Builder
		for i := range n {
			fmt.Fprintf(&b, "PUBLIC %x 0 p\n", n-i)
		}
		return module + b.String()
	}),
	of("breakpad/long name", "x.sym", 1<<20, func(n int) string { return module + "PUBLIC 0 0 " + strings.Repeat("p", n) }),
	of("breakpad/long names", "x.sym", 10, func(n int) string {
		return module + each(n, "\n", "PUBLIC %x 0 "+strings.Repeat("p", 100_000)+"%[1]d")
	}),
	of("breakpad/spaces", "x.sym", 200_000, func(n int) string { return module + "PUBLIC" + strings.Repeat(" ", n) + "0 0 p" }),
	of("breakpad/INFO", "x.sym", 2000, func(n int) string { return module + each(n, "\n", "INFO CODE_ID %016x") + "\nPUBLIC 0 0 p" }),
	of("breakpad/empty lines", "x.sym", 200_000, func(n int) string { return module + strings.Repeat("\n", n) + "PUBLIC 0 0 p" }),
}

var il2cppShapes = []formattest.Shape{
	beside("il2cpp/lines", "LineNumberMappings.json", 20000, func(n int) string {
		return `{"/b/Game.cpp":{"/p/Player.cs":{` + each(n, ",", `"%d":7`) + `}}}`
	}),
	beside("il2cpp/lines backward", "LineNumberMappings.json", 20000, func(n int) string {
		var b strings.Builder
		for i := range n {
			fmt.Fprintf(&b, `"%d":7,`, n-i)
		}
		return `{"/b/Game.cpp":{"/p/Player.cs":{` + b.String() + `"0":1}}}`
	}),
	beside("il2cpp/sources", "LineNumberMappings.json", 10000, func(n int) string {
		return `{"/b/Game.cpp":{` + each(n, ",", `"/p/P%d.cs":{"1":1}`) + `}}`
	}),
	beside("il2cpp/files", "LineNumberMappings.json", 10000, func(n int) string {
		return `{` + each(n, ",", `"/b/G%d.cpp":{"/p/P.cs":{"1":1}}`) + `}`
	}),
	beside("il2cpp/one file", "LineNumberMappings.json", 10000, func(n int) string {
		return `{` + each(n, ",", `"/b/G.cpp":{"/p/P.cs":{"1":1}}`) + `}`
	}),
	beside("il2cpp-methods/methods", "MethodMap.tsv", 10000, func(n int) string {
		return each(n, "\n", "f%d\tSystem.Void A::B(System.Int32)\tX")
	}),
	beside("il2cpp-methods/parameters", "MethodMap.tsv", 10000, func(n int) string {
		return "f\tSystem.Void A::B(" + each(n, ",", "!0") + ")\tX"
	}),
	beside("il2cpp-methods/generics", "MethodMap.tsv", 2000, func(n int) string {
		return "f\tSystem.Void A::B(" + strings.Repeat("C`1<", n) + "D" + strings.Repeat(">", n) + ")\tX"
	}),
	beside("il2cpp-methods/nested types", "MethodMap.tsv", 10000, func(n int) string {
		return "f\tSystem.Void A" + strings.Repeat("/B`1", n) + "<" + each(n, ",", "C") + ">::D()\tX"
	}),
	beside("il2cpp-methods/brackets", "MethodMap.tsv", 10000, func(n int) string {
		return "f\tSystem.Void A::B(C" + strings.Repeat("[]", n) + ")\tX"
	}),
}

// beside makes a shape of a program that il2cpp made, and a map of it.
func beside(name, file string, n int, text func(n int) string) formattest.Shape {
	s := of(name, file, n, text)
	maps := s.Make
	s.Make = func(n int) []formattest.File {
		program, err := os.ReadFile(filepath.Join(formattest.Root(), "testdata/il2cpp/libil2cpp.so"))
		if err != nil {
			panic(err)
		}
		return append([]formattest.File{{Name: "libil2cpp.so", Bytes: program}}, maps(n)...)
	}
	return s
}

const r8Head = "# compiler: R8\n# pg_map_id: 1234567\n# {\"id\":\"com.android.tools.r8.mapping\",\"version\":\"2.2\"}\n"

var r8Shapes = []formattest.Shape{
	of("r8/classes", "mapping.txt", 10000, func(n int) string { return r8Head + each(n, "\n", "a.A%d -> b%[1]d:") }),
	of("r8/one class", "mapping.txt", 10000, func(n int) string { return r8Head + each(n, "\n", "a.A -> b:") }),
	of("r8/methods", "mapping.txt", 10000, func(n int) string {
		return r8Head + "a.A -> b:\n" + each(n, "\n", "    1:1:void m%d():7:7 -> c%[1]d")
	}),
	of("r8/one method", "mapping.txt", 10000, func(n int) string {
		return r8Head + "a.A -> b:\n" + each(n, "\n", "    1:1:void m():7:7 -> c")
	}),
	of("r8/one name", "mapping.txt", 10000, func(n int) string {
		return r8Head + "a.A -> b:\n" + each(n, "\n", "    1:1:void m%d():7:7 -> c")
	}),
	of("r8/names backward", "mapping.txt", 5000, func(n int) string {
		var b strings.Builder
		for i := range n {
			fmt.Fprintf(&b, "    1:1:void m():7:7 -> c%06d\n", n-i)
		}
		return r8Head + "a.A -> b:\n" + b.String()
	}),
	of("r8/fields", "mapping.txt", 10000, func(n int) string { return r8Head + "a.A -> b:\n" + each(n, "\n", "    int f%d -> g%[1]d") }),
	of("r8/foreign classes", "mapping.txt", 10000, func(n int) string {
		return r8Head + "a.A -> b:\n" + each(n, "\n", "    1:1:void x.X%d.m():7:7 -> c") + each(n, "", "\nx.X%d -> x%[1]d:\n# {\"id\":\"sourceFile\",\"fileName\":\"X%[1]d.kt\"}")
	}),
	of("r8/parameters", "mapping.txt", 30000, func(n int) string {
		return r8Head + "a.A -> b:\n    1:1:void m(" + each(n, ",", "int") + "):7:7 -> c"
	}),
	of("r8/rules", "mapping.txt", 3000, func(n int) string {
		return r8Head + "a.A -> b:\n    1:1:void m():7:7 -> c\n" + each(n, "\n", `      # {"id":"com.android.tools.r8.rewriteFrame","conditions":["throws(La;)"],"actions":["removeInnerFrames(%d)"]}`)
	}),
	of("r8/rules of many lines", "mapping.txt", 3000, func(n int) string {
		return r8Head + "a.A -> b:\n" + each(n, "\n", "    1:1:void m():7:7 -> c\n"+`      # {"id":"com.android.tools.r8.synthesized"}`)
	}),
	of("r8/conditions", "mapping.txt", 3000, func(n int) string {
		return r8Head + "a.A -> b:\n    1:1:void m():7:7 -> c\n" + `      # {"id":"com.android.tools.r8.rewriteFrame","conditions":[` + each(n, ",", `"throws(La%d;)"`) + `],"actions":["removeInnerFrames(1)"]}`
	}),
	of("r8/outline positions", "mapping.txt", 10000, func(n int) string {
		return r8Head + "a.A -> b:\n    1:1:void m():7:7 -> c\n" + `      # {"id":"com.android.tools.r8.outlineCallsite","positions":{` + each(n, ",", `"%d":4`) + `},"outline":"Lo;a(I)I"}`
	}),
	of("r8/nested JSON", "mapping.txt", 40000, func(n int) string {
		return r8Head + each(200, "\n", "a.A%d -> b%[1]d:") + "\n# {\"x\":" + strings.Repeat("[", n) + strings.Repeat("]", n) + "}"
	}),
	of("r8/source files", "mapping.txt", 5000, func(n int) string {
		return r8Head + each(n, "\n", "a.A%d -> b%[1]d:\n# {\"id\":\"sourceFile\",\"fileName\":\"A%[1]d.kt\"}")
	}),
	of("r8/packages", "mapping.txt", 10000, func(n int) string { return r8Head + each(n, "\n", "a%d.A -> b%[1]d.B:") }),
	of("r8/deep packages", "mapping.txt", 30000, func(n int) string {
		return r8Head + "a.A -> " + strings.Repeat("p.", n) + "B:"
	}),
	of("r8/versions", "mapping.txt", 5000, func(n int) string {
		return r8Head + each(n, "\n", `# {"id":"com.android.tools.r8.mapping","version":"2.%d"}`) + "\na.A -> b:"
	}),
	of("r8/comments", "mapping.txt", 20000, func(n int) string { return r8Head + "a.A -> b:\n" + each(n, "\n", "# %d") }),
	of("r8/long line", "mapping.txt", 2<<20, func(n int) string {
		return r8Head + each(200, "\n", "a.A%d -> b%[1]d:") + "\n# " + strings.Repeat("x", n)
	}),
	of("r8/one letter", "mapping.txt", 300_000, func(n int) string { return r8Head + "a.A -> b:\n    int " + strings.Repeat("x", n) + " -> y" }),
	of("r8/spaces", "mapping.txt", 200_000, func(n int) string { return r8Head + "a.A -> b:\n    int x" + strings.Repeat(" ", n) + "-> y" }),
}

var dartShapes = []formattest.Shape{
	of("dart-names/names", "map.json", 20000, func(n int) string { return `["Cart","aa",` + each(n, ",", `"n%d","a%[1]d"`) + `]` }),
	of("dart-names/one name", "map.json", 20000, func(n int) string { return `["Cart","aa",` + each(n, ",", `"n","a"`) + `]` }),
	of("dart-names/long name", "map.json", 500_000, func(n int) string { return `["Cart","aa","Bill","ab","` + strings.Repeat("n", n) + `","b"]` }),
	of("dart-names/escapes", "map.json", 100_000, func(n int) string { return `["Cart","aa","Bill","ab","` + strings.Repeat(`\u006e`, n) + `","b"]` }),
}

// groupShapes are names of functions that are named for their group.
var groupShapes = makeGroupShapes()

func makeGroupShapes() (shapes []formattest.Shape) {
	for name, unit := range map[string]string{"arguments": "<", "parameters": "(", "scopes": "::a", "quotes": "'", "braces": "{", "merged": "merged ", "closures": "closure #1 in ",
		"parts": ".cold", "functions": ".func1", "operators": "operator<", "classes": "$1", "spaces": "a ", "traits": "<a as b>::", "specialized": "generic specialization <a> of ",
		"lambdas": "{lambda}::operator()::", "local": "f #1 in "} {
		shapes = append(shapes, formattest.Shape{Name: "group/" + name, Kind: "group", N: 4 << 10, Make: func(n int) []formattest.File {
			return []formattest.File{{Name: "name", Bytes: []byte(strings.Repeat(unit, n))}}
		}})
	}
	return shapes
}
