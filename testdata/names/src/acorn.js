import {Parser, parse, parseExpressionAt, tokenizer, getLineInfo} from '../node_modules/acorn/dist/acorn.mjs';
const options = {ecmaVersion: 'latest', sourceType: 'module', locations: true, onComment() {}};
step('module', () => parse('import a, {b as c} from "d"; export default class extends a { #x = 1; static { c(); } get y() { return this.#x } async *z(q = 1, ...r) { for await (const [k, {v}] of r) yield* v } }', options));
step('expressions', () => parse('var x = a?.b ?? (c, d) => `t${e}u`, y = /a[b-c](?<n>d)\\k<n>/u, z = new Foo(...x) ** 2, {p = 1, ...q} = {[x]: y, get z() { return 1 }, "s": 0x1fn}', {...options, sourceType: 'script'}));
step('statements', () => parse('l: for (var i = 0; i < 3; i++) { switch (i) { case 1: continue l; default: break } } try { throw 1 } catch { } finally { } while (0); do { } while (0); if (a) b; else c; with (d) e; debugger; function* g() { yield 1 }', {...options, sourceType: 'script'}));
for (const [n, text] of ['let a; let a', 'x = {', 'a.#b', 'class { constructor() {} constructor() {} }', 'for (let x = 1 of y);', '"\\u{110000}"', '/(/', 'break', 'await 1; return', '({a: 1, a} = 1) => 2', '`${', "'abc", '1__0', 'super()', 'export {z}'].entries()) step('error ' + n, () => parse(text, options));
step('at', () => parseExpressionAt('  (a + b) / 2 ;', 2, options));
step('tokens', () => [...tokenizer('a /* b */ + "c\\n\\x41" // d\n<!-- e', {...options, sourceType: 'script'})].length && getLineInfo('a\nb', 3));
step('plugin', () => Parser.extend(base => class Shouting extends base { parseIdent(liberal) { const id = super.parseIdent(liberal); id.name = id.name.toUpperCase(); return id; } }).parse('a(b)', options));
