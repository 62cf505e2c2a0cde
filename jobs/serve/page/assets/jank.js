// The view of a method trace: the jank as a flame chart, and as tables.
import { copy, count, el, notice, say, table } from './dom.js';
import { Flame } from './flame.js';
import { time } from './trace.js';

const formats = { art: 'Method trace of Android', chrome: 'Chrome trace', nanoscope: 'Nanoscope trace', ring: 'Ring of calls' };
const most = 50; // rows of a table

// traceElement shows a trace. link and another are the actions of the page.
export function traceElement(trace, { link, another, change, ended }) {
  const threads = trace.shown();
  if (threads.length === 0) return notice('warn', 'This trace has no calls.');
  const said = el('p', { class: 'call', role: 'status', id: 'call' });
  const longest = el('div', {});
  const names = el('div', {});
  const title = el('h2', { tabIndex: -1, id: 'why' });
  const flame = new Flame(trace.names, (at) => {
    const call = trace.names[thread.call[at]];
    said.replaceChildren(el('strong', {}, call.text), ` ${time(thread.took(at))}, from ${time(thread.start[at] - flame.begin)}`,
      call.file ? el('span', { class: 'soft' }, ` ${call.file}${call.line ? `:${call.line}` : ''}`) : '', call.raw ? el('span', { class: 'soft' }, ` (in the trace: ${call.raw})`) : '');
  });
  let thread = threads[0];
  let path = [];

  const choose = el('select', { id: 'thread', onchange: () => show(threads[choose.selectedIndex]) }, threads.map((t) => el('option', {}, `${t.title()}: ${time(t.busy())}`)));
  const least = el('select', { id: 'least', onchange: () => find() }, [1, 8, 16, 50, 100, 500].map((ms) => el('option', { value: ms * 1e6, selected: ms === 16 }, `${ms} ms`)));
  const search = el('input', { type: 'search', id: 'find-call', placeholder: 'Method or file', autocomplete: 'off', spellcheck: false });
  const matches = el('span', { class: 'soft', role: 'status' });
  search.addEventListener('input', () => match());
  search.addEventListener('keydown', (e) => {
    if (e.key === 'Enter') next(e.shiftKey ? -1 : 1);
  });

  // match dims calls whose names lack the text.
  function match() {
    const words = search.value.toLowerCase().split(/\s+/).filter(Boolean);
    flame.match = null;
    if (words.length > 0) {
      flame.match = new Set(trace.names.filter((n) => words.every((w) => `${n.text} ${n.raw ?? ''} ${n.file ?? ''}`.toLowerCase().includes(w))).map((n) => n.index));
      const n = thread.call.reduce((sum, c) => sum + flame.match.has(c), 0);
      matches.textContent = n === 0 ? 'No call matches.' : `${count(n, 'call matches', 'calls match')}. Enter goes to the next.`;
    } else matches.textContent = '';
    flame.draw();
  }

  function next(step) {
    if (!flame.match) return;
    const n = thread.call.length;
    for (let i = 1; i <= n; i++) {
      const at = (flame.at + step * i + n * i) % n;
      if (flame.match.has(thread.call[at])) {
        flame.choose(at);
        return;
      }
    }
  }

  // find shows the jank of the thread.
  function find() {
    path = thread.jank(Number(least.value));
    flame.path = new Set(path);
    flame.draw();
    const named = (at) => `${time(thread.took(at))} in ${short(trace.names[thread.call[at]].text)}`;
    title.textContent = path.length === 0 ? `No call of ${Number(least.value) / 1e6} ms or more` : named(path[0]) + (path.length > 1 ? `, of these ${named(path.at(-1))}` : '');
    longest.replaceChildren(el('h3', {}, 'The jank: on each level the longest call'), path.length === 0 ? el('p', { class: 'soft' }, 'Choose a shorter time, or another thread.')
      : table('The jank', [{ name: 'Call' }, { name: 'Took', number: true }, { name: 'From', number: true }, { name: 'Source' }], path.map((at) => {
        const call = trace.names[thread.call[at]];
        return [el('button', { type: 'button', class: 'plain call-name', onclick: () => {
          flame.choose(at);
          flame.fit();
        } }, call.text), time(thread.took(at)), time(thread.start[at] - flame.begin), call.file ? `${call.file}${call.line ? `:${call.line}` : ''}` : ''];
      })));
  }

  function show(which) {
    thread = which;
    flame.show(thread);
    find();
    const all = thread.totals();
    names.replaceChildren(el('h3', {}, 'Methods by their own time'), table('Methods by their own time', [{ name: 'Method' }, { name: 'Own', number: true }, { name: 'With calls in it', number: true }, { name: 'Calls', number: true }],
      all.slice(0, most).map((m) => [el('code', {}, trace.names[m.name].text), time(m.own), time(m.all), m.calls.toLocaleString('en')])),
    all.length > most ? el('p', { class: 'soft' }, `and ${count(all.length - most, 'more method')}`) : '');
    match();
    flame.choose(path.at(-1) ?? 0);
    flame.all();
  }

  const text = () => [`"${thread.name}" tid=${thread.tid}`, ...path.toReversed().map((at) => `    at ${trace.names[thread.call[at]].text}  ${time(thread.took(at))} from ${time(thread.start[at] - flame.begin)}`)].join('\n') + '\n';
  const zoom = (name, label, act) => el('button', { type: 'button', id: name, onclick: act }, label);
  const element = el('div', {},
    ended && notice('warn', `This is not all: ${ended}.`),
    el('div', { class: 'card headline' }, title,
      el('p', { class: 'counts' }, el('span', {}, formats[trace.end?.format] ?? 'Method trace'), el('span', {}, count(threads.length, 'thread')), el('span', {}, count(trace.calls, 'call'))),
      el('div', { class: 'actions' },
        el('button', { type: 'button', id: 'copy-text', onclick: () => copy(text()).then(() => say('Copied as text.'), (e) => say(e.message)) }, 'Copy the jank as text'),
        el('button', { type: 'button', id: 'copy-link', onclick: link }, 'Copy link'),
        el('span', { class: 'apart' }, el('button', { type: 'button', class: 'plain', id: 'change', onclick: change }, 'Change the question'), el('button', { type: 'button', id: 'another', onclick: another }, 'Read another')))),
    trace.end?.notes.length > 0 && notice('warn', el('p', {}, trace.end.notes.join('. ') + '.')),
    el('div', { class: 'row tools' },
      el('label', { for: 'thread' }, 'Thread'), choose, el('label', { for: 'least' }, 'Jank from'), least, el('label', { for: 'find-call' }, 'Find'), search, matches),
    el('div', { class: 'card chart' },
      el('div', { class: 'row chart-tools' }, said, el('span', { class: 'apart' }, zoom('zoom-in', 'Zoom in', () => flame.zoom(0.5)), zoom('zoom-out', 'Zoom out', () => flame.zoom(2)), zoom('zoom-all', 'Show all', () => flame.all()))),
      el('div', { class: 'flame-box' }, flame.canvas),
      el('p', { class: 'soft small' }, 'Drag to move, double-click a call to fill the width with it, hold Ctrl and turn the wheel to zoom. By keys: arrows, plus, minus, Enter, Escape.')),
    el('div', { class: 'card' }, longest), el('div', { class: 'card' }, names));
  show(thread);
  return element;
}

function short(text) {
  return text.replace(/\(.*$/, '').replace(/^.* /, '').split('.').slice(-2).join('.');
}
