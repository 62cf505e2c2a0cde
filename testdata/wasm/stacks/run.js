// Prints the stacks of app-dw5.wasm and cart.wasm: node run.js, jsc run.js. In a page, a server gets them by POST.
const out = [];
function traps(name, exports, calls) {
  for (const call of calls) {
    try { exports.run(...call); } catch (e) { out.push('== ' + name + ' ' + call + ': ' + e + '\n' + e.stack); }
  }
}
const imports = {
  env: {
    note(v) { throw new Error('note ' + v); },
    abort(message, file, line, column) { throw new Error('abort ' + line + ':' + column); },
  },
};
const calls = { 'app-dw5.wasm': [[0, 0], [1, 2], [2, 1e8], [3, 0]], 'cart.wasm': [[0, 7], [1, 2]] };
async function page() {
  for (const name in calls) {
    traps('stream ' + name, (await WebAssembly.instantiateStreaming(fetch(name), imports)).instance.exports, calls[name]);
    traps('buffer ' + name, (await WebAssembly.instantiate(await (await fetch(name)).arrayBuffer(), imports)).instance.exports, calls[name]);
  }
  await fetch('/done', { method: 'POST', body: out.join('\n') });
}
function shell(read, print) {
  for (const name in calls)
    traps(name, new WebAssembly.Instance(new WebAssembly.Module(read(name)), imports).exports, calls[name]);
  print(out.join('\n'));
}
if (typeof fetch == 'function' && typeof document == 'object') page();
else if (typeof readFile == 'function') shell(name => readFile(name, 'binary'), print);
else shell(name => require('fs').readFileSync(name), console.log);
