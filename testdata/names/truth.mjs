// truth.mjs NAME…: runs the modules of src/NAME unbundled and writes truth/NAME.json: what V8 calls the function of each
// place that a stack had, {file: {line: {column: function}}}. A place with two names is left out; '' is no name.
import {mkdirSync, readFileSync, writeFileSync} from 'node:fs';
import {register} from 'node:module';
import {pathToFileURL} from 'node:url';
import {runInThisContext} from 'node:vm';
import {TraceMap, originalPositionFor} from '@jridgewell/trace-mapping';
import {compile} from './compile.mjs';
import {entry, place} from './entries.mjs';

process.env.NODE_ENV = 'production';
register('./loader.mjs', import.meta.url);
for (const level of ['log', 'warn', 'error', 'info', 'debug']) console[level] = () => {};
globalThis.self = globalThis.window = globalThis;

process.on('beforeExit', () => globalThis.skip());
const [name] = process.argv.slice(2);
Error.prepareStackTrace = (_, sites) => {
  const frames = [];
  for (const s of sites) {
    const path = (s.getFileName() || '').replace(/^file:\/\//, '');
    if (path.startsWith('/') && !s.isEval() && s.getLineNumber()) frames.push({path, line: s.getLineNumber(), column: s.getColumnNumber(), name: s.getFunctionName() || ''});
  }
  return {frames, lines: frames.map(f => `${f.path}:${f.line}:${f.column}:${f.name}`)};
};
runInThisContext(readFileSync(new URL('./hooks.js', import.meta.url), 'utf8'), {filename: 'hooks.js'});
await import(pathToFileURL(entry(name)).href);
const stacks = await globalThis.results();
Error.prepareStackTrace = undefined;

// bare is a function's name without what it belongs to: "get size" and "Foo.size" are "size".
function bare(name) {
  name = name.replace(/^(get|set|static|async) /, '');
  const computed = /\.?(\[[^\]]*\])$/.exec(name);
  const last = computed ? computed[1] : name.slice(name.lastIndexOf('.') + 1);
  return last.startsWith('<') ? '' : last; // initializers of classes and computed names have none in a source
}

const truth = {}, maps = {};
let places = 0;
for (const {stack} of stacks) {
  if (typeof stack === 'string') continue; // a library wrote its own
  for (let {path, line, column, name} of stack) {
    const file = place(path);
    if (!file) continue;
    if (/\.tsx?$/.test(path)) {
      maps[path] ||= new TraceMap(compile(path, readFileSync(path, 'utf8')).map);
      const at = originalPositionFor(maps[path], {line, column: column - 1});
      if (at.line === null) continue;
      [line, column] = [at.line, at.column + 1];
    }
    const columns = (truth[file] ||= {})[line] ||= {};
    const known = columns[column];
    if (known === undefined) places++;
    columns[column] = known === undefined || known === bare(name) ? bare(name) : null;
  }
}
mkdirSync('truth', {recursive: true});
writeFileSync(`truth/${name}.json`, JSON.stringify(truth));
process.stderr.write(`${name}: ${places} places\n`);
process.exit(0);
