// engine.js BUNDLE: runs a bundle in Node or in JavaScriptCore's shell and prints its stacks as JSON.
(function (root) {
  const node = typeof process === 'object';
  if (!node) {
    const timers = [];
    let ids = 0;
    let now = 0;
    const later = (every, run, wait, args) => (timers.push({id: ++ids, at: now + Math.max(1, wait || 0), every, run, args}), ids);
    root.setTimeout = (run, wait, ...args) => later(0, run, wait, args);
    root.setInterval = (run, wait, ...args) => later(Math.max(1, wait || 0), run, wait, args);
    root.clearTimeout = root.clearInterval = id => { const i = timers.findIndex(t => t.id === id); if (i >= 0) timers.splice(i, 1); };
    Date.now = () => Math.floor(now) + 1.7e12; // the shell has no timers: these jump to the next one
    root.console = {log() {}, warn() {}, error() {}, info() {}, debug() {}};
    root.performance = root.performance || {now: () => Date.now()};
    root.TextEncoder = class { encode(s) { return Uint8Array.from(unescape(encodeURIComponent(s)), c => c.charCodeAt(0)); } };
    root.TextDecoder = class { decode(b) { return decodeURIComponent(escape(String.fromCharCode(...b))); } };
    root.structuredClone = v => JSON.parse(JSON.stringify(v));
    root.runTimers = () => {
      for (let turns = 0; !root.done && turns < 20000; turns++) {
        drainMicrotasks();
        timers.sort((a, b) => a.at - b.at);
        const t = timers.shift();
        if (!t) {
          root.skip();
          continue;
        }
        now = t.at;
        if (t.every) timers.push({...t, at: now + t.every});
        t.run(...t.args);
      }
    };
  } else {
    process.on('beforeExit', () => root.skip());
    for (const level of ['log', 'warn', 'error', 'info', 'debug']) console[level] = () => {};
  }
  root.self = root.window = root;
  root.document = {createElement: () => ({textContent: '&'})}; // enough for a decoder of entities
  const [file, here] = node ? [process.argv[2], __dirname] : [root.arguments[0], root.arguments[1]];
  const read = node ? name => require('vm').runInThisContext(require('fs').readFileSync(name, 'utf8'), {filename: name}) : root.load;
  const write = node ? text => require('fs').writeSync(1, text) : root.print;
  read(here + '/hooks.js');
  read(file);
  root.results().then(stacks => {
    const text = JSON.stringify(stacks);
    root.done = true;
    if (!node) return write(text);
    for (let at = 0; at < text.length; at += 1 << 15) write(text.slice(at, at + (1 << 15)));
    process.exit(0);
  });
  if (!node) root.runTimers();
})(globalThis);
