// The page of artifacts: search by any name, app and kind, and one artifact with its quality, loads and origin.
import { el, notice, busy, number, count, bytes, percent, table } from './dom.js';
import { ask, askJSON } from './ask.js';
import { link, go, follow, when, facts, pairs, empty, badge, bar, coverage, field, choice, row, grow, surveyed } from './lists.js';

export const title = 'Artifacts';

const kinds = { elf: 'ELF', macho: 'Mach-O', r8: 'R8 mapping', sourcemap: 'source map', 'dart-names': 'Dart names' };
const pageSize = 50;
const columns = [{ name: 'Artifact', kind: 'name' }, { name: 'Kind' }, { name: 'Apps', kind: 'name' }, { name: 'Answers', number: true },
  { name: 'Code with an answer' }, { name: 'Stored', number: true }, { name: 'Loaded' }];

export async function show(main) {
  await follow(main, (now, signal) => (now.name ? one(main, now.name, signal) : list(main, now, signal)));
}

// answers says how many ranges or classes an artifact has.
function answers(a) {
  return a.classes ? count(a.classes, 'class', 'classes') : count(a.ranges, 'range');
}

// builds returns the apps of an artifact, without the names of files in them.
function builds(a) {
  return a.apps.filter((n) => !a.apps.some((b) => n !== b && n.startsWith(`${b}/`)));
}

// covered shows how much of an artifact's code has an answer. Mappings and maps have no code.
function covered(a) {
  const q = a.quality;
  if (!q || !q.text_covered) return el('span', { class: 'soft' }, '—');
  return el('div', {}, coverage(q.text_covered, q.with_line, q.with_inline), el('small', { class: 'soft', 'aria-hidden': 'true' }, percent(q.text_covered)));
}

function list(main, now, signal) {
  const find = el('input', { id: 'find', type: 'search', value: now.find ?? '', placeholder: 'libcart.so, 564bb6c8be48…, shop', spellcheck: false, autocomplete: 'off' });
  const app = el('input', { id: 'app', value: now.app ?? '', placeholder: 'shop@1234', spellcheck: false, autocomplete: 'off' });
  const kind = choice('kind', [['', 'Any kind'], ...Object.entries(kinds)], now.kind);
  const place = el('section', { 'aria-label': 'Artifacts found' });
  const sums = el('div', {});
  main.replaceChildren(
    el('h1', {}, 'Artifacts'),
    el('p', { class: 'lead' }, 'Program images, mappings and source maps whose stacks this server can read.'),
    sums,
    el('form', { class: 'search', role: 'search', onsubmit: (e) => {
      e.preventDefault();
      go({ find: find.value.trim(), app: app.value.trim(), kind: kind.value });
    } },
    field('Name, id or a part of one', find, 'wide'), field('App and build', app), field('Kind', kind),
    el('button', { class: 'primary', type: 'submit' }, 'Search')),
    place);
  totals(sums, signal);

  const found = table('Artifacts', columns, []);
  found.hidden = true;
  const legend = el('p', { class: 'told soft', hidden: true }, 'Code: ', [['inline', 'with inlined calls'], ['line', 'with a line'], ['code', 'with a name alone'], ['none', 'without an answer']]
    .flatMap(([kind, text]) => [el('span', { class: `key ${kind}` }), `${text}\u2003`]));
  place.append(found, legend);
  return grow(place, signal, {
    key: 'artifacts', noun: ['artifact', 'artifacts'],
    path: (from) => `/v1/artifacts?${new URLSearchParams({ limit: pageSize, find: now.find ?? '', app: now.app ?? '', kind: now.kind ?? '', ...(from && { from }) })}`,
    far: (next) => parseInt(next.slice(0, 8), 16) / 2 ** 32, // ids are spread evenly
    add: (a) => {
      found.hidden = false;
      legend.hidden &&= !a.quality?.text_covered;
      const at = (a.loads ?? []).find((l) => l.published)?.at;
      row(found, columns, [
        [el('a', { href: link('/artifacts', { name: a.artifact }) }, a.file || a.names[0] || a.artifact), el('small', { class: 'mono' }, a.names.find((n) => n !== a.file) ?? a.artifact)],
        [kinds[a.kind] ?? a.kind ?? badge('loading'), a.arch && el('small', {}, a.arch)].filter(Boolean),
        some(builds(a), 3), answers(a), covered(a), bytes(a.bytes ?? 0), when(at),
      ]);
    },
    none: () => place.replaceChildren(now.find || now.app || now.kind
      ? empty('No artifact fits', ['Search by another part of the name, or look at ', el('a', { href: link('/wanted', { find: now.find }) }, 'what stacks asked for in vain'), '.'],
        ['The ', el('a', { href: '/objects#state=rejected' }, 'ledger'), ' says which objects were rejected, and why.'])
      : empty('No artifact yet', ['Run ', el('code', {}, 'symlake ingest DIR'), ' with a folder or a bucket of symbol files. This page shows them within a minute.'])),
  });
}

// some joins the first of a list.
function some(list, most) {
  return list.slice(0, most).join(', ') + (list.length > most ? ` and ${list.length - most} more` : '');
}

// totals shows the sums of the store as soon as the server has them.
async function totals(place, signal) {
  try {
    const s = await surveyed('/v1/status', place, signal);
    if (signal.aborted) return;
    place.textContent = '';
    if (!s.artifacts) return;
    const by = Object.entries(s.kinds).map(([k, n]) => `${number(n)} ${kinds[k] ?? k}${n > 1 && / map/.test(kinds[k]) ? 's' : ''}`).join(', ');
    place.replaceChildren(facts([
      ['Artifacts', number(s.artifacts), by],
      ['Ranges and classes', number(s.ranges), count(s.rows, 'sealed row')],
      ['Stored', bytes(s.bytes)],
      s.coverage.text > 0 && ['Code with an answer', percent(s.coverage.text), `${percent(s.coverage.line)} of that with a line, ${percent(s.coverage.inline)} with inlined calls`],
    ]));
  } catch {
    place.textContent = ''; // the list below says what is wrong
  }
}

// one shows the artifacts that a name leads to: mostly one.
async function one(main, name, signal) {
  main.replaceChildren(el('p', { class: 'crumb' }, el('a', { href: '/artifacts' }, 'Artifacts')), busy('Asking the server'));
  let found;
  try {
    found = await askJSON(`/v1/artifacts?${new URLSearchParams({ name })}`, { signal });
  } catch (e) {
    if (e.code !== 404) throw e;
    main.querySelector('.busy').remove();
    main.append(el('h1', {}, 'No artifact is called ', el('code', {}, name)),
      notice('warn', el('p', {}, e.message), el('p', {}, el('a', { href: link('/artifacts', { find: name }) }, 'Search for a part of the name'), ' or look at ',
        el('a', { href: link('/wanted', { find: name }) }, 'what stacks asked for in vain'), '.')));
    return;
  }
  if (signal.aborted) return;
  main.querySelector('.busy').remove();
  if (found.artifacts.length > 1) {
    main.append(el('h1', {}, `${found.artifacts.length} artifacts are called `, el('code', {}, name)),
      el('ul', {}, found.artifacts.map((a) => el('li', {}, el('a', { href: link('/artifacts', { name: a.artifact }) }, a.file || a.artifact), ` ${kinds[a.kind] ?? ''} ${a.arch ?? ''} ${a.apps.join(', ')}`))));
    return;
  }
  const a = found.artifacts[0];
  document.title = `${a.file || a.artifact} · symlake`;
  const origin = el('section', { class: 'card' }, el('h2', {}, 'Where it came from'), busy('Asking the ledger'));
  main.append(
    el('h1', {}, a.file || el('code', {}, a.artifact)),
    el('p', { class: 'lead' }, [kinds[a.kind] ?? 'Not loaded yet', a.arch, answers(a), bytes(a.bytes ?? 0)].filter(Boolean).join(' · ')),
    stateOf(a),
    el('div', { class: 'split' },
      el('div', {},
        el('section', { class: 'card' }, el('h2', {}, 'Names'), pairs([
          ['Ids and files', codes(a.names)], ['Apps', a.apps.length ? codes(builds(a)) : 'none: stacks find it by its ids and file name'],
          ['Own id', el('code', {}, a.artifact)], ['Image base', a.kind === 'elf' || a.kind === 'macho' ? el('code', {}, a.image_base) : null],
        ])),
        origin),
      el('div', {}, quality(a), loads(a), position(a))));
  await from(origin, a, signal);
}

function codes(list) {
  return el('ul', {}, list.map((n) => el('li', {}, el('code', {}, n))));
}

// stateOf explains a state that is not the usual one.
function stateOf(a) {
  const text = {
    pinned: 'Someone rolled this artifact back. Only symlake ingest --force replaces its load.',
    shredded: 'Someone destroyed the keys of this artifact. Its rows cannot be read any more.',
    forgotten: 'Someone removed this artifact. Only symlake ingest --force brings it back.',
  }[a.state];
  return text ? notice('warn', text) : '';
}

function quality(a) {
  const q = a.quality;
  const card = el('section', { class: 'card' }, el('h2', {}, 'Quality'));
  if (!q) {
    card.append(el('p', {}, 'No load is published yet.'));
    return card;
  }
  if (q.text_covered) {
    const meter = (name, share, kind, of) => el('div', {}, el('div', {}, el('span', { class: `key ${kind}` }), `${name}: `, el('strong', {}, percent(share)), ` ${of}`), bar(`${name}: ${percent(share)} ${of}`, [[kind, share]]));
    card.append(el('div', { class: 'meters' },
      meter('With an answer', q.text_covered, 'code', 'of the code'),
      meter('With a line', q.with_line, 'line', 'of that'),
      meter('With inlined calls', q.with_inline, 'inline', 'of that')), el('p', {}));
  } else if (!q.lines && a.kind !== 'r8') {
    card.append(el('p', { class: 'soft' }, 'This kind of file does not say how much code it describes.'));
  }
  card.append(pairs([
    ['Compilation units', q.units ? `${number(q.units)}${q.units_broken ? `, ${number(q.units_broken)} of them broken` : ''}` : null],
    ['Broken line tables', q.lines_broken ? number(q.lines_broken) : null],
    ['Lines', q.lines ? `${number(q.lines)}${q.bad_lines ? `, ${number(q.bad_lines)} of them do not parse` : ''}` : null],
  ]));
  if (q.missing_parts.length) {
    card.append(notice('warn', el('p', {}, 'It waits for these files. Put them where symlake looks, and run ', el('code', {}, 'symlake ingest'), ' again:'), codes(q.missing_parts)));
  }
  if (q.warnings?.length) card.append(el('details', {}, el('summary', {}, count(q.warnings.length, 'warning')), el('ul', {}, q.warnings.map((w) => el('li', {}, w)))));
  if (q.text_covered && q.with_line < 0.5) {
    card.append(notice('warn', 'Less than half of the code has lines. Upload the unstripped file, with its debug information.'));
  }
  return card;
}

function loads(a) {
  const cells = (a.loads ?? []).map((l) => [el('code', {}, l.load), l.published ? badge('live') : l.lease ? badge('loading') : el('span', { class: 'soft' }, 'previous'), when(l.at ?? l.lease)]);
  return el('section', { class: 'card' }, el('h2', {}, 'Loads'),
    cells.length ? table('Loads', [{ name: 'Load' }, { name: 'State' }, { name: 'When' }], cells) : el('p', {}, 'There is none.'),
    a.loads?.length > 1 && el('p', { class: 'soft' }, 'symlake rollback publishes the previous load again.'));
}

// position asks for one place of the artifact.
function position(a) {
  const example = { r8: 'a.b.c:12', 'dart-names': 'a', sourcemap: '1:1042' }[a.kind] ?? '0x1f3a';
  const input = el('input', { id: 'position', placeholder: example, required: true, spellcheck: false, autocomplete: 'off' });
  const out = el('div', { role: 'status' });
  return el('section', { class: 'card' }, el('h2', {}, 'Look up a position'),
    el('form', { class: 'row', onsubmit: async (e) => {
      e.preventDefault();
      out.replaceChildren(busy('Looking it up'));
      try {
        const { answers: [x] } = await (await ask(`/v1/lookup?${new URLSearchParams({ artifact: a.artifact, position: input.value.trim() })}`)).json();
        out.replaceChildren(x.status === 'found'
          ? el('ol', {}, x.frames.map((f) => el('li', {}, el('code', {}, f.function || '??'), el('small', { class: 'soft' }, f.file ? ` ${f.file}${f.line ? `:${f.line}` : ''}` : ''))))
          : notice('warn', `${x.status}: ${x.reason}`));
      } catch (err) {
        out.replaceChildren(notice('bad', err.message));
      }
    } }, el('label', { for: 'position' }, 'Position'), input, el('button', { type: 'submit' }, 'Look up')), out);
}

// from shows the object of an artifact and the run that loaded it.
async function from(card, a, signal) {
  let object;
  if (a.object) {
    const { objects } = await askJSON(`/v1/objects?${new URLSearchParams({ prefix: a.object, limit: 1 })}`, { signal });
    if (objects[0]?.url === a.object) object = objects[0];
  }
  if (signal.aborted) return;
  card.querySelector('.busy').remove();
  card.append(pairs([
    ['Object', a.object ? object ? el('a', { href: link('/objects', { prefix: a.object }) }, a.object) : a.object : 'None is known.'],
    ['Member', a.member], ['Owner', a.owner],
    ['Run', object && el('a', { href: `/runs/${encodeURIComponent(object.run)}` }, object.run)],
    ['Read', object && when(object.last)], ['State', object && badge(object.state)],
    ['Size', object && bytes(object.size)],
  ]));
  if (a.object && !object) card.append(el('p', { class: 'soft' }, 'The ledger has no entry of this object: the load was copied from another store.'));
}
