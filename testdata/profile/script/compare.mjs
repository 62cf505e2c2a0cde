// compare.mjs TRUTH BEFORE AFTER SCRIPT: counts the nodes and hits of SCRIPT that symlake answered with a function, a file and
// a line of the unbundled run, and prints them as JSON. Functions without a name in the map's reach count as wrong.
import {readFileSync} from 'node:fs';

const [truth, before, after] = process.argv.slice(2, 5).map(file => JSON.parse(readFileSync(file, 'utf8')));
const script = process.argv[5];
const place = path => /node_modules\/(?!.*node_modules\/).*$/.exec(path)?.[0] || /(?:^|\/)(src\/[^/]+\.(?:js|tsx?)|src\/vendor\/.*)$/.exec(path)?.[1] || path;
// bare is a name without what it belongs to: an answer may say the class, V8's own name does not.
const bare = name => {
  name = name.replace(/^(get|set|static|async|new) /, '');
  const last = /\.(\[[^\]]*\])$/.exec(name)?.[1] || name.slice(name.lastIndexOf('.') + 1);
  return last.startsWith('<') ? '' : last;
};
const known = {};
for (const [name, file, line] of truth) (known[`${file}:${line}`] ||= []).push(name);
const old = new Map(before.nodes.map(n => [n.id, n.callFrame]));
const sum = {nodes: 0, hits: 0, right: 0, rightHits: 0, exact: 0, merged: before.nodes.length - after.nodes.length};
const misses = [];
for (const n of after.nodes) {
  const was = old.get(n.id), is = n.callFrame, hits = n.hitCount || 0;
  if (!was.url.endsWith(script)) continue;
  sum.nodes++;
  sum.hits += hits;
  const names = known[`${place(is.url)}:${is.lineNumber + 1}`] || [];
  if (names.includes(is.functionName)) sum.exact++;
  if (names.some(name => bare(name) === bare(is.functionName))) {
    sum.right++;
    sum.rightHits += hits;
  } else {
    misses.push(`${was.functionName}:${was.lineNumber}:${was.columnNumber} -> ${is.functionName} ${is.url}:${is.lineNumber + 1}, not ${names.join('|')}`);
  }
}
console.log(JSON.stringify({...sum, misses: misses.slice(0, 20)}));
