// The page at /: paste a crash and read it.
import { ask, lines } from './ask.js';
import { busy, bytes, copy, count, el, notice, say } from './dom.js';
import { traceElement } from './jank.js';
import { longLink, mostLink, pack, unpack } from './link.js';
import { Crash } from './report.js';
import { formatName, missingElement, noFrames, threadElement } from './threads.js';
import { Trace, isTrace } from './trace.js';
import { Windowed } from './windowed.js';

export const title = 'Read a crash';

const mostField = 512 << 10; // characters that the field shows: browsers are slow beyond
const mostParsed = 4 << 20; // bytes of an input that is looked at here

let field, intro, input, output, options;
let question = null; // {text | bytes | file, name, app, artifact, frame0}
let reading = null; // AbortController

export async function show(main) {
  field = el('textarea', { id: 'crash', rows: 9, spellcheck: false, autocomplete: 'off', 'aria-describedby': 'crash-help',
    placeholder: 'Paste a tombstone, a log, a crash report, a stack trace …' });
  const files = el('input', { type: 'file', id: 'file', class: 'hidden', onchange: () => {
    if (files.files[0]) take(files.files[0]);
    files.value = '';
  } });
  options = {
    app: el('input', { id: 'app', autocomplete: 'off', spellcheck: false, placeholder: 'shop@1234' }),
    artifact: el('input', { id: 'artifact', autocomplete: 'off', spellcheck: false, placeholder: 'build-id or file name' }),
    frame0: el('select', { id: 'frame0' },
      el('option', { value: '' }, 'As its format means'), el('option', { value: 'exact' }, 'Where the thread stood'),
      el('option', { value: 'return' }, 'A return address'), el('option', { value: 'stepped' }, 'Stepped back already')),
  };
  input = el('section', { class: 'card input', 'aria-labelledby': 'crash-label' },
    el('label', { id: 'crash-label', for: 'crash' }, 'A crash, or anything with a stack in it'), field,
    el('p', { id: 'crash-help', class: 'soft small' }, 'Or drop a file anywhere: .txt, .ips, .crash, .dmp, a method trace. It goes to this server only, and neither the server nor this browser keeps it. Ctrl and Enter read what you typed.'),
    el('div', { class: 'actions' },
      el('button', { type: 'button', class: 'primary', id: 'read', onclick: () => take(field.value) }, 'Read it'),
      el('label', { class: 'button', for: 'file' }, 'Choose a file'), files,
      el('button', { type: 'button', class: 'plain', id: 'example', onclick: example }, 'Load an example')),
    el('details', { class: 'options' }, el('summary', {}, 'Options'),
      el('div', { class: 'row' },
        el('p', {}, el('label', { for: 'app' }, 'App and build'), options.app),
        el('p', {}, el('label', { for: 'artifact' }, 'Artifact of frames that name none'), options.artifact),
        el('p', {}, el('label', { for: 'frame0' }, 'The first address is'), options.frame0))));
  output = el('section', { id: 'read-crash', 'aria-live': 'off' });
  intro = el('div', { class: 'intro' }, el('h1', {}, 'Read a crash'), el('p', { class: 'lead' }, 'Addresses and obfuscated names become functions, files and lines, with the symbols that this server stores.'));
  main.replaceChildren(intro, input, output);

  field.addEventListener('keydown', (e) => {
    if (e.key === 'Enter' && (e.ctrlKey || e.metaKey)) take(field.value);
  });
  document.addEventListener('paste', paste);
  for (const kind of ['dragenter', 'dragover']) {
    document.addEventListener(kind, (e) => {
      e.preventDefault();
      document.body.classList.add('dropping');
    });
  }
  document.addEventListener('dragleave', (e) => {
    if (!e.relatedTarget) document.body.classList.remove('dropping');
  });
  document.addEventListener('drop', (e) => {
    e.preventDefault();
    document.body.classList.remove('dropping');
    const file = e.dataTransfer.files[0];
    if (file) take(file);
    else take(e.dataTransfer.getData('text/plain'));
  });
  window.addEventListener('hashchange', fromLink);
  await fromLink();
}

// fromLink reads the question of the address, if it holds one.
async function fromLink() {
  try {
    const linked = await unpack(location.hash);
    if (!linked) return;
    for (const [name, to] of Object.entries(options)) to.value = typeof linked[name] === 'string' ? linked[name] : '';
    if (linked.bytes) take(new File([linked.bytes], String(linked.name ?? 'file')));
    else take(String(linked.text ?? ''));
  } catch (e) {
    output.replaceChildren(notice('bad', e.message));
  }
}

// paste reads what is pasted, unless it goes into another field.
function paste(e) {
  const to = e.target;
  if (to !== field && to instanceof Element && to.closest('input, select, textarea, dialog')) return;
  const file = e.clipboardData.files[0];
  const text = e.clipboardData.getData('text/plain');
  if (!file && !text.trim()) return;
  e.preventDefault();
  take(text || file);
}

async function example() {
  try {
    const answer = await ask('/page/example.txt');
    await take(await answer.text());
    const note = notice('', el('p', {}, 'This is a tombstone of the game in symlake\'s own test data. Its symbols are here after ', el('code', {}, 'symlake ingest testdata/elf'), '.'));
    if (output.querySelector('.missing.warn')) output.prepend(note);
  } catch (e) {
    failed(e);
  }
}

// take asks about a text or a File.
async function take(what) {
  const set = Object.fromEntries(Object.entries(options).map(([name, from]) => [name, from.value.trim()]));
  const file = what instanceof File ? what : null;
  question = { ...set, name: file?.name ?? '', body: file ?? new Blob([what]) };
  if (!file) question.text = what;
  else if (file.size <= mostParsed) {
    const content = new Uint8Array(await file.arrayBuffer());
    question.bytes = content;
    try {
      if (!content.includes(0)) question.text = new TextDecoder('utf-8', { fatal: true }).decode(content);
    } catch { /* no text */ }
  }
  field.value = question.text !== undefined && question.text.length <= mostField ? question.text : '';
  await read();
}

function path(output) {
  const query = new URLSearchParams({ output });
  if (output === 'records') query.set('details', 'true');
  if (question.app) query.set('app', question.app);
  if (question.artifact) query.append('artifact', question.artifact);
  if (question.frame0) query.set('frame0', question.frame0);
  return `/v1/symbolicate?${query}`;
}

// post sends the question.
function post(output, signal) {
  return ask(path(output), { method: 'POST', body: question.body, headers: { 'Content-Type': 'text/plain' }, signal });
}

// read asks the server and shows the answer as it comes.
async function read() {
  reading?.abort();
  const mine = reading = new AbortController();
  const size = question.body.size;
  output.dataset.state = 'reading';
  if (size === 0) {
    asking(true);
    output.replaceChildren(noFrames(0));
    output.dataset.state = 'done';
    return;
  }
  asking(false);
  const progress = busy(`Reading ${question.name || 'the crash'} (${bytes(size)}) …`);
  const stop = el('button', { type: 'button', onclick: () => mine.abort() }, 'Stop');
  output.replaceChildren(el('div', { class: 'row card' }, progress, stop));
  if (isTrace(new Uint8Array(await question.body.slice(0, 64 << 10).arrayBuffer()))) {
    await readTrace(mine, progress);
    return;
  }
  const crash = new Crash(size <= mostParsed ? question.text ?? '' : '');
  const view = new View(crash);
  let ended = '';
  let counts = {};
  let last = performance.now();
  try {
    const answer = await post('records', mine.signal);
    await lines(answer, async (record) => {
      if (record.error) ended = record.error;
      if (record.recognized !== undefined) counts = record;
      if (!record.threads || record.recognized !== undefined) return;
      view.add(crash.add(record));
      if (performance.now() - last < 40) return;
      progress.textContent = `Reading: ${count(crash.frames, 'frame')} so far …`;
      if (!view.shown) view.show(output);
      await new Promise((resolve) => setTimeout(resolve)); // the reader scrolls and clicks meanwhile
      mine.signal.throwIfAborted();
      last = performance.now();
    });
  } catch (e) {
    if (reading !== mine) return;
    if (e.name !== 'AbortError') {
      failed(e);
      return;
    }
    ended = 'you stopped it';
  }
  if (reading !== mine) return;
  if (crash.records.length === 0) {
    asking(true);
    output.replaceChildren(noFrames(size, counts));
  } else view.done(output, ended);
  output.dataset.state = 'done';
}

// readTrace asks the server about a method trace and shows it.
async function readTrace(mine, progress) {
  const trace = new Trace();
  let ended = '';
  let last = performance.now();
  try {
    const query = new URLSearchParams();
    if (question.app) query.set('app', question.app);
    if (question.artifact) query.append('artifact', question.artifact);
    const answer = await ask(`/v1/trace?${query}`, { method: 'POST', body: question.body, headers: { 'Content-Type': 'application/octet-stream' }, signal: mine.signal });
    await lines(answer, async (line) => {
      if (line.error) ended = line.error;
      trace.add(line);
      if (performance.now() - last < 40) return;
      progress.textContent = `Reading: ${count(trace.calls, 'call')} so far …`;
      await new Promise((resolve) => setTimeout(resolve));
      mine.signal.throwIfAborted();
      last = performance.now();
    });
  } catch (e) {
    if (reading !== mine) return;
    if (e.name !== 'AbortError') {
      failed(e);
      return;
    }
    ended = 'you stopped it';
  }
  if (reading !== mine) return;
  const copyLink = async () => {
    try {
      await copy(await link());
    } catch (e) {
      say(e.message);
    }
  };
  output.replaceChildren(traceElement(trace, { ended, another, change, link: copyLink }));
  output.querySelector('#why')?.focus({ preventScroll: true });
  output.dataset.state = 'done';
}

// change shows the question again, with what was read below it.
function change() {
  asking(true);
  field.focus();
}

// asking shows the field and its options, or hides them behind what was read.
function asking(yes) {
  input.hidden = !yes;
  intro.classList.toggle('hidden', !yes);
}

function failed(e) {
  asking(true);
  output.replaceChildren(notice('bad', el('p', {}, e.message), question && el('button', { type: 'button', onclick: () => read() }, 'Try again')));
  output.dataset.state = 'failed';
}

// View shows a crash as it grows.
class View {
  constructor(crash) {
    this.crash = crash;
    this.threads = [];
    this.summary = el('div', { class: 'summary' });
    this.list = el('div', { class: 'threads' });
    this.fill();
  }

  fill() {
    this.window?.end();
    this.list.replaceChildren();
    this.window = new Windowed(this.list, threadElement, (t) => 64 + (t.open ? 52 * t.frames.length : 0));
  }

  add(threads) {
    if (this.crash.records.length === 2) for (const t of this.threads) t.several = true;
    for (const t of threads) t.several = this.crash.records.length > 1;
    this.threads.push(...threads);
    this.window.add(threads);
  }

  show(into) {
    this.shown = true;
    into.append(this.list);
  }

  // done shows the whole, with what can be done with it.
  done(into, ended) {
    const { crash } = this;
    const why = crash.why();
    const wanted = crash.wanted();
    const threads = this.threads.length;
    const reports = crash.records.length;
    const formats = [...new Set(crash.records.map((r) => formatName(r.format)))];
    const filter = el('input', { type: 'search', id: 'filter', placeholder: 'Function, file or library', autocomplete: 'off', spellcheck: false });
    const hidden = el('input', { type: 'checkbox', id: 'hide-system' });
    let timer;
    filter.addEventListener('input', () => {
      clearTimeout(timer);
      timer = setTimeout(() => this.only(filter.value, hidden.checked), 150);
    });
    hidden.addEventListener('change', () => this.only(filter.value, hidden.checked));
    this.matches = el('span', { class: 'soft', role: 'status' });
    if (reports > 1) this.fill(), this.window.add(this.threads); // the first did not know that there are several
    const title = el('h2', { tabIndex: -1, id: 'why' }, why?.title ?? (reports > 1 ? count(reports, 'stack') : formats[0]));
    into.replaceChildren(
      ended && notice('warn', `This is not all: ${ended}.`),
      el('div', { class: 'card headline' },
        title,
        why && why.more.some(Boolean) ? el('p', { class: 'soft' }, why.more.filter(Boolean).join(' · ')) : null,
        el('p', { class: 'counts' }, el('span', {}, formats.slice(0, 3).join(', ')), crash.records[0].arch && el('span', {}, crash.records[0].arch), reports > 1 && el('span', {}, count(reports, 'stack')),
          el('span', {}, count(threads, 'thread')), el('span', {}, `${count(crash.frames, 'frame')}, ${crash.found === crash.frames ? 'all' : crash.found.toLocaleString('en')} with source`)),
        el('div', { class: 'actions' },
          el('button', { type: 'button', id: 'copy-text', onclick: () => this.copy('text') }, 'Copy as text'),
          el('button', { type: 'button', id: 'copy-json', onclick: () => this.copy('JSON') }, 'Copy as JSON'),
          el('button', { type: 'button', id: 'copy-link', onclick: () => this.copy('link') }, 'Copy link'),
          el('span', { class: 'apart' },
            el('button', { type: 'button', id: 'change', class: 'plain', onclick: change }, 'Change the question'),
            el('button', { type: 'button', id: 'another', onclick: another }, 'Read another')))),
      wanted.length > 0 ? missingElement(wanted, crash.retry ? () => read() : null) : '',
      el('div', { class: 'row tools' },
        el('label', { for: 'filter' }, 'Find'), filter,
        el('span', { class: 'check' }, hidden, el('label', { for: 'hide-system' }, 'Hide system frames')), this.matches,
        el('span', { class: 'legend', 'aria-label': 'Colors of frames' }, el('i', { class: 'app' }, 'App'), el('i', { class: 'library' }, 'Library'), el('i', { class: 'system' }, 'System'), el('i', { class: 'inline' }, 'Inlined'))),
      this.list);
    title.focus({ preventScroll: true });
    title.scrollIntoView({ block: 'nearest' });
  }

  // only shows frames that contain a text.
  only(text, noSystem) {
    const words = text.toLowerCase().split(/\s+/).filter(Boolean);
    let found = 0;
    const shown = [];
    for (const t of this.threads) {
      if (words.length === 0 && !noSystem) {
        t.only = null;
        shown.push(t);
        continue;
      }
      t.only = new Set(t.frames.filter((f) => {
        if (noSystem && f.origin === 'system') return false;
        if (words.length === 0) return true;
        const all = `${f.raw ?? ''} ${f.image ?? ''} ${f.frames.map((x) => `${x.function} ${x.file}:${x.line}`).join(' ')}`.toLowerCase();
        return words.every((w) => all.includes(w));
      }));
      found += t.only.size;
      if (t.only.size === 0) continue;
      if (words.length > 0) t.open = true;
      shown.push(t);
    }
    this.fill();
    this.window.add(shown);
    this.matches.textContent = words.length === 0 ? '' : found === 0 ? 'No frame matches.' : `${count(found, 'frame matches', 'frames match')}.`;
  }

  // copy puts the crash onto the clipboard.
  async copy(as) {
    try {
      if (as === 'text') {
        const answer = await post('text');
        await copy(await answer.text());
      } else if (as === 'JSON') {
        const keep = (key, value) => (this.keeps.has(key) || !Number.isNaN(Number(key)) ? value : undefined);
        await copy(JSON.stringify(this.crash.records, keep, 1));
      } else {
        await copy(await link());
        return;
      }
      say(`Copied as ${as}.`);
    } catch (e) {
      say(e.message);
    }
  }

  // keeps are the members that the server gave; the page notes others beside them.
  keeps = new Set(['', 'format', 'arch', 'threads', 'frames', 'id', 'name', 'crashed', 'raw', 'trust', 'status', 'reason', 'retry', 'before', 'image', 'asked', 'class', 'function', 'linkage', 'file', 'line', 'column', 'ignored', 'alternatives']);
}

// link returns an address that holds the question.
async function link() {
  const { text, bytes: content, name, app, artifact, frame0 } = question;
  if (text === undefined && !content) throw new Error('This is too large for a link. Send the file instead.');
  const parts = Object.fromEntries(Object.entries({ name, app, artifact, frame0 }).filter(([, v]) => v));
  const fragment = await pack(text !== undefined ? { ...parts, text } : { ...parts, bytes: content });
  if (fragment.length > mostLink) throw new Error(`The link would have ${count(fragment.length, 'character')}. Send the file instead.`);
  say(fragment.length > longLink ? `Copied a link of ${count(fragment.length, 'character')}. Some programs cut long links.` : 'Copied a link. It holds the crash itself.');
  return `${location.origin}/${fragment}`;
}

// another makes room for the next crash.
function another() {
  reading?.abort();
  reading = null;
  question = null;
  if (location.hash) history.replaceState(null, '', location.pathname);
  field.value = '';
  output.replaceChildren();
  delete output.dataset.state;
  asking(true);
  field.focus();
}
