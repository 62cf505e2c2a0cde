package all_test

import (
	"encoding/base64"
	"fmt"
	"strings"

	"github.com/symlake/symlake/formats/formattest"
)

// mapOf is a source map with these mappings and further fields.
func mapOf(mappings, fields string) string {
	return `{"version":3,"sources":["a.ts"],"names":["f"],"mappings":"` + mappings + `"` + fields + `}`
}

var sourceMapShapes = []formattest.Shape{
	of("sourcemap/one column", "a.js.map", 20000, func(n int) string { return mapOf(each(n, ",", "AAAA"), "") }),
	of("sourcemap/one column, other places", "a.js.map", 20000, func(n int) string { return mapOf(each(n, ",", "AACA"), "") }),
	of("sourcemap/one column without a place", "a.js.map", 20000, func(n int) string { return mapOf("AAAA,"+each(n, ",", "A"), "") }),
	of("sourcemap/one column behind others", "a.js.map", 20000, func(n int) string {
		return mapOf(each(700, ",", "CAAC")+","+each(n, ",", "AAAA")+","+each(700, ",", "CAAC"), "")
	}),
	of("sourcemap/pairs of columns", "a.js.map", 20000, func(n int) string { return mapOf(each(n, ",", "AAAA,CAAC"), "") }),
	of("sourcemap/one place", "a.js.map", 20000, func(n int) string { return mapOf(each(n, ",", "CAAA"), "") }),
	of("sourcemap/backward columns", "a.js.map", 10000, func(n int) string {
		return mapOf("gggqBAAA,"+each(n, ",", "DAAA"), "")
	}),
	of("sourcemap/alternating columns", "a.js.map", 10000, func(n int) string { return mapOf(each(n, ",", "GAAA,DAAA"), "") }),
	of("sourcemap/one column of ranges", "a.js.map", 10000, func(n int) string {
		return mapOf(each(n, ",", "AAAA"), `,"rangeMappings":"`+each(n, "", "B")+`"`)
	}),
	of("sourcemap/empty lines", "a.js.map", 50000, func(n int) string { return mapOf(each(n, "", ";")+"AAAA", "") }),
	of("sourcemap/short lines", "a.js.map", 20000, func(n int) string { return mapOf(each(n, ";", "AAAA,CAAC"), "") }),
	of("sourcemap/needless digits", "a.js.map", 100, func(n int) string {
		return mapOf(each(n, ",", "AAAA"+strings.Repeat("g", 4000)+"A"), "")
	}),
	of("sourcemap/sections", "a.js.map", 2000, func(n int) string {
		return `{"version":3,"sections":[` + each(n, ",", `{"offset":{"line":%d,"column":0},"map":`+mapOf("AAAA", "")+`}`) + `]}`
	}),
	of("sourcemap/sections of one line", "a.js.map", 2000, func(n int) string {
		return `{"version":3,"sections":[` + each(n, ",", `{"offset":{"line":0,"column":%d},"map":`+mapOf("AAAA,AAAA,AAAA", "")+`}`) + `]}`
	}),
	of("sourcemap/segments", "a.js.map", 30, func(n int) string {
		segments := strings.Replace(each(n, ",", `"%d":`+mapOf("AAAA", "")), `"0"`, `"62"`, 1)
		return mapOf("AAAA", `,"x_facebook_segments":{`+segments+`}`)
	}),
	of("sourcemap/sources", "a.js.map", 20000, func(n int) string {
		return `{"version":3,"sources":[` + each(n, ",", `"%d"`) + `],"names":[],"mappings":"AAAA,` + each(n-1, ",", "CCAA") + `"}`
	}),
	of("sourcemap/equal names", "a.js.map", 20000, func(n int) string {
		return `{"version":3,"sources":[` + each(n, ",", `"a"`) + `],"names":[` + each(n, ",", `"f"`) + `],"mappings":"AAAAA"}`
	}),
	of("sourcemap/ignored sources", "a.js.map", 20000, func(n int) string {
		return mapOf("AAAA", `,"ignoreList":[`+each(n, ",", "0")+`]`)
	}),
	of("sourcemap/debug ids", "a.js.map", 500, func(n int) string {
		return mapOf("AAAA", each(n, "", `,"debugId":"85314830-023f-4cf1-a267-%012x"`))
	}),
	of("sourcemap/unknown keys", "a.js.map", 20000, func(n int) string { return mapOf("AAAA", each(n, "", `,"k%d":[[0]]`)) }),
	of("sourcemap/functions of one source", "a.js.map", 20000, func(n int) string {
		return mapOf(each(n, ",", "CAAC"), `,"x_facebook_sources":[[{"names":[`+each(n, ",", `"f%d"`)+`],"mappings":"`+each(n, ",", "CAA")+`"}]]`)
	}),
	of("sourcemap/backward functions", "a.js.map", 10000, func(n int) string {
		return mapOf(each(n, ",", "CAAC"), `,"x_facebook_sources":[[{"names":["f"],"mappings":"gggqBAA,`+each(n, ",", "DAA")+`"}]]`)
	}),
	of("sourcemap/one place of functions", "a.js.map", 10000, func(n int) string {
		return mapOf(each(n, ",", "CAAA"), `,"x_facebook_sources":[[{"names":["f"],"mappings":"`+each(n, ",", "AAA")+`"}]]`)
	}),
	of("sourcemap/scopes", "a.js.map", 5000, func(n int) string {
		return mapOf(each(n, ",", "CAAC"), `,"scopes":"`+each(n, ",", "BDACA,CAC")+","+each(n, ",", "EAC,FC")+`"`)
	}),
	of("sourcemap/nested ranges", "a.js.map", 400, func(n int) string {
		return mapOf(each(n, ",", "CAAC"), `,"scopes":"`+each(n, ",", "EAC")+","+each(n, ",", "FC")+`"`)
	}),
	of("sourcemap/offsets", "a.js.map", 20000, func(n int) string {
		return mapOf("AAAA", `,"x_hermes_function_offsets":{"0":[`+each(n, ",", "%d")+`]},"x_facebook_offsets":[`+each(n, ",", "%d")+`]`)
	}),
	of("sourcemap/escaped mappings", "a.js.map", 20000, func(n int) string { return mapOf(each(n, ",", `\u0041AAA`), "") }),
	of("sourcemap/contents", "a.js.map", 10000, func(n int) string {
		return mapOf("AAAA", `,"sourcesContent":[`+each(n, ",", `"x\n"`)+`]`)
	}),
	of("sourcemap/inline", "a.js", 20000, func(n int) string {
		return "f()\n//# sourceMappingURL=data:application/json;base64," + base64.StdEncoding.EncodeToString([]byte(mapOf(each(n, ",", "AAAA"), "")))
	}),
	of("sourcemap/many comments", "a.js", 5000, func(n int) string {
		return each(n, "\n", "//# sourceMappingURL=data:x") + "\n//# sourceMappingURL=data:application/json," + strings.ReplaceAll(mapOf("AAAA", ""), `"`, "%22")
	}),
	script("functions", 3000, func(n int) string { return each(n, "", "function f%d(a){return a};") }),
	script("functions in one line of calls", 3000, func(n int) string { return "x(" + each(n, ",", "function(){y()}") + ")" }),
	script("nested functions", 150, func(n int) string { return each(n, "", "function f%d(){") + "x()" + each(n, "", "}") }),
	script("nested arrows", 150, func(n int) string { return "x=" + each(n, "", "a%d=>") + "x" }),
	script("functions that follow large ones", 60, func(n int) string {
		return each(n, "", "function f%d(a){return "+each(100, "+", "g(()=>a)")+"};")
	}),
	script("identifiers", 20000, func(n int) string { return "function f(){" + each(n, ";", "v%d") + "}" }),
	script("one identifier", 20000, func(n int) string { return "function f(){" + each(n, ";", "v") + "}" }),
	script("assigned functions", 3000, func(n int) string { return each(n, ";", "a.b.c%d=function(){}") }),
	script("long chain", 3000, func(n int) string { return each(n, ".", "a") + "=function(){}" }),
	script("brackets", 5000, func(n int) string { return "function f(){}" + each(n, ";", "[[[(0)]]]") }),
	script("regular expressions", 5000, func(n int) string { return "function f(){}" + each(n, ";", "x=/[)}]/g") }),
	script("templates", 5000, func(n int) string { return "function f(){}" + each(n, ";", "x=`${()=>1}`") }),
	script("classes", 2000, func(n int) string { return each(n, ";", "class A%d{m(){}get n(){}#p(){}}") }),
	script("one object", 3000, func(n int) string { return "x={" + each(n, ",", "m%d(){}") + "}" }),
	script("nested objects", 800, func(n int) string { return "x=" + each(n, "", "{m(){},a:") + "0" + each(n, "", "}") }),
	script("long keys", 800, func(n int) string {
		return "x={" + strings.Repeat("k", n) + ":{" + each(n, ",", "m%d(){}") + "}}"
	}),
	script("calls in calls", 800, func(n int) string { return each(n, "", "f(()=>1,") + "0" + each(n, "", ")") }),
	script("members in brackets", 3000, func(n int) string { return "a" + each(n, "", "[b]") + "=()=>1" }),
	script("targets", 3000, func(n int) string { return each(n, "=", "a.b%d") + "=()=>1" }),
	script("conditions", 5000, func(n int) string { return "x=" + each(n, "", "a?()=>1:") + "0" }),
	script("words async", 5000, func(n int) string { return "a=()=>1;" + each(n, ";", "async") }),
	script("words let", 5000, func(n int) string { return "a=()=>1;" + each(n, ";", "let") }),
	script("private members", 1500, func(n int) string { return "class A{" + each(n, "", "#m%d(){this.#m0();this.#n()}") + "}" }),
	script("classes in classes", 300, func(n int) string {
		return each(n, "", "class A{#m(){this.#n();this.#m()") + each(n, "", "}}")
	}),
	script("one class", 3000, func(n int) string { return "class A{" + each(n, "", "m%d(){}") + "}" }),
	composed("one column below", 5000, func(n int) (above, below string) {
		return each(n, ",", "CAAA"), each(n, ",", "AAAA")
	}),
	composed("one place above", 5000, func(n int) (above, below string) {
		return each(n, ",", "AAAA"), "AAAA," + each(n, ",", "CAAC")
	}),
}

// script is a shape of a map beside its script, which names the functions.
func script(name string, n int, text func(n int) string) formattest.Shape {
	return formattest.Shape{Name: "sourcemap/script/" + name, Kind: "object", N: n, Make: func(n int) []formattest.File {
		return []formattest.File{
			{Name: "a.js.map", Bytes: []byte(mapOf(each(n, ",", "KAAAA"), ""))},
			{Name: "a.js", Bytes: []byte(text(n) + "\n")},
		}
	}}
}

// composed is a shape of a compiler's map beside its packager's.
func composed(name string, n int, mappings func(n int) (above, below string)) formattest.Shape {
	return formattest.Shape{Name: "sourcemap/composed/" + name, Kind: "object", N: n, Make: func(n int) []formattest.File {
		above, below := mappings(n)
		return []formattest.File{
			{Name: "b.hbc.map", Bytes: fmt.Appendf(nil, `{"version":3,"sources":["b"],"names":[],"mappings":"%s","x_hermes_function_offsets":{}}`, above)},
			{Name: "b.packager.map", Bytes: []byte(mapOf(below, ""))},
		}
	}}
}
