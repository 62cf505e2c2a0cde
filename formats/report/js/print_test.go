package js_test

import (
	"bytes"
	"strings"
	"testing"

	"github.com/symlake/symlake/formats/report"
	"github.com/symlake/symlake/formats/report/all"
	"github.com/symlake/symlake/formats/symbol"
)

// A frame comes out with the marks that its engine printed round the name.
func TestPrintedNames(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ raw, functions, want string }{
		{"    at r (http://h/a.js:1:35)", "price", "    at price (a.ts:1:8)"},
		{"    at http://h/a.js:1:35", "price", "    at price (a.ts:1:8)"},
		{"    at async r (http://h/a.js:1:35)", "Cart.total", "    at async Cart.total (a.ts:1:8)"},
		{"    at new r (http://h/a.js:1:35)", "new Cart", "    at new Cart (a.ts:1:8)"},
		{"    at new r (http://h/a.js:1:35)", "Cart", "    at new Cart (a.ts:1:8)"},
		{"    at new r (http://h/a.js:1:35)", "<anonymous>", "    at new <anonymous> (a.ts:1:8)"},
		{"    at r.o [as total] (http://h/a.js:1:35)", "Cart.total", "    at Cart.total (a.ts:1:8)"},
		{"    at r.o [as total] (http://h/a.js:1:35)", "sum", "    at sum [as total] (a.ts:1:8)"},
		{"    at get o [as o] (http://h/a.js:1:35)", "get Cart.o", "    at get Cart.o (a.ts:1:8)"},
		{"    at r.o [as total] (http://h/a.js:1:35)", "", "    at r.o [as total] (a.ts:1:8)"},
		{"    at async r (http://h/a.js:1:35)", "validate < pay", "    at validate (a.ts:1:8)\n    at async pay (a.ts:1:8)"},
		{"    at new r (http://h/a.js:1:35)", "validate < new Cart", "    at validate (a.ts:1:8)\n    at new Cart (a.ts:1:8)"},
		{"r@http://h/a.js:1:35", "new Cart", "Cart@a.ts:1:8"},
		{"async*r@http://h/a.js:1:35", "Cart.total", "async*Cart.total@a.ts:1:8"},
		{"async*r@http://h/a.js:1:35", "validate < pay", "validate@a.ts:1:8\nasync*pay@a.ts:1:8"},
		{"r/<@http://h/a.js:1:35", "<anonymous>", "<anonymous>@a.ts:1:8"},
		{"http://h/a.js:1:35", "new Cart", "Cart@a.ts:1:8"},
		{"    at eval (eval at r (http://h/a.js:1:35), <anonymous>:1:39)", "run", "    at eval (eval at run (a.ts:1:8), <anonymous>:1:39)"},
		{"    at f (eval at g (eval at new r (http://h/a.js:1:35), <anonymous>:1:39), <anonymous>:2:1)", "new Cart", "    at f (eval at g (eval at new Cart (a.ts:1:8), <anonymous>:1:39), <anonymous>:2:1)"},
		{"    at eval (eval at http://h/a.js:1:35)", "run", "    at eval (eval at a.ts:1:8)"},
		{"    at eval (eval at <anonymous> (http://h/a.js:1:35), <anonymous>:1:39)", "run", "    at eval (eval at run (a.ts:1:8), <anonymous>:1:39)"},
	} {
		var chain []symbol.Frame
		for _, f := range strings.Split(c.functions, " < ") {
			chain = append(chain, symbol.Frame{Linkage: f, File: "a.ts", Line: 1, Column: 7})
		}
		var out bytes.Buffer
		err := report.Split(t.Context(), strings.NewReader("Error: a\n"+c.raw+"\n"), all.Dialects, report.Options{}, func(r *report.Report) error {
			return report.Print(&out, r, [][]symbol.Answer{{{Status: symbol.Found, Frames: chain}}})
		})
		if got := out.String(); err != nil || got != "Error: a\n"+c.want+"\n" {
			t.Errorf("%s, %s:\n got %s\nwant %s\n%v", c.raw, c.functions, got, c.want, err)
		}
	}
}
