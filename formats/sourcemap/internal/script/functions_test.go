package script

import (
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/symlake/symlake/formats"
)

// namesOf lists the functions of a script, NAME=TEXT each.
func namesOf(t testing.TB, script string) []string {
	t.Helper()
	all := Functions([]byte(script), 1000)
	if all == nil {
		t.Fatalf("%q: no functions", script)
	}
	var got []string
	for i := range all.Placed {
		f := &all.Placed[i]
		name := ""
		for k := f.From; k < f.To; k++ {
			name += string(all.TextOf(k))
			if at := all.Parts[k].At; at >= 0 && !strings.HasPrefix(script[at:], string(all.TextOf(k))) {
				t.Errorf("%q: %s stands at %q", script, all.TextOf(k), script[at:])
			}
		}
		got = append(got, name+"="+script[f.Start:f.End])
	}
	return got
}

// Each kind of function is found where it stands, and named as engines print it.
func TestNames(t *testing.T) {
	t.Parallel()
	for script, want := range map[string][]string{
		"function a(b){return b(c=>c?d:e,1)}": {"a=(b){return b(c=>c?d:e,1)}", "=c=>c?d:e"},
		"var q=()=>p;function p(e){}":         {"q=()=>p", "p=(e){}"},
		"var f=x=>y=>x+y;":                    {"f=x=>y=>x+y", "=y=>x+y"},
		"let u=v=>w\nh(u)":                    {"u=v=>w"},
		"a.b.c=async function(){await 1}":     {"a.b.c=(){await 1}"},
		"a.b.c=function d(){}":                {"a.b.d=(){}"},
		"Foo.prototype.bar=async()=>{}":       {"Foo.prototype.bar=()=>{}"},
		"a[0]=()=>1;a['b']=()=>2;a[c]=()=>3;a[1+1]=()=>4;a[Symbol.b]=()=>5":         {"a.<computed>=()=>1", "a.b=()=>2", "a.<computed>=()=>3", "a.<computed>=()=>4", "a.[Symbol.b]=()=>5"},
		"module.exports=exports=function(){}":                                       {"exports=(){}"},
		"exports.a=exports.b=()=>{}":                                                {"exports.b=()=>{}"},
		"x||=()=>1":                                                                 {"x=()=>1"},
		"f().g=function(){}":                                                        {"g=(){}"},
		"(function(){})();!function(){}();new P(()=>3)":                             {"=(){}", "=(){}", "=()=>3"},
		"var a=(function(){return function(){}})()":                                 {"a=(){return function(){}}", "=(){}"},
		"var a=b(function(){})":                                                     {"a=(){}"},
		"var a=b(function c(){})":                                                   {"c=(){}"},
		"var{a=()=>1,b:c=()=>2,d:{e=function(){}}}=f":                               {"a=()=>1", "c=()=>2", "e=(){}"},
		"var[a=()=>1]=b;[c=()=>2]=d":                                                {"a=()=>1", "c=()=>2"},
		"function a({b=()=>1},[c]=d(()=>2),...e){}":                                 {"a=({b=()=>1},[c]=d(()=>2),...e){}", "b=()=>1", "=()=>2"},
		"export default function(){}":                                               {"default=(){}"},
		"export default async function a(){}":                                       {"a=(){}"},
		"export default()=>{}":                                                      {"default=()=>{}"},
		"export default{data(){}}":                                                  {"<object>.data=(){}"},
		"export default a(()=>1);export default a=()=>2":                            {"=()=>1", "a=()=>2"},
		"export default class{a(){}}":                                               {"new default=class{a(){}}", "default.a=(){}"},
		"export const a=()=>1;export{a as b};export*from'c'\nexport function d(){}": {"a=()=>1", "d=(){}"},
		"import a,{b as c}from'd'with{type:'json'};import'e';import('f').then(()=>1);import.meta.g(()=>2)": {"=()=>1", "=()=>2"},

		"const o={m(){},n:function(){},async*[g](){},'k':()=>({}),r:{t(){}},get a(){},set a(b){},[Symbol.iterator](){},async d(){},get(){},set:()=>1,async:2,static(){}}": {
			"o.m=(){}", "o.n=(){}", "o.<computed>=(){}", "o.k=()=>({})", "o.r.t=(){}", "get o.a=(){}", "set o.a=(b){}", "o.[Symbol.iterator]=(){}", "o.d=(){}", "o.get=(){}", "o.set=()=>1", "o.static=(){}"},
		"({a:function b(){},c:function(){},d:()=>{},e(){}})":   {"<object>.b=(){}", "<object>.c=(){}", "<object>.d=()=>{}", "<object>.e=(){}"},
		"function f(){return{a(){},...b,c}}":                   {"f=(){return{a(){},...b,c}}", "<object>.a=(){}"},
		"(function(){})({a:(function(){})({a:b=>1})})":         {"=(){}", "<object>.a=(){}", "<object>.a.a=b=>1"},
		"a({123:(e,t)=>{},'./b.js':function(){},'x-y':()=>1})": {"=(e,t)=>{}", "=(){}", "<object>.x-y=()=>1"},
		"a={['foo'+1](){},1.7(){},'bar'(){},1n(){}}":           {"a.<computed>=(){}", "a.1.7=(){}", "a.bar=(){}", "a.1n=(){}"},
		"if(a)b={c(){}};else d=()=>1":                          {"b.c=(){}", "d=()=>1"},

		"class A{b(){}static c(){}#d(){}static #e(){}get f(){}set f(a){}static get g(){}async h(){}*i(){}static async*j(){}[k](){}'l'(){}constructor(){this.m=()=>1}}": {
			"new A=class A{b(){}static c(){}#d(){}static #e(){}get f(){}set f(a){}static get g(){}async h(){}*i(){}static async*j(){}[k](){}'l'(){}constructor(){this.m=()=>1}}",
			"A.b=(){}", "A.c=(){}", "A.#d=(){}", "A.#e=(){}", "get A.f=(){}", "set A.f=(a){}", "get A.g=(){}", "A.h=(){}", "A.i=(){}", "A.j=(){}", "A.<computed>=(){}", "A.l=(){}", "new A=(){this.m=()=>1}", "this.m=()=>1"},
		"class A extends b(c=>1){a=()=>1;#b=d();static e=function(){};static{f(()=>2)}static g;get;set=1;static static=2}": {
			"new A=class A extends b(c=>1){a=()=>1;#b=d();static e=function(){};static{f(()=>2)}static g;get;set=1;static static=2}", "A=c=>1",
			"A.<instance_members_initializer>==()=>1", "A.a=()=>1", "A.<instance_members_initializer>==d()", "A.<static_initializer>==function(){}", "A.e=(){}", "A.<static_initializer>={f(()=>2)}", "=()=>2",
			"A.<instance_members_initializer>==1", "A.<static_initializer>==2"},
		"var A=class{b(){}};c.D=class extends A{e(){}};f=class G{h(){}}": {"new A=class{b(){}}", "A.b=(){}", "new c.D=class extends A{e(){}}", "c.D.e=(){}", "new G=class G{h(){}}", "G.h=(){}"},
		"a(class{b(){}})":             {"=class{b(){}}", "b=(){}"},
		"@d class A{@e()b(){}@f c=1}": {"new A=class A{@e()b(){}@f c=1}", "A.b=(){}", "A.<instance_members_initializer>==1"},
		"class A{get\n#b(){}}":        {"new A=class A{get\n#b(){}}", "get A.#b=(){}"},
		"class A{static async=()=>1}": {"new A=class A{static async=()=>1}", "A.<static_initializer>==()=>1", "A.async=()=>1"},

		// Slashes, brackets in text, words that are operators at times.
		"a=b/c/d;e=()=>/[/}]/.test(f)?g/h:`}${()=>i}`":                                   {"e=()=>/[/}]/.test(f)?g/h:`}${()=>i}`", "=()=>i"},
		"if(a)/}/.b(()=>1);x=a++/b;c=(d)/e;f=[g]/h;i=()=>1":                              {"=()=>1", "i=()=>1"},
		"async function*a(){for await(b of c)yield/d/;await/e/;}":                        {"a=(){for await(b of c)yield/d/;await/e/;}"},
		"var async=1,of=2,let_=3;async(()=>1);for(of of of);async=>2;async\n()":          {"=()=>1", "=async=>2"},
		"a:for(var b in c)for(const d of e)for(let f=0,g=()=>1;;)continue a;h=()=>2":     {"g=()=>1", "h=()=>2"},
		"do a=()=>1\nwhile(b)\nc=()=>2;switch(d){case e:f=()=>3;default:g=()=>4}":        {"a=()=>1", "c=()=>2", "f=()=>3", "g=()=>4"},
		"try{a=()=>1}catch{b=()=>2}finally{c=()=>3}try{}catch({d}){e=()=>4}":             {"a=()=>1", "b=()=>2", "c=()=>3", "e=()=>4"},
		"#!/usr/bin/node }\n'use strict';/* } */function a(){// }\n}\n<!-- }\nb=()=>1":   {"a=(){// }\n}", "b=()=>1"},
		"x=a?b=>c:d=>e,f=>g;y=(a,b)=>({c:1})":                                            {"x=b=>c", "x=d=>e", "=f=>g", "y=(a,b)=>({c:1})"},
		"x=()=>{}\n(a=>1)()\ny=()=>{}\n/b/.c(d=>2)":                                      {"x=()=>{}", "=a=>1", "y=()=>{}", "=d=>2"},
		"function a(){return new.target}function b(){return\n()=>1}throw()=>2":           {"a=(){return new.target}", "b=(){return\n()=>1}", "=()=>1", "=()=>2"},
		"a?.b?.[c]?.(()=>1);d=e?.5:f;g=1..h;i=.5.j;k=0x1F+1e-3;l=()=>1":                  {"=()=>1", "l=()=>1"},
		"var \\u0061b=()=>1,ж=()=>2\u00a0,c\u2028=()=>3":                                 {"\\u0061b=()=>1", "ж=()=>2", "c=()=>3"},
		"(async()=>{await a})();b=async c=>d;e=async(f)=>g;async function h(){}":         {"=()=>{await a}", "b=c=>d", "e=(f)=>g", "h=(){}"},
		"var a=1,b=function(){},c=()=>{},d={e:1,f:()=>2}.f":                              {"b=(){}", "c=()=>{}", "d.f=()=>2"},
		"using a=b(()=>1);await using c=d;let\ne=()=>2;let[f=()=>3]=g":                   {"a=()=>1", "e=()=>2", "f=()=>3"},
		"a.function=()=>1;a.class={class:()=>2,function(){},if(){},return:function(){}}": {"a.function=()=>1", "a.class.class=()=>2", "a.class.function=(){}", "a.class.if=(){}", "a.class.return=(){}"},
	} {
		if got := namesOf(t, script); !slices.Equal(got, want) {
			t.Errorf("%s:\n got %q\nwant %q", script, got, want)
		}
	}
}

// In Metro's bundles functions are named as Metro names them in its function maps.
func TestMetroNames(t *testing.T) {
	t.Parallel()
	const script = "function a(b){return b(c=>c?d:e,1)}\n" +
		"var f=x=>y=>x+y;\n" +
		"class K extends L{static s=()=>1;#p(){return/[)}]/g}get q(){return`${(()=>2)()}`}constructor(){super()}static{z()}}\n" +
		"const o={m(){},n:function(){},async*[g](){},'k':()=>({}),r:{t(){}}};\n" +
		"a.b.c=async function(){await 1};(function(){})();new P(()=>3)\n" +
		"let u=v=>w\nh(u);var z=Object.freeze({y(){}});a.b({c(){},d:[()=>4]});x=b(()=>5);__d(function(){})"
	want := []string{"a=(b){return b(c=>c?d:e,1)}", "b$argument_0=c=>c?d:e", "f=x=>y=>x+y", "=y=>x+y", "K.s=()=>1", "K##p=(){return/[)}]/g}", "K#get__q=(){return`${(()=>2)()}`}", "=()=>2",
		"K#constructor=(){super()}", "o.m=(){}", "o.n=(){}", "o.g=(){}", "o.k=()=>({})", "o.r.t=(){}", "a.b.c=(){await 1}", "=(){}", "P$argument_0=()=>3", "u=v=>w", "z.y=(){}", "a.b$argument_0.c=(){}", "=()=>4", "b$argument_0=()=>5",
		"__d$argument_0=(){}"}
	if got := namesOf(t, script); !slices.Equal(got, want) {
		t.Errorf("got %q\nwant %q", got, want)
	}
}

// A script whose brackets do not match has no functions.
func TestNoScript(t *testing.T) {
	t.Parallel()
	for _, script := range []string{"", "function a(){", "function(){}}", "a(()=>1", "a(()=>1]", "`${()=>1", "'use", "x={a(){}", "class A{b(){}", "/[", "\x00\x01", "(a=>1))", "<html><script>function a(){}</script>",
		strings.Repeat("([", 1<<16), strings.Repeat("a=>", 1<<16), strings.Repeat("x={a:", 1<<16), strings.Repeat("!function(){", 1<<14)} {
		if all := Functions([]byte(script), 1000); all != nil {
			t.Errorf("%.40q: %d functions", script, len(all.Placed))
		}
	}
	if Functions([]byte("a=>1;b=>2"), 1) != nil {
		t.Error("more functions than the most")
	}
}

func BenchmarkFunctionsOf(b *testing.B) {
	path := os.Getenv("SYMLAKE_SCRIPT")
	if path == "" {
		b.Skip("SYMLAKE_SCRIPT names no script")
	}
	script, err := os.ReadFile(path)
	if err != nil {
		b.Fatal(err)
	}
	b.SetBytes(int64(len(script)))
	for b.Loop() {
		if Functions(script, 1<<30) == nil {
			b.Fatal("not parsed")
		}
	}
}

// FuzzScript: a script gives functions or none. They lie in it and in each other, and identifiers in names are words.
func FuzzScript(f *testing.F) {
	f.Add("function a(b){return b(c=>c?d:e,1)}var f=x=>y=>x+y;class K{#p(){return/[)}]/g}get q(){return`${(()=>2)()}`}}")
	f.Add("a.b=async function*(){};({m(){},n:1})\nlet u=v=>w\nh(u)")
	f.Add("function a(b){e.f=async(...g)=>{for await(h of`${/[}]/}`);}}__d(function(){},class{static{}static #a=1})")
	f.Add("export default{[Symbol.a]:{'b'(){}},get c(){}};import a from'b';var{a=()=>1}=b?.c[d](e)")
	f.Fuzz(func(t *testing.T, script string) {
		var all *List
		err := formats.Guard("script", func() error {
			all = Functions([]byte(script), 1<<16)
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		if all == nil {
			return
		}
		var open []Placed
		for _, g := range all.Placed {
			for len(open) > 0 && open[len(open)-1].End <= g.Start {
				open = open[:len(open)-1]
			}
			if g.Start < 0 || int(g.End) > len(script) || g.End < g.Start || len(open) > 0 && g.End > open[len(open)-1].End {
				t.Fatalf("[%d, %d) of %d bytes, in %v", g.Start, g.End, len(script), open)
			}
			open = append(open, g)
		}
		last := int32(-1)
		for _, p := range all.Identifiers() {
			if p.Lead > p.At || p.Lead < last || int(p.At) >= len(script) {
				t.Fatalf("an identifier at %d from %d on, behind one at %d", p.At, p.Lead, last)
			}
			last = p.At
		}
	})
}
