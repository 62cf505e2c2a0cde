// frames.mjs BUNDLE…: runs out/BUNDLE.js on V8 and on JavaScriptCore and writes frames/BUNDLE.json: raw stacks, and of
// each frame whose original place V8 had in the unbundled program that place and the function's true name.
import {execFileSync} from 'node:child_process';
import {existsSync, mkdirSync, readFileSync, writeFileSync} from 'node:fs';
import {TraceMap, originalPositionFor} from '@jridgewell/trace-mapping';
import ts from 'typescript';
import {place} from './entries.mjs';

const kept = 60; // known frames of a bundle on an engine
const engines = {
  V8: file => execFileSync(process.execPath, ['engine.js', file], {encoding: 'utf8', maxBuffer: 1 << 28, env: {...process.env, NODE_ENV: 'production'}}),
  JavaScriptCore: file => execFileSync('jsc', ['engine.js', '--', file, '.'], {encoding: 'utf8', maxBuffer: 1 << 28}),
};

const functions = {};

// within is the innermost function around an offset of a source file, undefined outside all.
function within(file, offset) {
  functions[file] ||= ranges(file);
  let found;
  for (const range of functions[file].ranges) {
    if (range.start > offset) break;
    if (offset < range.end) found = range;
  }
  return found;
}

const text = node => !node ? undefined : ts.isComputedPropertyName(node) ? (ts.isStringLiteralLike(node.expression) ? node.expression.text : `[${node.expression.getText()}]`) : node.text ?? node.getText();

// given are the names that the source gives a function: its own, or that of the variable, member or property to which it
// is assigned at once. V8 guesses more, from words nearby.
function given(node) {
  if (ts.isConstructorDeclaration(node)) return [...given(node.parent)];
  const names = [text(node.name)];
  let at = node;
  while (ts.isParenthesizedExpression(at.parent) || ts.isAsExpression(at.parent)) at = at.parent;
  const to = at.parent;
  if (ts.isVariableDeclaration(to) || ts.isPropertyAssignment(to) || ts.isPropertyDeclaration(to) || ts.isParameter(to) || ts.isBindingElement(to)) names.push(text(to.name));
  if (ts.isBinaryExpression(to) && to.right === at) names.push(ts.isPropertyAccessExpression(to.left) ? text(to.left.name) : ts.isElementAccessExpression(to.left) ? text(to.left.argumentExpression) : text(to.left));
  if (ts.isExportAssignment(to) || !node.name && node.modifiers?.some(m => m.kind === ts.SyntaxKind.DefaultKeyword)) names.push('default');
  return names.filter(name => name);
}

function ranges(file) {
  const parsed = ts.createSourceFile(file, readFileSync(file, 'utf8'), ts.ScriptTarget.Latest, true);
  const ranges = [];
  const visit = node => {
    if (ts.isFunctionLike(node) && node.body) ranges.push({start: node.getStart(), end: node.end, given: given(node)});
    ts.forEachChild(node, visit);
  };
  visit(parsed);
  return {ranges: ranges.sort((a, b) => a.start - b.start || b.end - a.end), lines: parsed.getLineStarts()};
}

// Truth is the true names of one program: by place, and by the function that the places lie in.
class Truth {
  constructor(name) {
    this.places = JSON.parse(readFileSync(`truth/${name}.json`, 'utf8'));
    this.names = new Map();
    for (const file in this.places) {
      for (const line in this.places[file]) {
        for (const column in this.places[file][line]) {
          const name = this.places[file][line][column], around = this.around(file, +line, +column);
          if (name && around && !around.given.includes(name)) this.places[file][line][column] = ''; // a guess
          const known = this.names.get(around);
          if (around) this.names.set(around, known === undefined || known === this.places[file][line][column] ? this.places[file][line][column] : null);
        }
      }
    }
  }

  offset(file, line, column) {
    functions[file] ||= ranges(file);
    return functions[file].lines[line - 1] + column - 1;
  }

  around(file, line, column) {
    return within(file, this.offset(file, line, column));
  }

  // at is the name at a place, undefined if the unbundled program had no place in that function. Where a function
  // begins or ends, a map can mean it or the function around it: there the place itself must be known.
  at(file, line, column) {
    const known = this.places[file]?.[line]?.[column];
    if (known !== undefined) return known ?? undefined;
    if (!this.places[file]) return undefined;
    const around = this.around(file, line, column), offset = this.offset(file, line, column);
    if (!around || offset === around.start || offset >= around.end - 1) return undefined;
    return this.names.get(around) ?? undefined;
  }
}

mkdirSync('frames', {recursive: true});
for (const bundle of process.argv.slice(2)) {
  if (existsSync(`frames/${bundle}.json`)) continue;
  const [bundler, name] = bundle.split('-');
  const truth = new Truth(name);
  const map = new TraceMap(readFileSync(`out/${bundle}.js.map`, 'utf8'));
  const own = new RegExp(`(?:[^\\s()@]*/)?${bundle}\\.js:(\\d+):(\\d+)\\)?$`);
  const stacks = [];
  for (const [engine, run] of Object.entries(engines)) {
    let found;
    try {
      found = JSON.parse(run(`out/${bundle}.js`));
    } catch (e) {
      process.stderr.write(`${bundle} on ${engine}: ${String(e.stderr || e).slice(0, 600)}\n`);
      process.exitCode = 1;
      stacks.length = 0;
      break;
    }
    const seen = new Set(), all = [];
    for (const {step, stack} of found) {
      const lines = [], frames = [];
      let fresh = 0;
      for (const line of stack.split('\n')) {
        if (line.includes('hooks.js') || line.includes('engine.js') || line.includes('node:internal')) continue;
        const at = own.exec(line);
        const text = at ? line.slice(0, at.index).replace(/([(@ ])$/, '$1') + `https://example.com/${bundle}.js:${at[1]}:${at[2]}` + (line.endsWith(')') ? ')' : '') : line;
        if (at) {
          const to = originalPositionFor(map, {line: +at[1], column: at[2] - 1});
          const source = to.source ? place(to.source) : '';
          const truly = source ? truth.at(source, to.line, to.column + 1) : undefined;
          if (truly !== undefined && !seen.has(text)) {
            seen.add(text);
            fresh++;
            frames.push({at: lines.length, line: +at[1], column: +at[2], source, to: [to.line, to.column + 1], name: truly});
          }
        }
        lines.push(text);
      }
      if (fresh) all.push({engine, step, lines, frames});
    }
    // Every nth stack: the corpus stays small, and each step has its share.
    const known = all.reduce((n, s) => n + s.frames.filter(f => f.name).length, 0);
    const share = Math.min(1, kept / Math.max(1, known));
    let sum = 0;
    for (const s of all) {
      const before = Math.floor(sum);
      sum += share;
      if (Math.floor(sum) > before || share === 1) stacks.push(s);
    }
  }
  if (stacks.length > 0) writeFileSync(`frames/${bundle}.json`, JSON.stringify({bundler, name, stacks}));
}
