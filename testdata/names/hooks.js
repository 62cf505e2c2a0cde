// Called before a bundle or a program of modules: it makes built-in functions record the stack that calls them.
// A stack is kept if it holds a frame that no earlier stack held. The program asks for it in step(name, function).
(function (root) {
  const {apply, ownKeys} = Reflect;
  const race = Promise.race.bind(Promise);
  const Failure = root.Error;
  const seen = new Set(), has = seen.has, add = seen.add;
  const stacks = [], push = stacks.push, split = ''.split, includes = ''.includes;
  let name = '', left = 0, busy = false;
  Failure.stackTraceLimit = 40;

  function record(stack) {
    let fresh = false;
    const lines = typeof stack === 'string' ? apply(split, stack, ['\n']) : stack.lines;
    for (let i = 0; i < lines.length; i++) {
      if (apply(includes, lines[i], ['hooks.js'])) continue;
      if (!apply(has, seen, [lines[i]])) {
        fresh = true;
        apply(add, seen, [lines[i]]);
      }
    }
    if (fresh) apply(push, stacks, [{step: name, stack: typeof stack === 'string' ? stack : stack.frames}]);
  }

  function capture() {
    if (left <= 0 || busy) return;
    busy = true;
    left--;
    try {
      record(new Failure('x').stack);
    } finally {
      busy = false;
    }
  }

  function hook(owner, key) {
    const old = owner && owner[key];
    if (typeof old !== 'function') return;
    const wrapped = {[key](...args) {
      capture();
      return apply(old, this, args);
    }}[key];
    for (const k of ownKeys(old)) {
      if (k !== 'name' && k !== 'length' && k !== 'prototype') wrapped[k] = old[k];
    }
    Object.defineProperty(owner, key, {value: wrapped, writable: true, configurable: true, enumerable: false});
  }

  const list = [
    [Array, 'isArray from of'], [Array.prototype, 'push pop shift unshift slice splice concat join indexOf includes find findIndex forEach map filter some every reduce sort reverse fill flat at entries keys values'],
    [String, 'fromCharCode'], [String.prototype, 'charCodeAt codePointAt charAt slice substring substr replace replaceAll split indexOf lastIndexOf includes startsWith endsWith toLowerCase toUpperCase trim match matchAll repeat padStart localeCompare'],
    [RegExp.prototype, 'exec test'], [Function.prototype, 'call apply bind'],
    [Object, 'keys values entries assign create defineProperty defineProperties freeze getPrototypeOf setPrototypeOf getOwnPropertyDescriptor getOwnPropertyNames getOwnPropertySymbols is isFrozen'],
    [Object.prototype, 'hasOwnProperty toString valueOf'],
    [Map.prototype, 'get set has delete forEach clear keys values entries'], [Set.prototype, 'add has delete forEach clear values'], [WeakMap.prototype, 'get set has'], [WeakSet.prototype, 'has add'],
    [Math, 'floor round min max abs sqrt sin cos acos atan2 trunc pow hypot sign ceil random'], [Number, 'isInteger isNaN isFinite isSafeInteger'], [Number.prototype, 'toString toFixed'],
    [JSON, 'stringify parse'], [Reflect, 'get set has ownKeys apply construct getPrototypeOf defineProperty deleteProperty getOwnPropertyDescriptor'],
    [Date, 'now UTC'], [Date.prototype, 'getTime getFullYear getMonth getDate getDay getHours getMinutes getSeconds getMilliseconds setFullYear setMonth setDate setHours setTime getTimezoneOffset getUTCFullYear getUTCMonth getUTCDate getUTCHours valueOf toISOString'],
    [Promise, 'resolve reject all'], [Promise.prototype, 'then'], [root, 'parseInt parseFloat isNaN isFinite setTimeout clearTimeout queueMicrotask'],
  ];
  for (const [owner, keys] of list) keys.split(' ').forEach(key => hook(owner, key));

  const waiting = [];
  root.skip = () => {};
  root.step = (label, run) => waiting.push({label, run});
  root.results = async () => {
    for (const {label, run} of waiting) {
      name = label;
      left = 4000;
      try {
        await race([run(), new Promise(skip => { root.skip = skip; })]); // skip ends a step that waits for ever
      } catch (e) {
        left = 0;
        busy = true;
        if (e && e.stack) record(e.stack);
        busy = false;
      }
      left = 0;
    }
    return stacks;
  };
})(globalThis);
