package sourcemap

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/symlake/symlake/formats"
	"github.com/symlake/symlake/formats/formattest"
	"github.com/symlake/symlake/formats/symbol"
)

// marks takes «N» out of a text, and gives the lines and columns at which they stood.
func marks(text string) (plain string, at map[string][2]int) {
	at = map[string][2]int{}
	var b strings.Builder
	line, column := 0, 0
	for rest := text; ; {
		before, after, ok := strings.Cut(rest, "«")
		for _, r := range before {
			b.WriteRune(r)
			if column++; r == '\n' {
				line, column = line+1, 0
			}
		}
		if !ok {
			return b.String(), at
		}
		label, after, _ := strings.Cut(after, "»")
		at[label] = [2]int{line, column}
		rest = after
	}
}

// bundle makes a script and its map: each mark in the script is a segment to the equal mark in a source.
func bundle(t *testing.T, script string, names, sources []string) (text string, m []byte, at map[string][2]int) {
	t.Helper()
	const digit = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"
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
	text, at = marks(script)
	var content []string
	type place struct{ source, line, column int }
	to := map[string]place{}
	for i, s := range sources {
		plain, marked := marks(s)
		content = append(content, plain)
		for label, p := range marked {
			to[label] = place{i, p[0], p[1]}
		}
	}
	var mappings strings.Builder
	var last place
	line, column := 0, 0
	first := true
	for l, rest := range strings.Split(script, "\n") {
		if l > line {
			mappings.WriteByte(';')
			line, column, first = l, 0, true
		}
		for {
			_, after, ok := strings.Cut(rest, "«")
			if !ok {
				break
			}
			var label string
			label, rest, _ = strings.Cut(after, "»")
			p, ok := to[label]
			if !ok {
				t.Fatalf("no source has «%s»", label)
			}
			if !first {
				mappings.WriteByte(',')
			}
			first = false
			mappings.WriteString(number(at[label][1]-column) + number(p.source-last.source) + number(p.line-last.line) + number(p.column-last.column))
			column, last = at[label][1], p
		}
	}
	m, err := json.Marshal(map[string]any{"version": 3, "names": []string{}, "sources": names, "sourcesContent": content, "mappings": mappings.String()})
	if err != nil {
		t.Fatal(err)
	}
	return text, m, at
}

// told writes a chain as tests want it.
func told(frames []symbol.Frame) string {
	var all []string
	for _, f := range frames {
		s := fmt.Sprintf("%s@%s:%d", f.Linkage, f.File, f.Line)
		if f.Compiled != "" {
			s += "=" + f.Compiled
		}
		all = append(all, s)
	}
	return strings.Join(all, " < ")
}

const (
	cart = `import { check } from './check';
export class Cart {
  «h0»total(a) {
    «0»start();
    «1»const r = check(a);
    «2»return r;
  }
}
export const «9»LIMIT = 5;
`
	check = `export function «h3»check«h4»(a) {
  «3»if (!a) «4»throw new Error(a);
  list.map(«h5»x => «5»x.y);
}
`
)

// A place is answered by the function of its source. Code of another function than the script's is inlined.
func TestFunctionsOfSources(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, script string
		want         map[string]string
	}{
		{"own functions", `class c{«h0»t(e){«0»s();«1»const r=n(e);«2»return r}}function «h3»n«h4»(e){«3»if(!e)«4»throw e;l.map(«h5»e=>«5»e.y)}`, map[string]string{
			"0": "Cart.total@a.js:4=c.t", "2": "Cart.total@a.js:6=c.t", "3": "check@b.ts:2=n", "4": "check@b.ts:2=n", "5": "<anonymous>@b.ts:3"}},
		{"inlined, called in a line that both sides of it name", `class c{«h0»t(e){«1»x;«4»throw e;«2»return r}}`, map[string]string{
			"1": "Cart.total@a.js:5=c.t", "2": "Cart.total@a.js:6=c.t", "4": "check@b.ts:2=c.t < Cart.total@a.js:0"}},
		{"an arrow function of what was inlined", `class c{«h0»t(e){l.map(«h5»e=>«5»e.y)}}`, map[string]string{"5": "<anonymous>@b.ts:3"}},
		{"a wrapper without a head", `(()=>{«0»s();«4»throw e})()`, map[string]string{"0": "Cart.total@a.js:4=<anonymous>", "4": "check@b.ts:2=<anonymous>"}},
		{"a constant", `class c{«h0»t(e){«0»s(«9»5)}}`, map[string]string{"9": "Cart.total@a.js:9=c.t"}},
		{"outside", `«9»var l=5`, map[string]string{"9": "<global>@a.js:9"}},
	} {
		text, m, at := bundle(t, c.script, []string{"a.js", "b.ts"}, []string{cart, check})
		x := mustExplode(t, withScript(m, []byte(text), "app.js"))
		alone := mustExplode(t, formattest.InputOf("other.js.map", m, formats.Limits{}))
		for label, want := range c.want {
			pos := uint64(at[label][0])<<32 | uint64(at[label][1])
			if got := told(x.at(pos)); got != want {
				t.Errorf("%s: «%s»: %s, want %s", c.name, label, got, want)
			}
			// Without the script, nothing but the source's function is known.
			want, _, _ = strings.Cut(want, " < ")
			want, _, _ = strings.Cut(want, "=")
			if label == "9" {
				want = "<global>@a.js:9"
			}
			if got := told(alone.at(pos)); got != want {
				t.Errorf("%s: «%s» without the script: %s, want %s", c.name, label, got, want)
			}
		}
	}
}

// The line of a call is known where the segments around the inlined code share it.
func TestCallsOfInlined(t *testing.T) {
	t.Parallel()
	outer := "function «h»f(a) {\n  «1»return g(a)«2».x\n}\nfunction g(a) {\n  «3»if (a) «4»throw a\n}"
	text, m, at := bundle(t, "function «h»q(e){«1»return e?«3»1:«4»r(e)«2».x}", []string{"a.js"}, []string{outer})
	x := mustExplode(t, withScript(m, []byte(text), "app.js"))
	for _, label := range []string{"3", "4"} {
		if got, want := told(x.at(uint64(at[label][1]))), "g@a.js:5=q < f@a.js:2"; got != want {
			t.Errorf("«%s»: %s, want %s", label, got, want)
		}
	}
}

// A map of lines alone tells the functions of lines that lie in one.
func TestFunctionsOfLines(t *testing.T) {
	t.Parallel()
	source := "«0»function f() {\n«1»  a();\n«2»  b(() => 1);\n«3»}\n«4»c();"
	_, m, at := bundle(t, "«0»function f() {\n«1»  a();\n«2»  b(() => 1);\n«3»}\n«4»c();", []string{"a.js"}, []string{source})
	x := mustExplode(t, formattest.InputOf("other.js.map", m, formats.Limits{}))
	for label, want := range map[string]string{"0": "@a.js:1", "1": "f@a.js:2", "2": "@a.js:3", "4": "<global>@a.js:5"} {
		if got := told(x.at(uint64(at[label][0]) << 32)); got != want {
			t.Errorf("«%s»: %s, want %s", label, got, want)
		}
	}
}

// Sources stay unread where that is asked for, where the map names functions itself, and where they are of other languages.
func TestSourcesUnread(t *testing.T) {
	t.Parallel()
	text, m, at := bundle(t, `class c{«h0»t(e){«0»s();«3»x;«h3»x;«h4»x;«4»x;«h5»x;«5»x;«1»x;«2»x;«9»x}}`, []string{"a.js", "b.css"}, []string{cart, check})
	for name, want := range map[string]string{"0": "Cart.total@a.js:4=c.t", "4": "c.t@b.css:2"} {
		x := mustExplode(t, withScript(m, []byte(text), "app.js"))
		if got := told(x.at(uint64(at[name][1]))); got != want {
			t.Errorf("«%s»: %s, want %s", name, got, want)
		}
	}
	in := withScript(m, []byte(text), "app.js")
	limits := (&formats.Limits{NoSourceNames: true}).WithDefaults()
	in.Limits = &limits
	if got, want := told(mustExplode(t, in).at(uint64(at["0"][1]))), "c.t@a.js:4"; got != want {
		t.Errorf("by scope: %s, want %s", got, want)
	}
}

// Nothing of a source's text is kept but names of functions.
func TestTextIsNotKept(t *testing.T) {
	t.Parallel()
	const secret = "SECRET"
	source := "// " + secret + "\nimport '" + secret + "';\nfunction «h»f(" + secret + ") {\n  const " + secret + " = `" + secret + "`; «0»return '" + secret + "'; /" + secret + "/\n}"
	text, m, at := bundle(t, "function «h»q(e){«0»return 1}", []string{"a.ts"}, []string{source})
	for _, in := range []*formats.Input{withScript(m, []byte(text), "app.js"), formattest.InputOf("app.js.map", m, formats.Limits{})} {
		obj, err := Format.Open(t.Context(), in)
		if err != nil {
			t.Fatal(err)
		}
		named := false
		_, err = obj.Artifacts[0].ExplodeScript(t.Context(), 0, func(s *symbol.Script) error {
			for _, word := range s.Strings {
				if strings.Contains(word, secret) {
					t.Errorf("%q is kept", word)
				}
				named = named || word == "f"
			}
			return nil
		})
		if err != nil || !named {
			t.Errorf("%v, named %t", err, named)
		}
	}
	if got := told(mustExplode(t, withScript(m, []byte(text), "app.js")).at(uint64(at["0"][1]))); got != "f@a.ts:4=q" {
		t.Error(got)
	}
}

// A source that the map does not carry is read where the map says that it lies.
func TestSourcesBeside(t *testing.T) {
	t.Parallel()
	_, whole, at := bundle(t, "function «h»q(e){«0»return 1}", []string{"../src/a.ts"}, []string{"function «h»f() {\n  «0»return 1\n}"})
	var m map[string]any
	if err := json.Unmarshal(whole, &m); err != nil {
		t.Fatal(err)
	}
	text := []byte(m["sourcesContent"].([]any)[0].(string))
	for _, content := range []any{nil, []any{nil}, []any{}} {
		if m["sourcesContent"] = content; content == nil {
			delete(m, "sourcesContent")
		}
		bare, err := json.Marshal(m)
		if err != nil {
			t.Fatal(err)
		}
		for place, want := range map[string]string{"www/src/a.ts": "f@../src/a.ts:2", "www/js/a.ts": "@../src/a.ts:2"} {
			in := formattest.InputOf("www/js/app.js.map", bare, formats.Limits{})
			in.Companion = func(_ context.Context, want formats.Ref) (*formats.Input, error) {
				if want.Name != "../src/a.ts" {
					return nil, formats.ErrNoCompanion
				}
				if !want.Optional {
					t.Error("a source is waited for")
				}
				return formattest.InputOf(place, text, formats.Limits{}), nil
			}
			if got := told(mustExplode(t, in).at(uint64(at["0"][1]))); got != want {
				t.Errorf("%s: %s, want %s", place, got, want)
			}
		}
	}
}
