import * as z from '../node_modules/zod/v4/classic/external.js';
import * as old from '../node_modules/zod/v3/external.js';
for (const [v, Z] of [['v4', z], ['v3', old]]) {
  const user = Z.object({name: Z.string().min(3).trim(), age: Z.number().int().positive().optional(), tags: Z.array(Z.enum(['a', 'b'])).nonempty(), at: Z.date(), nest: Z.record(Z.string(), Z.union([Z.number(), Z.null()])), t: Z.tuple([Z.string()]).rest(Z.boolean()), d: Z.discriminatedUnion('k', [Z.object({k: Z.literal('x'), n: Z.number()}), Z.object({k: Z.literal('y')})])});
  const good = {name: 'bobby', tags: ['a'], at: new Date(), nest: {a: 1}, t: ['s', true], d: {k: 'y'}};
  step(v + ' good', () => user.parse(good));
  step(v + ' bad', () => user.parse({name: 'x', age: -1.5, tags: ['z'], at: 'q', nest: {a: 'b'}, t: [], d: {k: 'z'}}));
  step(v + ' async', () => user.parseAsync({...good, name: 1}));
  step(v + ' safe', () => { const r = user.safeParse({}); return [r.error.format(), r.error.flatten(), String(r.error)]; });
  step(v + ' refine', () => Z.string().refine(s => { if (s === 'throw') throw new Error('refine'); return s.length > 2; }).parse('throw'));
  step(v + ' super', () => Z.array(Z.number()).superRefine(function check(list, ctx) { list.forEach(n => ctx.addIssue({code: 'custom', message: 'm' + n, path: [n]})); }).parse([1]));
  step(v + ' transform', () => Z.string().transform(function up(s) { return s.toUpperCase(); }).pipe(Z.coerce.number()).parse('1x'));
  step(v + ' preprocess', () => Z.preprocess(x => [x].pop(), Z.bigint()).parse('x'));
  step(v + ' async in sync', () => Z.string().refine(async () => true).parse('x'));
  step(v + ' lazy', () => { const node = Z.object({next: Z.lazy(() => node).nullable()}); return node.parse({next: {next: 3}}); });
  step(v + ' combine', () => Z.intersection(Z.object({a: Z.number()}), Z.object({b: Z.string().default('q')})).and(Z.object({a: Z.string()})).parse({a: 1}));
  step(v + ' shapes', () => [user.partial().strict().safeParse({q: 1}), user.pick({name: true}).extend({z: Z.any()}).catchall(Z.string()).safeParse({name: 'abc', z: 1, w: 2}), user.keyof().safeParse('no'), user.omit({t: true}).required().safeParse({}), user.passthrough().safeParse({})]);
  step(v + ' formats', () => [Z.string().email().safeParse('x'), Z.string().url().safeParse('x'), Z.string().uuid().safeParse('x'), Z.string().regex(/a/).safeParse('b'), Z.string().datetime().safeParse('x'), Z.string().ip ? Z.string().ip().safeParse('x') : Z.ipv4().safeParse('x'), Z.string().startsWith('q').includes('z').safeParse('x'), Z.number().multipleOf(0.1).lt(3).finite().safeParse(7.77)]);
  step(v + ' maps', () => [Z.map(Z.string(), Z.number()).safeParse(new Map([[1, 'x']])), Z.set(Z.number()).max(1).safeParse(new Set(['a', 2])), Z.promise(Z.number()).safeParse(1), Z.nan().safeParse(1), Z.never().safeParse(1), Z.symbol().safeParse(1), Z.instanceof(Map).safeParse(1), Z.string().catch(ctx => { [ctx].slice(); return 'c'; }).parse(1), Z.string().brand('x').readonly().describe('d').safeParse(3)]);
  step(v + ' function', () => v === 'v4' ? Z.function({input: [Z.number()], output: Z.string()}).implement(n => n)(1) : Z.function(Z.tuple([Z.number()]), Z.string()).implement(n => n)(1));
}
step('json schema', () => z.toJSONSchema(z.object({a: z.string().min(1).optional(), b: z.array(z.int()), c: z.union([z.literal(1), z.templateLiteral(['a', z.number()])])}), {target: 'draft-7'}));
step('json schema thrown', () => z.toJSONSchema(z.object({a: z.bigint()})));
step('codec', () => z.codec(z.string(), z.number(), {decode: function decode(s) { return [s].pop().length; }, encode: n => String(n).repeat(1)}).decode('abc'));
step('registry', () => { const r = z.registry(); r.add(z.string(), {id: 'a'}); r.add(z.number(), {id: 'a'}); });
step('stringbool', () => z.stringbool().parse('maybe'));
step('check', () => z.string().check(z.minLength ? z.minLength(3) : ctx => { ctx.issues.push(1); }).parse('a'));
