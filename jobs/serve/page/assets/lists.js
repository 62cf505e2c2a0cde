// What the pages of lists share: the state in the address, lists that grow by pages, and small parts.
import { el, svg, notice, busy, number, percent } from './dom.js';
import { askJSON } from './ask.js';

// The style of these pages. A page is shown once it has come.
await new Promise((done) => {
  document.head.append(el('link', { rel: 'stylesheet', href: '/page/lists.css', onload: done, onerror: done }));
});

// state returns the values in the fragment of the address.
export function state() {
  return Object.fromEntries(new URLSearchParams(location.hash.slice(1)));
}

// link returns the address of a page with values in its fragment. Empty values are left out.
export function link(path, values = {}) {
  const hash = new URLSearchParams(Object.entries(values).filter(([, v]) => v)).toString();
  return hash ? `${path}#${hash}` : path;
}

// go changes the fragment of this page.
export function go(values) {
  const to = link(location.pathname, values);
  if (to === location.pathname + location.hash) window.dispatchEvent(new HashChangeEvent('hashchange'));
  else if (to.includes('#')) location.hash = to.slice(to.indexOf('#'));
  else {
    history.pushState(null, '', to);
    window.dispatchEvent(new HashChangeEvent('hashchange'));
  }
}

// follow shows the page for the state in its address, now and whenever that changes. show gets the state and a
// signal that ends when the reader goes on. Where the reader went on, the focus moves to the heading.
export async function follow(main, show) {
  let ending = new AbortController();
  const draw = async (moved) => {
    ending.abort();
    ending = new AbortController();
    const { signal } = ending;
    try {
      await show(state(), signal);
    } catch (e) {
      if (signal.aborted) return;
      main.append(notice('bad', e.message));
    }
    if (moved && !signal.aborted && !main.contains(document.activeElement)) {
      const h1 = main.querySelector('h1');
      if (h1) {
        h1.tabIndex = -1;
        h1.focus({ preventScroll: true });
      }
    }
  };
  window.addEventListener('hashchange', () => draw(true));
  await draw(false);
}

const two = (n) => String(n).padStart(2, '0');

// stamp writes a time of the reader's clock: 2026-11-22 23:37.
export function stamp(t) {
  return `${t.getFullYear()}-${two(t.getMonth() + 1)}-${two(t.getDate())} ${two(t.getHours())}:${two(t.getMinutes())}`;
}

// when writes a time of the server; nothing for a time that never was.
export function when(text) {
  const t = new Date(text);
  if (!text || t.getUTCFullYear() < 1971) return el('span', { class: 'soft' }, '—');
  return el('time', { dateTime: text, title: t.toISOString() }, stamp(t));
}

// duration writes seconds for people: 1.5 s, 3 min, 2 h, 4 days.
export function duration(s) {
  if (s < 0.0995) return `${Math.round(s * 1000)} ms`;
  if (s < 90) return `${s < 10 ? s.toFixed(1) : Math.round(s)} s`;
  if (s < 5400) return `${Math.round(s / 60)} min`;
  if (s < 48 * 3600) return `${Math.round(s / 3600)} h`;
  return `${number(Math.round(s / 86400))} days`;
}

// facts returns boxes of one number each: [name, value, remark].
export function facts(list) {
  return el('dl', { class: 'facts' }, list.filter(Boolean).map(([name, value, remark]) =>
    el('div', {}, el('dt', {}, name), el('dd', {}, value, remark && el('small', {}, remark)))));
}

// pairs returns a list of names with what they are. Pairs without a value are left out.
export function pairs(list) {
  return el('dl', { class: 'pairs' }, list.filter(([, v]) => v !== null && v !== undefined && v !== '' && v !== false)
    .flatMap(([k, v]) => [el('dt', {}, k), el('dd', {}, v)]));
}

// empty returns a box that says that nothing is here, and what to do.
export function empty(title, ...children) {
  return el('div', { class: 'card empty' }, el('h2', {}, title), ...children.map((c) => el('p', {}, c)));
}

// badge returns a state in its color.
export function badge(state) {
  const kind = { loaded: 'good', live: 'good', rejected: 'bad', failed: 'bad', shredded: 'bad', forgotten: 'bad',
    pending: 'warn', loading: 'warn', published: 'warn', conflict: 'warn', held: 'warn', pinned: 'warn', working: 'warn' }[state] ?? '';
  return el('span', { class: `badge ${kind}` }, state);
}

// bar returns a bar of parts, [class, share] each, and says them to people who do not see it.
export function bar(text, parts) {
  let at = 0;
  const rects = parts.map(([kind, share]) => {
    const r = svg('rect', { class: kind, x: at, y: 0, width: Math.max(0, share * 100), height: 10 });
    at += share * 100;
    return r;
  });
  return svg('svg', { class: 'bar', viewBox: '0 0 100 10', preserveAspectRatio: 'none', role: 'img', 'aria-label': text },
    svg('rect', { class: 'none', x: 0, y: 0, width: 100, height: 10 }), ...rects);
}

// coverage returns the bar of a quality: code with inlined calls, with a line, with a name alone, without an answer.
export function coverage(text, line, inline) {
  const words = `${percent(text)} of the code has an answer; of that, ${percent(line)} has a line and ${percent(inline)} inlined calls`;
  const lined = text * line;
  const inlined = Math.min(lined, text * inline);
  return bar(words, [['inline', inlined], ['line', lined - inlined], ['code', text - lined]]);
}

// surveyed returns what a path answers with that the server must read its whole store for. The first time, that may take
// longer than the server lets a request wait: then it asks again, and says in place how far the server is.
export async function surveyed(path, place, signal) {
  for (;;) {
    try {
      return await askJSON(path, { signal });
    } catch (e) {
      const read = /\((\d+) records so far\)/.exec(e.message);
      if (e.code !== 503 || !read || signal.aborted) throw e;
      place.textContent = `The server reads its store for the first time: ${number(Number(read[1]))} records so far`;
    }
  }
}

// field returns a field of a form with its label.
export function field(label, input, kind = '') {
  return el('div', { class: kind }, el('label', { for: input.id }, label), input);
}

// choice returns a field to choose from: [value, text] each.
export function choice(id, values, chosen = '') {
  return el('select', { id, name: id }, values.map(([value, text]) => el('option', { value, selected: value === chosen }, text)));
}

// row appends a row to the table in a box of dom.js.
export function row(box, columns, cells) {
  box.querySelector('tbody').append(el('tr', {}, cells.map((c, i) => el('td', { class: columns[i].kind ?? (columns[i].number ? 'number' : '') }, c))));
}

// grow fills a list by pages of the server. It asks on where pages are empty, until something is found or the reader
// stops it, and returns when the first elements are shown. o has:
//   path: from => address of a page         key: member of the answer that holds the elements
//   add: element => shows one               none: () => shows that there are no elements
//   noun: [one, many]                       far: next => how far the search is, from 0 to 1 (it may be absent)
//   first: the first page, where the caller has it already
export async function grow(place, signal, o) {
  const told = el('p', { class: 'told soft', role: 'status' });
  const more = el('button', { type: 'button', class: 'hidden' }, 'Show more');
  place.append(told, el('p', { class: 'actions' }, more));
  more.parentNode.hidden = true;
  let next = '', shown = 0, passed = 0, stopped = false;
  const word = (n) => `${number(n)} ${n === 1 ? o.noun[0] : o.noun[1]}`;

  const load = async () => {
    stopped = false;
    const before = shown;
    more.parentNode.hidden = false;
    more.className = '';
    do {
      const far = next && o.far ? ` (${percent(o.far(next))} of the store)` : '';
      more.textContent = 'Stop';
      more.onclick = () => { stopped = true; };
      told.replaceChildren(busy(passed ? `Searching: ${number(passed)} records read${far}, ${word(shown)} found` : 'Asking the server'));
      const page = o.first && !next && !shown ? o.first : await askJSON(o.path(next), { signal });
      for (const x of page[o.key]) o.add(x);
      shown += page[o.key].length;
      passed += page.passed ?? 0;
      next = page.next ?? '';
    } while (next && shown === before && !stopped && !signal.aborted);
    if (signal.aborted) return;
    const rest = next ? (stopped ? `, the search stopped after ${number(passed)} records` : ', and more') : '';
    told.replaceChildren(shown ? `${word(shown)}${rest}.` : next ? `Nothing found yet${rest}.` : '');
    more.textContent = stopped ? 'Search on' : 'Show more';
    more.onclick = () => load().catch(failed);
    more.parentNode.hidden = !next;
    if (!shown && !next) o.none();
  };
  const failed = (e) => {
    if (signal.aborted) return;
    told.replaceChildren(notice('bad', e.message));
    more.textContent = 'Try again';
    more.onclick = () => load().catch(failed);
  };
  await load().catch(failed);
}
