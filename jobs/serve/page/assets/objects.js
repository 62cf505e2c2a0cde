// The page of the ledger: what became of each object, and why. The page of a run shows the same list.
import { el, bytes, table, count } from './dom.js';
import { link, go, follow, when, empty, badge, field, choice, row, grow } from './lists.js';

export const title = 'Objects';

const states = ['loaded', 'published', 'kept', 'skipped', 'rejected', 'conflict', 'failed', 'pending', 'loading', 'gone'];
const columns = [{ name: 'Object', kind: 'url' }, { name: 'State' }, { name: 'Why', kind: 'why' }, { name: 'Size', number: true }, { name: 'Tried last' }, { name: 'Run' }];

export async function show(main) {
  await follow(main, (now, signal) => {
    const prefix = el('input', { id: 'prefix', type: 'search', value: now.prefix ?? '', placeholder: 'a bucket or a folder', spellcheck: false, autocomplete: 'off' });
    const chosen = choice('state', [['', 'Any state'], ...states.map((s) => [s, s])], now.state);
    const run = el('input', { id: 'run', value: now.run ?? '', spellcheck: false, autocomplete: 'off' });
    const place = el('section', { 'aria-label': 'Objects found' });
    main.replaceChildren(
      el('h1', {}, 'Objects'),
      el('p', { class: 'lead' }, 'The ledger: every object of the sources, what became of it, and why.'),
      el('form', { class: 'search', role: 'search', onsubmit: (e) => {
        e.preventDefault();
        go({ prefix: prefix.value.trim(), state: chosen.value, run: run.value.trim() });
      } }, field('URL begins with', prefix, 'wide'), field('State', chosen), field('Run', run), el('button', { class: 'primary', type: 'submit' }, 'Search')),
      place);
    return objects(place, signal, now, () => (now.prefix || now.state || now.run
      ? empty('No object fits', 'Take a shorter beginning of the URL, or another state.')
      : empty('No object yet', ['Run ', el('code', {}, 'symlake ingest DIR'), ' with a folder or a bucket of symbol files.'])));
  });
}

// objects fills a place with the objects of a query: prefix, state, run, from and until. nothing returns the box for none.
export function objects(place, signal, query, nothing) {
  const shown = query.run && query.ofRun ? columns.slice(0, -1) : columns;
  const found = table('Objects', shown, []);
  found.hidden = true;
  place.append(found);
  const { prefix = '', state = '', run = '', until = '' } = query;
  return grow(place, signal, {
    key: 'objects', noun: ['object', 'objects'],
    path: (from) => `/v1/objects?${new URLSearchParams({ limit: 50, prefix, state, run, until, from: from || (query.from ?? '') })}`,
    add: (o) => {
      found.hidden = false;
      row(found, shown, [[o.url, parts(o)].flat().filter(Boolean), badge(o.state), why(o), bytes(o.size), when(o.last),
        o.run && el('a', { href: `/runs/${encodeURIComponent(o.run)}` }, o.run)].slice(0, shown.length).map((c) => c ?? ''));
    },
    none: () => place.replaceChildren(nothing()),
  });
}

const most = 20; // members that are listed

// parts tells of the artifacts of an object.
function parts(o) {
  const list = o.artifacts.filter((a) => a.artifact || a.member);
  if (!list.length) return null;
  const item = (a) => el('li', {}, a.artifact ? el('a', { href: link('/artifacts', { name: a.artifact }) }, a.member || 'artifact') : a.member, ' ', badge(a.outcome), a.error && el('small', {}, a.error));
  if (list.length === 1) return el('small', {}, el('ul', { class: 'plain-list' }, item(list[0])));
  return el('details', {}, el('summary', {}, count(list.length, 'artifact')), el('ul', { class: 'plain-list' }, list.slice(0, most).map(item)),
    list.length > most && el('p', { class: 'soft' }, `and ${list.length - most} more`));
}

// why tells the reason of a state, and both sides of conflicts.
function why(o) {
  const text = { 'unknown-format': 'No format of symlake knows this file.', 'no-symbols': 'The file holds no symbols.', companion: 'It is part of another object.' }[o.reason] ?? o.reason;
  const sides = (o.conflicts ?? []).map((c) => el('small', {}, el('a', { href: link('/artifacts', { name: c.artifact }) }, 'This artifact'), ` belongs to owner “${c.kept.owner ?? ''}”; symlake objects --accept or --dismiss settles it.`));
  return [text ?? '', ...sides];
}
