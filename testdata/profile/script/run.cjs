// run.cjs FILE MS: loads a bundle, and runs its steps again and again for MS milliseconds.
const {readFileSync} = require('fs'), vm = require('vm');
for (const level of ['log', 'warn', 'error', 'info', 'debug']) console[level] = () => {};
globalThis.self = globalThis.window = globalThis;
globalThis.document = {createElement: () => ({textContent: '&'})};
const steps = [];
globalThis.step = (label, run) => steps.push(run);
globalThis.skip = () => {};
const [file, ms] = process.argv.slice(2);
vm.runInThisContext(readFileSync(file, 'utf8'), {filename: file});
(async () => {
  const end = Date.now() + +ms;
  while (Date.now() < end) for (const run of steps) {
    try { await Promise.race([run(), new Promise(r => setTimeout(r, 20))]); } catch {}
  }
  process.exit(0);
})();
