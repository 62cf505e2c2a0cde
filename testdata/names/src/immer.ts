import {produce, produceWithPatches, applyPatches, enablePatches, enableMapSet, createDraft, finishDraft, current, original, freeze, setAutoFreeze, isDraft, nothing, immerable, castDraft, Immer} from './vendor/immer/immer';
declare const step: (name: string, run: () => unknown) => void;
interface Item { id: number; tags: Set<string>; next?: Item }
type State = {items: Item[]; index: Map<string, Item>; when: Date; user: {name: string}};
enablePatches();
enableMapSet();
const base = (): State => ({items: [{id: 1, tags: new Set(['a'])}, {id: 2, tags: new Set()}], index: new Map([['a', {id: 1, tags: new Set<string>()}]]), when: new Date(0), user: {name: 'x'}});
class Cart { [immerable] = true; #secret = 1; constructor(public lines: number[] = []) {} get total(): number { return this.lines.reduce((a, b) => a + b, this.#secret); } }
step('produce', () => produce(base(), d => { d.items[0].tags.add('b'); d.items.push({id: 3, tags: new Set()}); d.index.get('a')!.id++; d.index.delete('zz'); d.user.name = 'y'; delete (d as Partial<State>).when; d.items.forEach(i => i.tags.forEach(t => t.length)); }));
step('patches', () => { const [next, patches, inverse] = produceWithPatches(base(), d => { d.items.splice(0, 1); d.index.set('b', {id: 9, tags: new Set(['q'])}); d.items[0].tags.clear(); }); return applyPatches(applyPatches(next, inverse), patches); });
step('bad patch', () => applyPatches(base(), [{op: 'replace', path: ['items', 7, 'id', 'x'], value: 1}]));
step('bad path', () => applyPatches(base(), [{op: 'add', path: ['__proto__', 'x'], value: 1}]));
step('bad op', () => applyPatches(base(), [{op: 'move' as 'add', path: ['items'], value: 1}]));
step('draft', () => { const d = createDraft(base()); d.items[1].id = original(d)!.items[0].id; const now = current(d); isDraft(d.items); return [now, finishDraft(d)]; });
step('finished', () => finishDraft({} as never));
step('revoked', () => { let leak: State; produce(base(), d => { leak = d as State; }); return leak!.items; });
step('mix', () => produce(base(), d => { d.user.name = 'z'; return {...base()}; }));
step('nothing', () => produce(base() as State | undefined, () => nothing as never));
step('class', () => produce(new Cart([1]), d => { d.lines.push(2); castDraft(d).lines.sort(); }));
step('frozen', () => { 'use strict'; const f = produce(base(), d => { d.user.name = 'f'; }) as State; f.items[0].id = 3; });
step('frozen map', () => (freeze(base(), true) as State).index.set('x', {id: 1, tags: new Set()}));
step('define', () => produce(base(), d => { Object.defineProperty(d, 'x', {value: 1}); }));
step('prototype', () => produce(base(), d => { Object.setPrototypeOf(d, null); }));
step('array', () => produce([1, 2], d => { (d as never as Record<string, number>).x = 1; }));
step('undraftable', () => createDraft(new Date() as never));
step('current', () => current({} as never));
step('thrown', () => produce(base(), d => { d.items.map(function inner(i) { throw new Error('in ' + i.id); }); }));
step('curried', () => [produce((d: State, n: number) => { d.items[0].id = n; })(base(), 3), new Immer({autoFreeze: false}).produce(base(), d => { d.items.reverse(); }), setAutoFreeze(true)]);
step('strict', () => { const i = new Immer({autoFreeze: true, useStrictShallowCopy: true}); return i.produce(Object.defineProperty({a: 1, get b() { return 2; }}, 'c', {value: 3, enumerable: false}) as {a: number}, d => { d.a = 2; }); });
