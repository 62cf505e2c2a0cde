// Threads and frames as elements.
import { count, el, notice } from './dom.js';
import { base, origins } from './origin.js';
import { named, todo } from './report.js';
import { Windowed } from './windowed.js';

const formats = {
  'tombstone': 'Android tombstone', 'apple-crash': 'Apple crash report', 'ips': 'Apple crash report (.ips)', 'kscrash': 'KSCrash report', 'metrickit': 'MetricKit report',
  'minidump': 'Minidump', 'stackwalk-text': 'Stackwalk of a minidump', 'stackwalk-json': 'Stackwalk of a minidump', 'java': 'Java or Kotlin trace', 'swift': 'Swift crash report',
  'go': 'Go panic', 'sentry': 'Sentry event', 'bugsnag': 'Bugsnag event', 'datadog': 'Datadog error', 'monitor': 'Stack of a monitor', 'plain': 'List of addresses', 'hotspot': 'HotSpot error file',
};

// formatName names a format for people.
export function formatName(format) {
  return formats[format] ?? (format ? format[0].toUpperCase() + format.slice(1).replace(/-/g, ' ') : 'Stack');
}

// threadElement shows a thread, with its frames if it is open.
export function threadElement(thread) {
  const frames = thread.frames.filter((f) => !thread.only || thread.only.has(f));
  const list = el('div', { class: 'frames', role: 'list', 'aria-label': threadName(thread), onkeydown: move });
  let fill = () => {
    new Windowed(list, (f) => frameElement(f, thread), (f) => (f.before ? 70 : 52)).add(frames);
    fill = () => {};
  };
  if (thread.open) fill();
  const box = el('details', { class: 'thread', open: thread.open, ontoggle: () => {
    thread.open = box.open;
    if (box.open) fill();
  } },
  el('summary', {},
    el('h3', { class: 'name' }, threadName(thread)),
    thread.crashed && el('span', { class: 'badge bad' }, 'Crashed'),
    el('span', { class: 'soft' }, count(frames.filter((f) => !f.class).length, 'frame'))),
  list);
  if (!thread.head) return box;
  const top = thread.frames[0].before;
  return el('div', {},
    thread.several && el('h2', { class: 'report-name' }, formatName(thread.record.format), thread.record.arch ? el('span', { class: 'soft' }, ` ${thread.record.arch}`) : null),
    top && el('details', { class: 'above' }, el('summary', {}, `Above the first frame: ${count(top.split('\n').length, 'line')}`), el('pre', { tabIndex: 0 }, top)),
    box);
}

function threadName(thread) {
  if (thread.name === 'Last Exception Backtrace') return thread.name;
  const id = thread.id ? `Thread ${thread.id}` : 'Thread';
  if (thread.name) return thread.id ? `${thread.name} (${thread.id})` : thread.name;
  return thread.record.threads.length === 1 && !thread.id ? 'Stack' : id;
}

// frameElement shows a frame: its function and place, and inside of it the inlined functions and the facts.
function frameElement(frame, thread) {
  const lines = frame.before && frame !== thread.frames[0] ? el('pre', { class: /^(Caused by|Suppressed): .*$/.test(frame.before) ? 'exception' : 'between' }, frame.before) : null;
  if (frame.class) return el('div', { role: 'listitem', class: 'item' }, lines, el('p', { class: 'exception' }, named(frame)));
  const outer = frame.frames.at(-1);
  const inlined = frame.frames.slice(0, -1);
  const head = outer
    ? [el('span', { class: 'function' }, outer.function || outer.linkage || 'unknown function'), place(outer)]
    : [el('span', { class: 'function raw' }, rawText(frame)), el('span', { class: 'reason' }, frame.origin === 'system' && frame.status === 'no-artifact' ? '' : frame.reason ?? frame.status)];
  const details = el('details', { class: 'frame', open: frame.open === true, ontoggle: () => {
    if (details.isConnected) frame.open = details.open;
  } },
  el('summary', {},
    el('span', { class: 'index' }, String(frame.number)),
    el('span', { class: 'what' }, head),
    el('span', { class: 'side' },
      inlined.length > 0 && el('span', { class: 'badge inlined' }, `${inlined.length} inlined`),
      frame.alternatives?.length > 0 && el('span', { class: 'badge warn' }, `${frame.alternatives.length + 1} candidates`),
      (frame.trust === 'scan' || frame.trust === 'cfi_scan') && el('span', { class: 'badge warn', title: 'A word of the stack that looks like a return address' }, 'scan'),
      !outer && frame.status !== 'found' && !(frame.origin === 'system' && frame.status === 'no-artifact') && el('span', { class: 'badge bad' }, frame.status),
      el('span', { class: 'image' }, base(frame.image ?? '') || origins[frame.origin]))),
  el('div', { class: 'inside' },
    inlined.length > 0 && el('ol', { class: 'inlines', 'aria-label': 'Inlined functions, innermost first' },
      frame.frames.map((f, i) => el('li', {}, el('span', { class: 'function' }, f.function || f.linkage), place(f), i < inlined.length ? el('span', { class: 'badge inlined' }, 'inlined') : null))),
    frame.alternatives?.length > 0 && el('ul', { class: 'others' }, frame.alternatives.slice(0, 8).map((chain) => el('li', {}, 'or ', el('span', { class: 'function' }, chain.at(-1)?.function ?? ''), chain.at(-1) && place(chain.at(-1)))),
      frame.alternatives.length > 8 && el('li', {}, `and ${frame.alternatives.length - 8} more`)),
    facts(frame, outer)));
  return el('div', { role: 'listitem', class: `item ${frame.origin}${outer ? '' : ' lost'}` }, lines, details);
}

function place(f) {
  if (!f.file) return el('span', { class: 'place' }, 'no source file known');
  const at = f.line ? `:${f.line}${f.column ? `:${f.column}` : ''}` : '';
  const cut = Math.max(f.file.lastIndexOf('/'), f.file.lastIndexOf('\\')) + 1;
  return el('span', { class: 'place' }, el('span', { class: 'folder' }, f.file.slice(0, cut)), f.file.slice(cut) + at);
}

function facts(frame, outer) {
  const rows = [
    ['Why', frame.status === 'found' ? '' : frame.reason ?? frame.status],
    ['What to do', frame.status === 'found' ? '' : todo({ ...frame, name: frame.asked?.[0] ?? frame.image ?? '', file: base(frame.image ?? ''), id: frame.asked?.find((n) => /^[0-9a-f-]{8,}$/i.test(n)) ?? '' })],
    ['Name in the binary', outer && outer.linkage !== outer.function ? outer.linkage : ''],
    ['File', frame.image],
    ['Asked for', frame.asked && frame.asked.flatMap((name, i) => [i > 0 && ', ', outer && i === 0 ? el('a', { href: `/artifacts#name=${encodeURIComponent(name)}` }, name) : name])],
    ['As reported', frame.raw],
  ].filter((r) => r[1]);
  return el('dl', {}, rows.map(([name, value]) => [el('dt', {}, name), el('dd', {}, value)]));
}

// rawText is a frame as it was reported, shorter where it is JSON.
function rawText(frame) {
  const raw = (frame.raw ?? '').trim().replace(/^#?\d+:? +/, '');
  if (!raw.startsWith('{')) {
    const named = /^pc .*\((.+)\+(\d+)\) *(?:\(BuildId|$)/.exec(raw) ?? /^.+? 0x[0-9a-f]{6,} (?!0x)(.+) \+ (\d+)$/i.exec(raw);
    return named ? `${named[1]} + ${named[2]}` : raw.replace(/ \(BuildId: [0-9a-f]+\)$/, '').replace(/^pc 0*(?=.)(\w+)\s+.*$/, `${base(frame.image ?? '')} + 0x$1`);
  }
  try {
    const f = JSON.parse(raw);
    const at = f.imageOffset ?? f.instruction_addr ?? f.module_offset ?? f.address ?? f.frameAddress;
    const name = f.symbol ?? f.symbol_name ?? f.function ?? f.method;
    const image = base(frame.image ?? '');
    const place = typeof at === 'number' ? `0x${at.toString(16)}` : at ?? '';
    return name ? `${name}${f.symbolLocation ? ` + ${f.symbolLocation}` : ''}` : [image, place].filter(Boolean).join(' + ');
  } catch {
    return raw;
  }
}

// move takes the focus from frame to frame by the arrow keys.
function move(e) {
  if (e.target.tagName !== 'SUMMARY' || !['ArrowDown', 'ArrowUp', 'Home', 'End'].includes(e.key)) return;
  const all = [...e.currentTarget.querySelectorAll('.frame > summary')];
  const at = all.indexOf(e.target);
  const to = { ArrowDown: all[at + 1], ArrowUp: all[at - 1], Home: all[0], End: all.at(-1) }[e.key];
  if (to) {
    e.preventDefault();
    to.focus();
  }
}

// missingElement lists the files to upload.
export function missingElement(wanted, again) {
  const files = wanted.filter((w) => w.origin !== 'system');
  const frames = wanted.reduce((n, w) => n + w.frames, 0);
  const title = files.length > 0
    ? `${count(frames, 'frame has', 'frames have')} no source yet. ${count(files.length, 'file')} would help.`
    : `${count(frames, 'frame')} of the system ${frames === 1 ? 'has' : 'have'} no source.`;
  return el('details', { class: `missing notice ${files.length > 0 ? 'warn' : ''}`, open: files.length > 0 && files.length <= 3 },
    el('summary', {}, el('strong', {}, title)),
    el('ul', {}, wanted.slice(0, 200).map((w) => el('li', {},
      el('p', { class: 'file' }, el('code', {}, w.file || w.name || 'No file is named'), w.arch && el('span', { class: 'badge' }, w.arch), el('span', { class: 'badge' }, count(w.frames, 'frame')), el('span', { class: 'badge warn' }, w.status)),
      w.id && el('p', { class: 'soft' }, 'id ', el('code', {}, w.id)),
      el('p', {}, todo(w)),
      w.name && el('p', { class: 'soft' }, el('a', { href: `/artifacts#${new URLSearchParams({ find: w.file || w.name })}` }, 'Builds in this store'), ' · ',
        el('a', { href: `/wanted#${new URLSearchParams({ find: w.id || w.name })}` }, 'Asked for before'),
        w.status === 'rejected' && [' · ', el('a', { href: '/objects#state=rejected' }, 'Rejected objects')]),
      w.reason && el('p', { class: 'soft' }, `The server says: ${w.reason}.`)))),
    wanted.length > 200 && el('p', {}, `and ${wanted.length - 200} more`),
    again && el('p', { class: 'actions' }, el('button', { type: 'button', onclick: again }, 'Ask again')));
}

// noFrames says that nothing was recognized, what the text looks like, and what to try.
export function noFrames(size, counts) {
  const unread = (counts.unread ?? []).map((u) => el('p', {}, `${u.frames ?? 'Some'} frames${u.path ? ` at ${u.path}` : ''} were not read: ${u.reason}.`));
  return notice('warn', el('strong', {}, size === 0 ? 'There is nothing to read.' : 'No stack was recognized in this.'),
    counts.looks ? el('p', {}, `It is ${counts.looks}.`) : '', ...unread,
    el('p', {}, 'symlake reads tombstones and logcat, Apple reports (.ips, .crash), minidumps, traces of Java, Kotlin, JavaScript, Dart, Swift and Go, and events of Sentry, Bugsnag and Datadog. Paste the whole report, with its list of images.'));
}
