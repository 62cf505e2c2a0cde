package source

import (
	"fmt"
	"strings"
	"testing"

	"github.com/symlake/symlake/formats/sourcemap/internal/lines"
)

// marked reads a source in which «name» stands where that function answers: outside is <global>, unknown is ?.
func marked(t *testing.T, file, text string) {
	t.Helper()
	type want struct {
		at   int
		name string
	}
	var wants []want
	var b strings.Builder
	for rest := text; ; {
		before, after, ok := strings.Cut(rest, "«")
		b.WriteString(before)
		if !ok {
			break
		}
		name, after, _ := strings.Cut(after, "»")
		wants = append(wants, want{b.Len(), name})
		rest = after
	}
	src := b.String()
	table := New(file, []byte(src), 1<<20, true)
	l := lines.NewCounter([]byte(src))
	hint := 0
	for _, w := range wants {
		at := l.Of(w.at)
		got := "?"
		if f := table.At(uint32(at>>32), uint32(at), &hint); f != Unknown {
			got = string(table.Name(f))
		}
		if got != w.name {
			t.Errorf("%s: at %q: %s, want %s", file, excerpt(src, w.at), got, w.name)
		}
	}
}

func excerpt(s string, at int) string {
	return fmt.Sprintf("%s|%s", s[max(0, at-20):at], s[at:min(len(s), at+20)])
}

func TestNames(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ file, text string }{
		{"a.js", `«<global>»f(); function f(a = «f»1) { «f»x(); return g(function() {«<anonymous>»}) } «<global>»`},
		{"a.js", `var a = function() {«a»}, b = () => «b»1, c = function own() {«own»};`},
		{"a.js", `a.b.c = function() {«a.b.c»}; a["b"] = () => {«a.b»}; a[0] = x => «a.<computed>»x; a[b] = () => {«a.<computed>»}; a[b['c']].d = () => «a.<computed>.d»1; module.exports = async () => {«module.exports»}`},
		{"a.js", `a . /* c */ b
			.c = function() {«a.b.c»}`},
		{"a.js", `class Cart extends (class { m() {«m»} constructor() {«<anonymous>»} }) { #x = 1; y = () => {«Cart.y»}; z = «Cart.<instance_members_initializer>»f(); static s = «Cart.<static_initializer>»1; constructor() {«new Cart»} total() {«Cart.total»} static make() {«Cart.make»}
			get size() {«get Cart.size»} set size(v) {«set Cart.size»} #priv() {«Cart.#priv»} static { «Cart.<static_initializer>»x() } async *[Symbol.iterator]() {«Cart.[Symbol.iterator]»} ["a" + b]() {«Cart.<computed>»} 'x-y'() {«Cart.x-y»} 1() {«Cart.1»} }`},
		{"a.js", `const C = class { m() {«C.m»} }; x.y = class { m() {«x.y.m»} }; var D = class E { m() {«E.m»} }`},
		{"a.js", `var o = { a() {«o.a»}, b: function() {«o.b»}, c: { d: () => «o.c.d»1 }, get e() {«get o.e»}, set e(v) {«set o.e»}, async f() {«o.f»}, *g() {«o.g»}, async *h() {«o.h»}, 'i-j': function own() {«o.own»}, [k]: () => {«o.<computed>»} }; f({ a() {«<object>.a»} })`},
		{"a.js", `({ get() {«<object>.get»}, set: 1, async() {«<object>.async»}, static() {«<object>.static»}, get get() {«get <object>.get»}, async async() {«<object>.async»}, async: () => {«<object>.async»} })`},
		{"a.js", `class A { get; set; static; async; static static() {«A.static»} get() {«A.get»} static async() {«A.async»} async static() {«A.static»} get get() {«get A.get»} static = () => {«A.static»}; of() {«A.of»} }`},
		{"a.js", `export default function() {«default»} export default class { m() {«default.m»} }`},
		{"a.js", `export default () => {«default»}`},
		{"a.js", `export default async (x) => {«default»}`},
		{"a.js", `export default { a() {«<object>.a»} }`},
		{"a.js", `export default connect(() => {«<anonymous>»})(X); export const f = () => {«f»}; export async function g() {«g»}`},
		{"a.js", `const x = list.map(i => «x»i).filter(function() {«x»}); list.each(() => {«<anonymous>»; (() => «<anonymous>»1)() }); const y = (() => {«y»})()`},
		{"a.js", `label: for (;;) { break label } a ? b : c; a ? (b) : c => «<anonymous>»d; x = a ? () => «x»1 : (y) => «x»y; s = { a: (b), c: ((d)) }`},
		{"a.js", `if (a) /re'g{/.test(b); x = a / b / c; y = (a) / 2; z = {} / 1; var t = ` + "`a${() => {«t»}}'${`${b}`}`" + `; i++ / 2; f();
			/x'/g.test(); function h() {«h»}`},
		{"a.js", `async => «<anonymous>»1; async x => «<anonymous>»1; async (x) => {«<anonymous>»}; async(1); async function f() {«f» await x; for await (const a of b) {} } function* g() {«g» yield; yield* a; yield () => {«<anonymous>»}; x = yield }`},
		{"a.js", `#!/usr/bin/env node
			<!-- comment '
			--> '
			a?.b?.(() => {«<anonymous>»}); a?.[0]; a ?.5 : 1; x ??= () => {«x»}; y ||= function() {«y»}; new.target; import.meta.url; import("x"); new Foo; new (foo())(); function f() {«f»}`},
		{"a.js", `let a = 1, [b = () => {«b»}, { c = function() {«c»} }] = x; let
			let2 = () => {«let2»}; do x(); while (a) y(); do { } while (b) (() => {«<anonymous>»})()`},
		{"a.js", `switch (a) { case (b): case c: { x(() => {«<anonymous>»}) } default: y } try { } catch { } try { a } catch ({ b = () => {«b»} }) { } finally { f = () => {«f»} }`},
		{"a.js", `for (var i = 0, f = () => {«f»}; i < 1; i++) g(() => {«<anonymous>»}); for (const k in o) {} for (x of y) {} for (let of of z) {} for (;;) {}`},
		{"a.js", `var a = 1
			var b = a
			;(() => {«<anonymous>»})()
			function f() {«f» return
			x => {«<anonymous>»} }`},
		{"a.js", `\u0061b = function() {«ab»}; function ünïcode() {«ünïcode»} "use strict"; var 日本 = () => {«日本»}`},
	} {
		marked(t, c.file, c.text)
	}
}

func TestTypes(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ file, text string }{
		{"a.ts", `function f(a: string): void; function f(a?: number, b: () => void = () => {«b»}): asserts a is string {«f»} interface X { m(): void; f: () => void } type F = (a: string) => void; type G<T> = { a(): T } | null
			const x = <T,>(a: T) => {«x»}; const y = <T extends { a: string }>(a: T): a is T => {«y»}; const z = async <T>(a: T): Promise<T> => {«z»}`},
		{"a.ts", `abstract class A<T> extends B<T, string> implements C<T>, D { private readonly x: string = "a"; constructor(private a: string, public readonly b = () => {«b»}) { super(); «new A» }
			abstract m(): void; protected async n<U>(this: A<T>, a: U): Promise<void> {«A.n»} get v(): string {«get A.v»} declare w: number; x2?: string; y!: number; override z = (): void => {«A.z»}; [key: string]: any; static #p = 1; accessor q = 1; m2?(): void {«A.m2»} }`},
		{"a.ts", `let a = b as unknown as Foo<Bar>; let c = d!.e!(); let e = <any>f; let g = <T>(a: T) => {«g»}; x = y satisfies Z; const h = (a as any)(() => {«h»}); for (let i = 0; i < n; i++) { if (a < b && c > d) f(() => {«<anonymous>»}) }`},
		{"a.ts", `enum E { A = 1, B = f(() => {«<anonymous>»}), 'c' } const enum F { A } declare enum G { A } namespace N.M { export function f() {«f»} } declare module "x" { function g(): void; export default g } declare global { interface Window { a: string } } module Q { var a = () => {«a»} }`},
		{"a.ts", `@Component({ a: () => {«<object>.a»} }) class A { @Input() a: string; @Output() b = new X<string>(); @Host('x', ['$event']) m(@Inject(X) a: string) {«A.m»} constructor(@Inject() private x: Y) {«new A»} } export default abstract class B { m() {«B.m»} }`},
		{"a.ts", `import type { A } from "a"; import b, { type C } from "b"; import d = require("d"); export type { A }; export type B = string; export * as e from "e"; export { f as default } from "f"; import "g"; export = b; import json from "./a.json" with { type: "json" }
			function f() {«f»}`},
		{"a.ts", `type A = B extends infer U extends string ? C : D; type M = { readonly [K in keyof T]?: T[K] }; type T = [a: string, ...b: number[]]; type U = ` + "`a${string}b`" + `; type V = typeof x; type W = new (...a: any[]) => object; type X = unique symbol; let a: keyof typeof b = c; type Y = A['b'][]
			function f() {«f»}`},
		{"a.ts", `const a = b < c ? d : e; const f = g<string>(() => {«f»}); new Map<string, () => void>(); const h = i<string>; const k = (l ? (m) : n); const o = p ? (q): string => {«o»} : r; const v = (x: string): { a: string } => {«v»}; type = 1; declare; namespace; abstract = 2`},
		{"a.ts", `var type = () => {«type»}; interface
			X; let x: (a: string) => (b: number) => void = (a) => (b) => {«<anonymous>»}; function g(a: { b: () => void }, { c }: { c: string } = {}): { d: string }[] {«g»} export function assertIsString(val: any): asserts val is string {«assertIsString»}`},
		{"a.ts", `class A { a: number
			b = 1
			c() {«A.c»}
			d: () => void
			static readonly e: Array<{ a: string }> = []
			f = <T,>(x: T) => {«A.f»}
			async *g(): AsyncGenerator<X> {«A.g»} } function using() {«using» using x = y(); await using z = w }`},
		{"a.tsx", `const A = <T,>(p: P<T>) => { «A»return <div onClick={() => {«<object>.onClick»}} a="x'y" {...p} b-c:d>it's {list.map(i => <li key={i}>«<anonymous>»{i}'</li>)} <b/> {/* c */} </div> }; function B() { «B»return <><A<string> x={1}>a {"}"} </A></> }`},
		{"a.tsx", `const f = (a: string) => a ? <p>don't</p> : <p/>; const g = () => «g»1; const h = a < b; const i = <T extends unknown>(x: T) => {«i»}; x = <Foo render={<Bar on={() => {«x.render.on»}}/>} />; y = <a.b.c>{...z}</a.b.c>; function k() {«k»}`},
	} {
		marked(t, c.file, c.text)
	}
}

func TestFlow(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ file, text string }{
		{"a.js", `// @flow
			import type { A } from 'a'; import typeof B from 'b'; export type Props = {| +a: string, -b?: ?number, ... |}; opaque type C: string = string; declare var __DEV__: boolean; declare function d(x: string): void; declare class E { m(): void; static x: string }
			function f(a: ?string, b?: () => void): boolean %checks {«f» return (a: any) } const g = (x: string => void): void => {«g»}; class H<+T> extends I<Props> { +x: string; static y: string = 'a'; props: Props; m = (): void => {«H.m»} }
			export default (f: string); const j = <T>(x: T): T => {«j»}; type K = { [string]: number, (x: string): void }; component L(a: string, ...rest: Props) {«L» return <A b={() => {«<object>.b»}} /> } hook useM() {«useM»} enum N of string { A = 'a', ... }
			const o = (x: $ReadOnly<{| a: string |}>) => {«o»}; declare export function p(): void; declare module.exports: string; declare export default class Q { }
			const r = async (x: string): Promise<void> => {«r»}`},
	} {
		marked(t, c.file, c.text)
	}
}

func TestLost(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ file, text string }{
		{"a.js", `function f() { «f»a(); «?»b c d; «?»x(function g() {«?»}) } function h() {«h»}`},
		{"a.js", `class A { m() {«A.m»} «?»% n() {«?»} } function h() {«h»}`},
		{"a.js", `f(function() {«<anonymous>»}); «?»b c; function h() {«?»}`},
		{"a.css", ``},
	} {
		if New(c.file, []byte("x"), 1, true) == nil {
			if c.file != "a.css" {
				t.Errorf("%s is not read", c.file)
			}
			continue
		}
		marked(t, c.file, c.text)
	}
}

func TestComponents(t *testing.T) {
	t.Parallel()
	marked(t, "A.vue", "<template>«?»<p @click=\"a => b\">it's</p></template>\n<script>export default { methods: { a() {«<object>.methods.a»} } }</script>«?»\n<script setup lang=\"ts\">\n«<global>»const b = <T,>(c: T): T => {«b»}\n</script>\n<style>a { b: c }</style>")
	marked(t, "A.vue", "export default { a() {«<object>.a»} }")
	marked(t, "a.astro", "---\nconst b = (c: string) => {«b»}\n---\n<p>«?»</p>")
}
