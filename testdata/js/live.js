// Run the bundles of live.sh and ask the oracles for every frame.
const {execFileSync} = require('child_process');
const fs = require('fs');
const path = require('path');
const here = name => path.join(process.cwd(), '..', 'node_modules', name);
const {TraceMap, originalPositionFor} = require(here('@jridgewell/trace-mapping'));
const Symbolication = require(here('metro-symbolicate/src/Symbolication.js'));
const {SourceMapConsumer} = require(here('source-map'));
const {composeSourceMaps} = require(here('metro-source-map'));

const read = file => JSON.parse(fs.readFileSync(file, 'utf8'));
fs.writeFileSync('rn.composed.map', JSON.stringify(composeSourceMaps([read('rn.map'), read('rn.hbc.map')])));

const stacks = (program, ...args) => execFileSync(program, args, {encoding: 'utf8'}).split(/^== .*\n/m).slice(1);
const place = /(?:address at )?([^\s()@]+):(\d+):(\d+)\)?$/;

function cases(engine, map, script, own, all, plain) {
  const trace = new TraceMap(fs.readFileSync(map, 'utf8'));
  const metro = read(map).x_facebook_sources && Symbolication.createContext(SourceMapConsumer, fs.readFileSync(map, 'utf8'), {nameSource: 'function_names'});
  return all.map((stack, n) => {
    const frames = [];
    const names = plain && plain[n].split('\n').filter(line => place.test(line) && line.includes('plain.js')).map(line => (/at (?:new )?(\S+) \(/.exec(line) || [])[1]);
    for (const line of stack.split('\n')) {
      const p = place.exec(line);
      if (!p || path.basename(p[1]) !== script) continue;
      const at = originalPositionFor(trace, {line: +p[2], column: p[3] - own});
      const frame = {line: line.trim(), expected: at.line === null ? null : {source: at.source, line: at.line, column: at.column, name: at.name}};
      if (metro) {
        frame.function = at.line === null ? null : metro.getOriginalPositionFor(+p[2], p[3] - own).name;
      } else if (names) {
        frame.plain = names[frames.length] || null;
      }
      frames.push(frame);
    }
    return {engine, map, stack, frames};
  });
}

const v8 = file => stacks(process.execPath, path.resolve(file));
const hermes = path.join('..', 'node_modules', 'hermes-engine-cli', 'linux64-bin', 'hermes');
fs.writeFileSync('cases.json', JSON.stringify({cases: [
  ...cases('V8, esbuild', 'web.js.map', 'web.js', 1, v8('web.js'), v8('plain.js')),
  ...cases('V8, Metro', 'rn.map', 'rn.js', 1, v8('rn.js')),
  ...cases('Hermes, Metro', 'rn.composed.map', 'rn.hbc', 0, stacks(hermes, 'rn.hbc')),
]}, null, 1));
