package sourcemap

import (
	"fmt"
	"runtime"
	"strings"
	"testing"
)

// named is a segment of a map of one source: where it begins in the script and in the source, and its name.
type named struct {
	column, original int
	name             string
}

// mapNaming is a map of one line with these segments.
func mapNaming(segments []named) []byte {
	const digit = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"
	var names, all []string
	number := func(v int) string {
		if v <<= 1; v < 0 {
			v = -v | 1
		}
		s := ""
		for ; v >= 32; v >>= 5 {
			s += string(digit[v&31|32])
		}
		return s + string(digit[v])
	}
	column, original, name := 0, 0, 0
	for _, g := range segments {
		s := number(g.column-column) + "AA" + number(g.original-original)
		column, original = g.column, g.original
		if g.name != "" {
			s += number(len(names) - name)
			name = len(names)
			names = append(names, g.name)
		}
		all = append(all, s)
	}
	return []byte(`{"version":3,"sources":["a.ts"],"names":["` + strings.Join(names, `","`) + `"],"mappings":"` + strings.Join(all, ",") + `"}`)
}

// The function around | in a script is called what the source calls it, wherever the map says so.
func TestNamesAtSegments(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		script   string
		segments []named
		want     string
	}{
		{"var q=()=>p;function p(e){|}", []named{{0, 0, ""}, {10, 20, ""}, {12, 30, ""}, {21, 39, "price"}}, "price"}, // declared behind its use
		{"var q=()=>p;class p{m(){|}}", []named{{0, 0, ""}, {12, 30, ""}, {18, 39, "Cart"}}, "Cart.m"},
		{"function t(){|}", []named{{0, 0, ""}, {8, 9, "price"}}, "price"},                                                        // UglifyJS: the space
		{"function t(){|}", []named{{0, 0, "price"}}, "price"},                                                                    // the keyword
		{"async function*t(){|}", []named{{0, 0, "price"}}, "price"},                                                              // the word before it
		{"function ab(){|}", []named{{0, 0, ""}, {7, 9, "price"}, {8, 9, ""}}, "price"},                                           // TypeScript: within the keyword
		{"function ab(){|}", []named{{0, 9, "price"}, {8, 9, ""}, {9, 9, ""}}, "price"},                                           // or at it
		{"function ab(){|}", []named{{0, 1, "other"}, {8, 9, ""}, {9, 9, ""}}, "ab"},                                              // another place
		{"x;function ab(){|}", []named{{0, 9, "other"}, {11, 9, ""}}, "ab"},                                                       // of what stands before
		{"t.prototype.bar=()=>{|}", []named{{0, 0, "Foo"}, {12, 14, "bar"}}, "Foo.prototype.bar"},                                 // no segment of its own
		{"t.a.b=()=>{|}", []named{{0, 0, "Foo"}, {1, 3, "x"}, {4, 5, "y"}}, "Foo.x.y"},                                            // the dot, too
		{"class t{#o(){|}}", []named{{6, 6, "Cart"}, {8, 12, "#total"}}, "Cart.#total"},                                           // a private name with its mark
		{"class t{#o(){|}}", []named{{6, 6, "Cart"}, {8, 12, "total"}}, "Cart.#total"},                                            // without it
		{"class t{#o(){|}}", []named{{6, 6, "Cart"}, {8, 12, ""}, {9, 13, "total"}}, "Cart.#total"},                               // behind it
		{"class t{static get#o(){|}}", []named{{5, 6, "Cart"}, {8, 12, "total"}}, "get Cart.#total"},                              // before its words
		{"class t{#o(){|}p(){this.#o()}}", []named{{6, 6, "Cart"}, {8, 12, ""}, {17, 30, ""}, {24, 35, "#total"}}, "Cart.#total"}, // at its use alone
		{"class t{p(){this.#o();class u{#o(){}q(){this.#o()}}}#o=()=>{|}}", []named{{6, 6, "Cart"}, {17, 12, "#total"}, {30, 50, "#other"}, {45, 55, "#other"}, {52, 60, ""}}, "Cart.#total"},
		{"var t=class u{m(){|}}", []named{{4, 6, "Cart"}, {12, 20, "_Cart"}, {13, 30, ""}}, "Cart.m"},
		{"class t{get o(){|}}", []named{{6, 6, "Cart"}, {8, 12, ""}, {12, 16, "total"}}, "get Cart.total"},
		{"class t{constructor(){|}}", []named{{6, 6, "Cart"}}, "new Cart"},
		{"class t{a=|1}", []named{{6, 6, "Cart"}}, "Cart.<instance_members_initializer>"},
		{"var t=class{a=()=>{|}}", []named{{4, 6, "Cart"}, {12, 20, "add"}}, "Cart.add"},
		{"var t={a:{b(){|}}}", []named{{4, 6, "cart"}, {7, 9, "inner"}}, "cart.inner.b"},
		{"var t={a:{b(){|}}}", []named{{3, 6, "cart"}, {6, 6, "not inner"}}, "cart.a.b"}, // what stands before a key is no name of it
		{"e.forEach((a=>{|}))", []named{{0, 0, "items"}}, "<anonymous>"},
		{"|e(a=>1)", []named{{0, 0, "run"}}, "<global>"},
		{"__d(function(){class t{#o(){|}}})", []named{{21, 6, "Cart"}, {23, 12, "#total"}}, "Cart##total"}, // Metro's way
	} {
		column := strings.IndexByte(c.script, '|')
		script := c.script[:column] + " " + c.script[column+1:]
		segments := append(c.segments, named{column: column, original: 100})
		x := mustExplode(t, withScript(mapNaming(segments), []byte(script), "app.js"))
		if f := x.place(0, uint32(column)); len(f) != 1 || f[0].Linkage != c.want {
			t.Errorf("%s %v: %+v, want %s", c.script, c.segments, f, c.want)
		}
	}
}

// A segment in another line names nothing, and many identifiers in a row have each their own name.
func TestNamesInLines(t *testing.T) {
	t.Parallel()
	text := `{"version":3,"sources":["a.ts"],"names":["one","other"],"mappings":"AAAAA;AAAA,KAAK;AAAA,SAASC,IAAI"}`
	x := mustExplode(t, withScript([]byte(text), []byte("function\na(){b()}\nfunction b(){c()}\n"), "app.js"))
	for _, c := range []struct {
		line, column uint32
		want         string
	}{{0, 2, "<global>"}, {1, 5, "a"}, {2, 14, "other"}} {
		if f := x.place(c.line, c.column); len(f) != 1 || f[0].Linkage != c.want {
			t.Errorf("%d:%d: %+v, want %s", c.line, c.column, f, c.want)
		}
	}
}

// Sections of an index map name the identifiers in them alone.
func TestNamesOfSections(t *testing.T) {
	t.Parallel()
	section := func(column, name string) string {
		return `{"offset":{"line":0,"column":` + column + `},"map":{"version":3,"sources":["` + name + `.ts"],"names":["` + name + `"],"mappings":"AAAAA,SAASA,IAAI"}}`
	}
	text := `{"version":3,"sections":[` + section("0", "one") + `,` + section("15", "two") + `]}`
	x := mustExplode(t, withScript([]byte(text), []byte("function a(){} function b(){}"), "app.js"))
	for column, want := range map[uint32]string{13: "one", 28: "two"} {
		if f := x.place(0, column); len(f) != 1 || f[0].Linkage != want {
			t.Errorf("column %d: %+v, want %s", column, f, want)
		}
	}
}

// Names from the map may be long, and a script may use one of them a thousand times: functions are called
// what the script says then, and memory is bounded.
func TestLongNamesOfFunctions(t *testing.T) {
	const functions = 2000
	var script, mappings strings.Builder
	for i := range functions {
		fmt.Fprintf(&script, "a.b%04d=()=>{};", i)
		mappings.WriteString("AAAAA,eAAA;")
		script.WriteByte('\n')
	}
	text := `{"version":3,"sources":["a.ts"],"names":["` + strings.Repeat("n", 60<<10) + `"],"mappings":"` + mappings.String() + `"}`
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	x := mustExplode(t, withScript([]byte(text), []byte(script.String()), "app.js"))
	runtime.ReadMemStats(&after)
	if spent := after.TotalAlloc - before.TotalAlloc; spent > 128<<20 {
		t.Errorf("%d bytes allocated", spent)
	}
	for line, want := range map[uint32]string{0: "n.b0000", functions - 1: "a.b1999"} {
		if f := x.place(line, 12); len(f) != 1 || !strings.HasSuffix(f[0].Linkage, want) {
			t.Errorf("line %d: %.80v, want %s", line, f, want)
		}
	}
}
