//go:build unix

package source

import (
	"strings"
	"syscall"
	"testing"
	"time"
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
			start := cpu(t)
			table := New(name, []byte(text), 1<<20)
			if took := cpu(t) - start; took > 3*time.Second || len(table.text) > 32*len(text) {
				t.Errorf("%s, %.20q: %v, names of %d bytes", name, text, took, len(table.text))
			}
		}
	}
}

// cpu is what this process has used: other load on the machine does not count.
func cpu(t *testing.T) time.Duration {
	t.Helper()
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		t.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
