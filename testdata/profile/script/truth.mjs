// truth.mjs NAME MS OUT [ENTRY]: runs the modules of a program unbundled, and writes [function, file, line] of each function
// that V8 knows. It runs in the folder of the corpus of names.
import {readFileSync, writeFileSync} from 'node:fs';
import inspector from 'node:inspector';
import {register} from 'node:module';
import {join} from 'node:path';
import {pathToFileURL} from 'node:url';

const names = process.cwd();
const load = file => import(pathToFileURL(join(names, file)).href);
const {entry, place} = await load('entries.mjs');
const [name, ms, out, own] = process.argv.slice(2);
process.env.NODE_ENV = 'production';
if (!own) register('./loader.mjs', pathToFileURL(join(names, 'truth.mjs')).href);
for (const level of ['log', 'warn', 'error', 'info', 'debug']) console[level] = () => {};
globalThis.self = globalThis.window = globalThis;
globalThis.document = {createElement: () => ({textContent: '&'})};
const steps = [];
globalThis.step = (label, run) => steps.push(run);
globalThis.skip = () => {};

const session = new inspector.Session();
session.connect();
const post = (method, params) => new Promise((done, fail) => session.post(method, params, (e, r) => e ? fail(e) : done(r)));
await post('Profiler.enable');
await post('Debugger.enable');
await post('Profiler.startPreciseCoverage', {callCount: true, detailed: true});
await import(pathToFileURL(own || entry(name)).href);
const end = Date.now() + +ms;
do {
  for (const run of steps) {
    try { await Promise.race([run(), new Promise(done => setTimeout(done, 20))]); } catch {}
  }
} while (Date.now() < end);

const all = [], maps = {};
for (const script of (await post('Profiler.takePreciseCoverage')).result) {
  if (!script.url.startsWith('file:')) continue;
  const path = script.url.replace('file://', '');
  const file = place(path);
  if (!file) continue;
  const {scriptSource} = await post('Debugger.getScriptSource', {scriptId: script.scriptId});
  const lines = [0];
  for (let at = 0; (at = scriptSource.indexOf('\n', at)) >= 0;) lines.push(++at);
  for (const f of script.functions) {
    const from = f.ranges[0].startOffset;
    let line = lines.findLastIndex(start => start <= from) + 1;
    if (/\.tsx?$/.test(path)) {
      const {TraceMap, originalPositionFor} = await load('node_modules/@jridgewell/trace-mapping/dist/trace-mapping.mjs');
      const {compile} = await load('compile.mjs');
      maps[path] ||= new TraceMap(compile(path, readFileSync(path, 'utf8')).map);
      ({line} = originalPositionFor(maps[path], {line, column: from - lines[line - 1]}));
    }
    if (line) all.push([f.functionName, file, line]);
  }
}
writeFileSync(out, JSON.stringify(all));
process.exit(0);
