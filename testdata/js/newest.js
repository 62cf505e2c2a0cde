// newest.js LIST: takes maps out of the packed packages beside it, and writes trace-mapping's answers for places of each.
const {execFileSync} = require('child_process');
const {createHash} = require('crypto');
const fs = require('fs');
const {AnyMap, originalPositionFor, decodedMappings} = require('@jridgewell/trace-mapping');

const maps = 12; // of a package, evenly drawn
const places = 420; // of a package, evenly over its maps

// random is a small generator with a fixed seed.
let state = 20261122;
function random(n) {
  state = Math.imul(state ^ state >>> 15, state | 1);
  state ^= state + Math.imul(state ^ state >>> 7, state | 61);
  return ((state ^ state >>> 14) >>> 0) % n;
}

let total = 0;
for (const line of fs.readFileSync(process.argv[2], 'utf8').split('\n')) {
  if (!line || line.startsWith('#')) continue;
  const [id, integrity] = line.split(' ');
  const file = 'packed/' + id.replace(/^@/, '').replace(/[/@]/g, '-') + '.tgz';
  const sum = 'sha512-' + createHash('sha512').update(fs.readFileSync(file)).digest('base64');
  if (sum !== integrity) throw new Error(`${id} is ${sum}, not ${integrity}`);
  const tar = (...args) => execFileSync('tar', [...args, file], {maxBuffer: 1 << 28});
  const all = tar('-tzf').toString().split('\n').filter(name => /\.[cm]?js\.map$/.test(name)).sort();
  const chosen = all.filter((_, i) => Math.floor(i * maps / all.length) !== Math.floor((i - 1) * maps / all.length));
  for (const name of chosen) {
    const text = execFileSync('tar', ['-xzOf', file, name], {maxBuffer: 1 << 28}).toString();
    const trace = new AnyMap(text);
    const rows = decodedMappings(trace).map((row, i) => [row, i]).filter(([row]) => row.length > 0);
    if (rows.length === 0) continue;
    const cases = [];
    for (let n = Math.ceil(places / chosen.length); n > 0; n--) {
      const [row, i] = rows[random(rows.length)];
      // The begin of a segment, a place near one, or any of the line; now and then a line that the map does not know.
      const at = row[random(row.length)][0];
      const column = [at, at, at + random(4), Math.max(0, at - 1), random(row[row.length - 1][0] + 40)][random(5)];
      const line = random(40) === 0 ? i + 2 : i + 1;
      cases.push({line, column, expected: originalPositionFor(trace, {line, column})});
    }
    total += cases.length;
    const to = 'maps/' + `${id}/${name.replace(/^package\//, '')}`.replaceAll('/', '__');
    fs.writeFileSync(to, text);
    fs.writeFileSync(to + '.golden.json', JSON.stringify({cases}));
  }
}
console.log(total + ' places');
