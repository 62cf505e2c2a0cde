package sourcemap

import (
	"strings"
	"testing"

	"github.com/symlake/symlake/formats"
	"github.com/symlake/symlake/formats/formattest"
	"github.com/symlake/symlake/formats/sourcemap/internal/mapfile"
	"github.com/symlake/symlake/formats/sourcemap/internal/script"
	"github.com/symlake/symlake/formats/symbol"
)

// seeds are small maps with everything that a map may have.
var seeds = []string{
	`{"version":3,"file":"a.js","sourceRoot":"src/","sources":["a.ts",null],"names":["add","b"],"mappings":"AAAA,SAASA,GAAIC;ACAA,C","ignoreList":[1],"debugId":"85314830-023f-4cf1-a267-535f4e37bb17"}`,
	`{"version":3,"sections":[{"offset":{"line":0,"column":2},"map":{"version":3,"sources":["a"],"mappings":"AAAA;AACA"}},{"offset":{"line":1,"column":0},"map":{"version":3,"sources":["b"],"mappings":"AAAA"}}]}`,
	`{"version":3,"sources":["a"],"mappings":";CAAA,aAAa","rangeMappings":";BC"}`,
	`{"version":3,"sources":["a"],"names":["f","g","function"],"mappings":"AAAA,SAAAA","scopes":"BHAAAE,BFCABC,CAB,CAB,EGAA,EDCB,IAAA,FE,FC"}`,
	`{"version":3,"sources":["a"],"names":[],"mappings":"A,uBAAA","x_facebook_sources":[[{"names":["<global>","f"],"mappings":"AAA;ACA"}]],"x_hermes_function_offsets":{"0":[0,9,null]},"x_facebook_offsets":[0,null,3],"x_facebook_segments":{"1":{"version":3,"sources":["s"],"mappings":"AAAA"}}}`,
	`{"version":3,"sources":["a.ts","b.vue"],"sourcesContent":["function f(a: T) {\n g(() => a) }","<script>x = () => 1</script>"],"names":["f"],"mappings":"SAASA,EACP,ECAA"}`,
	")]}'\n{\"version\":3,\"sources\":[\"\\u00e9\"],\"mappings\":\"AAA\\u0041\"}",
}

// FuzzMap: any map is read or refused, with well-formed runs.
func FuzzMap(f *testing.F) {
	for _, s := range seeds {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) { formattest.Fuzz(t, &Format, `{"version":3,`, data) })
}

// FuzzMappings: mappings alone, which a fuzzer of JSON hardly reaches; with and without a window.
func FuzzMappings(f *testing.F) {
	for _, s := range []string{"AAAA,SAASA,GAAIC;ACAA,C", ";;;", "gggggggggggggggC", "D", "AAAA,AAAA,AAAA,EAAA", ",", "AA"} {
		f.Add(s, "")
	}
	f.Add("CAAA,aAAa,EAAG;A", "BC;B")
	f.Fuzz(func(t *testing.T, mappings, ranges string) {
		if strings.ContainsAny(mappings+ranges, "\"\\") || len(mappings) > 1<<16 {
			return
		}
		text := `{"version":3,"sources":["a","b"],"names":["n","m"],"mappings":"` + mappings + `"`
		if ranges != "" {
			text += `,"rangeMappings":"` + ranges + `"`
		}
		in := formattest.InputOf("a.js.map", []byte(text+"}"), formats.Limits{})
		x, err := explodeAll(in)
		y, err2 := explodeAll(formattest.Unmapped(in))
		if (err == nil) != (err2 == nil) || err == nil && len(x.ranges) != len(y.ranges) {
			t.Fatalf("%v in memory, %v through a window", err, err2)
		}
		if err != nil {
			if !formats.Rejects(err) {
				t.Fatal(err)
			}
			return
		}
		last := uint64(0)
		for _, g := range x.ranges {
			// Only range mappings go over the ends of lines.
			if g.Start < last || g.End <= g.Start || g.End > symbol.MaxLine<<32 || ranges == "" && g.Start>>32 != (g.End-1)>>32 {
				t.Fatalf("range %#x-%#x after %#x", g.Start, g.End, last)
			}
			last = g.End
		}
	})
}

// FuzzTokens: the identifiers of any script have places in it.
func FuzzTokens(f *testing.F) {
	f.Add("a.b=async function*(){};({m(){},n:1})\nlet u=v=>w\nh(u)")
	f.Fuzz(func(t *testing.T, text string) {
		var all *script.List
		err := formats.Guard(mapfile.Name, func() error {
			all = script.Functions([]byte(text), 1<<16)
			return nil
		})
		if err == nil && all != nil {
			newTokenNames([]byte(text), all)
		}
	})
}

// FuzzNames: a script beside its map gives names or none. The places that a map answers do not depend on it.
func FuzzNames(f *testing.F) {
	for _, script := range []string{"function a(){b()}\nclass c{#d(){this.#d()}get e(){}}", "var q=()=>p;function p(e){}", "__d(function(){x.y=function(){}})", "`${a=>b}`"} {
		f.Add(script, "AAAAA,SAASC,GAAIC;ACAA,CAAC", false)
		f.Add(script, "AAAAA,SAAA,CAAA;AAAAD", true)
	}
	f.Fuzz(func(t *testing.T, text, mappings string, sections bool) {
		if strings.ContainsAny(mappings, "\"\\") || len(mappings)+len(text) > 1<<14 {
			return
		}
		one := `{"version":3,"sources":["a","b"],"names":["n","#m","o"],"mappings":"` + mappings + `"}`
		if sections {
			one = `{"version":3,"sections":[{"offset":{"line":0,"column":0},"map":` + one + `},{"offset":{"line":0,"column":9},"map":` + one + `}]}`
		}
		plain, err := explodeAll(formattest.InputOf("app.js.map", []byte(one), formats.Limits{}))
		if err != nil {
			return
		}
		x, err := explodeAll(withScript([]byte(one), []byte(text), "app.js"))
		if err != nil {
			t.Fatal(err)
		}
		for _, g := range plain.ranges {
			f, want := x.at(g.Start), g.frames[0]
			if len(f) != 1 || f[0].File != want.File || f[0].Line != want.Line || f[0].Column != want.Column || f[0].Name != want.Name {
				t.Fatalf("%#x: %+v, want %+v", g.Start, f, want)
			}
		}
	})
}
