// What a crash says, out of the server's records: its threads in reading order, why it happened, which files are missing.
import { base, origin } from './origin.js';

// Crash gathers records as they come.
export class Crash {
  constructor(text) {
    this.text = text; // of the input, "" if it is large or no text
    this.records = [];
    this.frames = 0;
    this.found = 0;
    this.missing = new Map(); // what to upload, by name
    this.retry = false;
  }

  // add takes a record and returns its threads, the one that failed first.
  add(record) {
    this.records.push(record);
    const threads = record.threads.filter((t) => t.frames.length > 0);
    for (const thread of threads) {
      thread.record = record;
      thread.number = 0;
      for (const frame of thread.frames) this.frame(thread, frame);
    }
    const crashed = threads.findIndex((t) => t.crashed);
    const first = crashed < 0 ? 0 : crashed;
    threads.forEach((t, i) => {
      t.open = i === first || t.name === 'Last Exception Backtrace';
      t.lead = i === first;
    });
    if (crashed > 0 && threads[0].name !== 'Last Exception Backtrace') threads.unshift(...threads.splice(crashed, 1));
    if (threads.length > 0) threads[0].head = true;
    const top = threads.find((t) => t.lead)?.frames.find((f) => !f.class);
    if (top && top.frames.length > 1) top.open = true; // the crash happened in its innermost function
    return threads;
  }

  frame(thread, frame) {
    if (frame.class) return;
    this.frames++;
    frame.number = thread.number++;
    frame.origin = origin(frame);
    if (frame.status === 'found') {
      this.found++;
      return;
    }
    this.retry ||= frame.retry === true;
    const name = frame.asked?.[0] ?? (frame.image ? base(frame.image) : '');
    if (!name && frame.origin === 'system') return; // a class of the platform, under its own name
    const key = `${frame.status} ${name}`;
    const one = this.missing.get(key);
    if (one) one.frames++;
    else {
      this.missing.set(key, { name, file: fileOf(frame), id: idOf(frame), status: frame.status, reason: frame.reason ?? '', frames: 1, origin: frame.origin, arch: frame.arch ?? thread.record.arch ?? '' });
    }
  }

  // wanted returns the missing files, those of the app first.
  wanted() {
    const rank = { app: 0, library: 1, system: 2 };
    return [...this.missing.values()].sort((a, b) => rank[a.origin] - rank[b.origin] || b.frames - a.frames);
  }

  // why returns {title, more} about why the program failed, from the lines above the first frame or from the input.
  why() {
    const first = this.records[0];
    if (!first) return null;
    const lead = first.threads.find((t) => t.lead) ?? first.threads[0];
    return fromLines(first.threads[0].frames[0]?.before ?? '') ?? fromClass(lead) ?? fromJSON(this.text) ?? fromTop(lead);
  }
}

const hexID = /^[0-9a-f-]{8,}$/i;

function idOf(frame) {
  return (frame.asked ?? []).find((name) => hexID.test(name)) ?? '';
}

function fileOf(frame) {
  return frame.image ? base(frame.image) : (frame.asked ?? []).find((name) => !hexID.test(name)) ?? '';
}

// todo says what the reader can do about a missing file.
export function todo(one) {
  const file = one.file || 'the file';
  const known = one.id ? ` with the id ${one.id}` : '';
  switch (one.status) {
    case 'no-artifact':
      if (!one.name) return 'The frames name no file. Give the app and build, or an artifact, under Options.';
      if (one.origin === 'system') return `Part of the system. Its symbols come from the system's maker, for this very version: ${file}${known}.`;
      return `Upload ${file}${known}, as it was before stripping, or its debug file. Then run symlake ingest.`;
    case 'hole': return 'The symbols are stored, and say nothing about these positions.';
    case 'outside': return 'The positions lie beyond the stored file. The program ran another version of it.';
    case 'ambiguous': return 'Several stored files have this name. Give the app and build, or an artifact, under Options.';
    case 'pending': return 'symlake has listed the file and loads it in its next run. Try again then.';
    case 'loading': return 'symlake loads the file now. Try again in a moment.';
    case 'rejected': return 'symlake read the file and rejected it. Upload it again, built anew.';
    case 'unavailable': return 'The store is out of reach. Try again in a moment.';
    case 'sealed': return 'The key of these symbols is gone or refused. Ask who keeps the keys.';
    case 'corrupt': return 'The stored rows are damaged. Whoever runs the server should run symlake verify.';
  }
  return '';
}

// fromLines finds the reason in the lines of a tombstone or an Apple report.
function fromLines(lines) {
  const get = (expression) => expression.exec(lines)?.[1]?.trim() ?? '';
  const signal = get(/\bsignal \d+ \((\w+)\)/);
  const cause = get(/\bCause: (.+)$/m) || get(/\bAbort message: '?(.+?)'?$/m);
  if (signal) {
    const process = get(/>>> (.+?) <<</);
    const address = get(/fault addr (0x[0-9a-f]+)/);
    return { title: cause ? `${signal}: ${cause}` : signal, more: [process, address && `at address ${address.replace(/^0x0+(?=.)/, '0x')}`, get(/Build fingerprint: '([^']+)'/)] };
  }
  const type = get(/^Exception Type: +(.+)$/m);
  if (type) return { title: type, more: [get(/^Process: +(.+)$/m), get(/^Hardware Model: +(.+)$/m), get(/^OS Version: +(.+)$/m)] };
  const swift = get(/Program crashed: (.+?)(?: \*\*\*)?$/m) || get(/^panic: (.+)$/m) || get(/^Crash reason: +(.+)$/m) || get(/ERROR: AddressSanitizer: (.+)$/m);
  if (swift) return { title: swift, more: [] };
  const error = get(/^((?:Uncaught )?[A-Z]\w*(?:Error|Exception): .+)$/m) || get(/^(?:.*: )?((?:[\w$]+\.)+[\w$]*(?:Error|Exception)(?:: .*)?)$/m);
  return error ? { title: error, more: [] } : null;
}

// fromTop names the first function of the app.
function fromTop(thread) {
  const top = thread.frames.find((f) => f.origin === 'app' && f.frames.length > 0);
  const line = top?.frames[0];
  return line ? { title: `In ${line.function || line.linkage}`, more: [] } : null;
}

// fromClass takes the line of an exception, with its class as the source names it.
function fromClass(thread) {
  const line = thread?.frames.find((f) => f.class);
  return line ? { title: named(line).replace(/^Exception in thread "[^"]*" /, ''), more: [] } : null;
}

// named writes a line that names a class with that class as the source names it.
export function named(line) {
  const name = line.frames[0]?.function;
  const parts = /^((?:Caused by|Suppressed): |Exception in thread "[^"]*" )?([\w$.]+)((?::.*)?)$/s.exec(line.raw);
  return name && parts ? (parts[1] ?? '') + name + parts[3] : line.raw;
}

// fromJSON finds the reason in reports that are JSON: Apple's, and events of Sentry.
function fromJSON(text) {
  if (!/^\s*[{[]/.test(text)) return null;
  const values = [];
  try {
    values.push(JSON.parse(text));
  } catch {
    const end = text.indexOf('\n');
    try {
      values.push(JSON.parse(text.slice(0, end)), JSON.parse(text.slice(end)));
    } catch { /* a report that was cut */ }
  }
  const all = Object.assign({}, ...values.filter((v) => v && typeof v === 'object' && !Array.isArray(v)));
  const more = [all.app_name ?? all.procName, all.modelCode, all.os_version, all.timestamp].map((v) => (typeof v === 'string' ? v : ''));
  const apple = all.exception;
  if (apple?.type) {
    const why = all.termination?.indicator ?? apple.subtype;
    return { title: apple.type + (apple.signal ? ` (${apple.signal})` : '') + (why ? `: ${why}` : ''), more };
  }
  const thrown = apple?.values?.at?.(-1);
  if (thrown?.type) return { title: thrown.type + (thrown.value ? `: ${thrown.value}` : ''), more: [all.release ?? '', all.platform ?? ''] };
  return more.some(Boolean) ? { title: 'Crash', more } : null;
}
