//go:build unix

package source

import (
	"strings"
	"testing"
	"time"

	"github.com/symlake/symlake/formats/formattest"
)

// A source that misleads the parser costs no more than its length allows.
func TestCostlySource(t *testing.T) {
	const size = 1 << 18
	long := func(s string) string { return strings.Repeat(s, size/len(s)) }
	nested := func(open, inner, end string, n int) string {
		return strings.Repeat(open, n) + inner + strings.Repeat(end, n)
	}
	for _, text := range []string{
		long("("), long("[") + long("]"), long("{"), long("a<"), long("a<a<b>c>("), long("a?(b):"), long("a?(b):c=>{"), long("`${"), long("<a>"), long("<a b={"),
		long("function f(){"), long("()=>{"), long("x=>"), long("class{a(){"), long("class A extends "), long("/* "), long("a?b:"), long("a=b="), long("case (a):"), long("<T,>("),
		long("<T>(a"), long("async("), long("({a:"), long("@a("), long("!"), long("new "), long("await "), long("get "), long("\\u{"), long("((a):"), long("'\\"),
		long("a ? (b) : c => d;"), long("a < (b);"), long("type A = {"), long("if(a)"), long("else "), long("a.b["), long("<!--"), long("interface A<"),
		strings.Repeat(nested("function f(){", "b c", "}", 300), size/4500+1), nested("f(function(){", long("b c;"), "})", 400), nested("{a:", "()=>1", "}", 2000),
		"a={" + long("bbbbbbbb:{ccc(){},d(){}},") + "}", "a={" + nested("b:{", long("c(){},"), "}", 90) + "}",
	} {
		for _, name := range []string{"a.ts", "a.js"} {
			start := formattest.Spent(t)
			table := New(name, []byte(text), 1<<20, true)
			if took := formattest.Spent(t) - start; took > 3*time.Second || len(table.text) > 32*len(text) {
				t.Errorf("%s, %.20q: %v, names of %d bytes", name, text, took, len(table.text))
			}
		}
	}
}
