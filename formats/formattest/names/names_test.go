package names

import (
	"strings"
	"testing"
)

func TestBare(t *testing.T) {
	for name, want := range map[string]string{
		"parse": "parse", "Object.parse": "parse", "a.b.c": "c", "Cart#total": "total", "Cart##total": "#total", "Cart.#total": "#total", "#total": "#total",
		"new Cart": "Cart", "Cart#constructor": "Cart", "shop.Cart.constructor": "Cart", "constructor": "constructor", "get size": "size", "Set.get size": "size",
		"async load": "load", "async Cart.load": "load", "Cart.[Symbol.iterator]": "[Symbol.iterator]", "[Symbol.iterator]": "[Symbol.iterator]",
		"Cart#[Symbol.iterator]": "[Symbol.iterator]", "static of": "of", "": "", "<anonymous>": "<anonymous>",
	} {
		if got := Bare(name); got != want {
			t.Errorf("Bare(%q) is %q, not %q", name, got, want)
		}
	}
}

func TestRaw(t *testing.T) {
	for line, want := range map[string]string{
		"    at new e (https://example.com/a.js:1:2)": "new e", "    at e.x [as y] (https://example.com/a.js:1:2)": "e.x",
		"    at https://example.com/a.js:1:2": "", "t@https://example.com/a.js:1:2": "t", "@https://example.com/a.js:1:2": "", "    at async Promise.all (index 0)": "async Promise.all",
	} {
		if got := Raw(line); got != want {
			t.Errorf("Raw(%q) is %q, not %q", line, got, want)
		}
	}
}

func TestAnswers(t *testing.T) {
	all := []Bundle{{Bundler: "esbuild", Name: "cart", Stacks: []Stack{
		{Engine: "V8", Lines: []string{"Error: x", "    at e (https://example.com/esbuild-cart.js:1:2)", "    at native"}, Frames: []Frame{{At: 1, Name: "total"}}},
		{Engine: "JavaScriptCore", Lines: []string{"@https://example.com/esbuild-cart.js:1:9", "t@https://example.com/esbuild-cart.js:1:2"}, Frames: []Frame{{At: 0, Name: "add"}, {At: 1, Name: "total"}}},
	}}}
	if text := Text(all); strings.Count(text, "\n") != 7 || !strings.HasPrefix(text, "Error: x\n    at e (") {
		t.Fatalf("%q", text)
	}
	records := `{"threads":[{"frames":[{"raw":"at e (https://example.com/esbuild-cart.js:1:2)","frames":[{"function":"Cart#total"},{"function":"main"}]}]}]}
{"threads":[{"frames":[{"raw":"t@https://example.com/esbuild-cart.js:1:2","frames":[{"function":"total"}]}]}]}`
	got, err := Answers(all, strings.NewReader(records))
	if err != nil {
		t.Fatal(err)
	}
	first, second := all[0].Stacks[0].Frames, all[0].Stacks[1].Frames
	if got[&first[0]].Function() != "Cart#total" || got[&second[0]].Function() != "" || got[&second[1]].Function() != "total" {
		t.Errorf("%+v", got)
	}
	if _, err := Answers(all, strings.NewReader(`{"threads":[{"frames":[{"raw":"another"}]}]}`)); err == nil {
		t.Error("an answer of another line is taken")
	}
	if _, err := Load(t.TempDir()); err != nil {
		t.Error(err)
	}
}
