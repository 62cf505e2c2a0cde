// A method trace: its calls by thread, out of the server's lines, and the longest of them.
import { origin } from './origin.js';

// isTrace reports whether an input is a method trace, by its first bytes.
export function isTrace(head) {
  const text = new TextDecoder('latin1').decode(head);
  if (/^(\*version\r?\n|SLOW)/.test(text) || /^\s*(\[\s*\{|\{)/.test(text) && (text.includes('"traceEvents"') || /^\s*\[/.test(text) && text.includes('"ph"'))) return true;
  const lines = text.split('\n', 32).filter(Boolean);
  return lines.length > 1 && lines.filter((l) => /^\d+:(POP|[\w$<>.[\], ]+\()/.test(l)).length > lines.length / 2;
}

// Trace gathers lines as they come.
export class Trace {
  constructor() {
    this.names = [];
    this.threads = new Map(); // by index
    this.calls = 0;
    this.end = null; // {format, calls, notes}
  }

  add(line) {
    if (line.thread) this.threads.set(line.thread.index, new Thread(line.thread));
    else if (line.name) {
      line.name.origin = origin({ frames: [{ function: line.name.text.replace(/^\S+ (?=\S+\()/, ''), file: line.name.file ?? '' }] });
      this.names[line.name.index] = line.name;
    } else if (line.steps) this.calls += this.threads.get(line.on).steps(line.steps);
    else if (line.trace) this.end = line.trace;
  }

  // shown are the threads with calls, the busiest first.
  shown() {
    const all = [...this.threads.values()].filter((t) => t.start.length > 0);
    for (const t of all) t.close();
    return all.sort((a, b) => b.busy() - a.busy());
  }
}

// Thread is the calls of a thread, in order of their start. Times are nanoseconds from the trace's beginning.
class Thread {
  constructor(of) {
    Object.assign(this, of);
    this.start = [];
    this.stop = [];
    this.call = []; // index of the name
    this.depth = [];
    this.parent = []; // index of the call around it, -1
    this.open = [];
    this.last = 0;
    this.levels = []; // calls by depth: they never overlap
  }

  steps(all) {
    let begun = 0;
    for (let i = 0; i + 1 < all.length; i += 2) {
      this.last += all[i];
      if (all[i + 1] < 0) {
        const at = this.open.pop();
        if (at !== undefined) this.stop[at] = this.last;
        continue;
      }
      const at = this.start.length;
      const depth = this.open.length;
      this.start.push(this.last);
      this.stop.push(this.last);
      this.call.push(all[i + 1]);
      this.depth.push(depth);
      this.parent.push(depth > 0 ? this.open[depth - 1] : -1);
      (this.levels[depth] ??= []).push(at);
      this.open.push(at);
      begun++;
    }
    return begun;
  }

  close() {
    for (const at of this.open.splice(0)) this.stop[at] = this.last;
  }

  busy() {
    return (this.levels[0] ?? []).reduce((sum, at) => sum + this.stop[at] - this.start[at], 0);
  }

  title() {
    return `${this.process ? `${this.process} ` : ''}${this.name || 'Thread'} (${this.tid})`;
  }

  took(at) {
    return this.stop[at] - this.start[at];
  }

  // children are the calls right in a call, in order.
  children(at) {
    const level = this.levels[this.depth[at] + 1] ?? [];
    const out = [];
    for (let i = first(level, (c) => c > at); i < level.length && this.start[level[i]] < this.stop[at] + (this.took(at) === 0); i++) {
      if (this.parent[level[i]] === at) out.push(level[i]);
      else if (this.start[level[i]] >= this.stop[at]) break;
    }
    return out;
  }

  // jank is the longest call, the longest in it, and so on, as long as they take that many nanoseconds.
  jank(least) {
    const out = [];
    for (let level = this.levels[0] ?? []; ;) {
      let best = -1;
      for (const at of level) if (this.took(at) >= least && (best < 0 || this.took(at) > this.took(best))) best = at;
      if (best < 0) return out;
      out.push(best);
      level = this.children(best);
    }
  }

  // totals returns for each name how often it was called, its own time, and its time with calls in it, counted once.
  totals() {
    const own = new Float64Array(this.start.length);
    for (let at = 0; at < own.length; at++) {
      own[at] += this.took(at);
      if (this.parent[at] >= 0) own[this.parent[at]] -= this.took(at);
    }
    const names = new Map();
    const open = [];
    for (let at = 0; at < own.length; at++) {
      open.length = this.depth[at];
      const name = this.call[at];
      let one = names.get(name);
      if (!one) names.set(name, one = { name, calls: 0, own: 0, all: 0 });
      one.calls++;
      one.own += own[at];
      if (!open.includes(name)) one.all += this.took(at);
      open.push(name);
    }
    return [...names.values()].sort((a, b) => b.own - a.own);
  }
}

// first returns the index of the first element that a test holds for, once it holds for all behind.
export function first(list, test) {
  let from = 0;
  let to = list.length;
  while (from < to) {
    const middle = (from + to) >> 1;
    if (test(list[middle])) to = middle;
    else from = middle + 1;
  }
  return from;
}

// time writes nanoseconds for people.
export function time(ns) {
  if (ns === 0) return '0';
  if (Math.abs(ns) < 1e3) return `${Math.round(ns)} ns`;
  const [n, unit] = Math.abs(ns) < 1e6 ? [ns / 1e3, 'µs'] : Math.abs(ns) < 1e9 ? [ns / 1e6, 'ms'] : [ns / 1e9, 's'];
  return `${n >= 100 ? Math.round(n) : n.toFixed(n >= 10 ? 1 : 2)} ${unit}`;
}
