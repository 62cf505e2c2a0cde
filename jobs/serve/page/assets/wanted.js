// The page of what stacks asked for and the store does not have, by demand, with what to upload.
import { el, number, count, table } from './dom.js';
import { link, go, follow, when, empty, badge, bar, field, row, grow } from './lists.js';

export const title = 'Wanted';

const columns = [{ name: 'Frames asked', number: true }, { name: 'Name', kind: 'name' }, { name: 'Last asked', kind: 'stamp' }, { name: 'What to do', kind: 'why' }];

// uploads says what to upload, by the format of the stacks and the file.
const uploads = [
  [/^(apple|plcrash|ips|metrickit|kscrash)/, 'Upload the dSYM with this UUID.'],
  [/^java$/, 'Upload the mapping.txt of this build.'],
  [/^javascript/, 'Upload the source map of this bundle.'],
  [/^dart/, 'Upload the .symbols file that flutter build --split-debug-info wrote.'],
  [/^(tombstone|logcat|backtrace|monitor|sanitizer|coredump|llvm|gdb|lldb|go|hotspot)/, 'Upload the unstripped file with this build-id: the .so before stripping, or its debug file.'],
];

function upload(w) {
  if (/\.(js|bundle|jsbundle)$/.test(w.file ?? '')) return uploads[2][1];
  if (/\.so(\.|$)/.test(w.file ?? '')) return uploads[4][1];
  return uploads.find(([kind]) => kind.test(w.kind ?? ''))?.[1] ?? 'Upload the symbol file with this name or id.';
}

export async function show(main) {
  await follow(main, (now, signal) => {
    const find = el('input', { id: 'find', type: 'search', value: now.find ?? '', placeholder: 'a build-id, a file name', spellcheck: false, autocomplete: 'off' });
    const place = el('section', { 'aria-label': 'Names found' });
    main.replaceChildren(
      el('h1', {}, 'Wanted and missing'),
      el('p', { class: 'lead' }, 'Names that stacks carried and that led to no artifact, most frames first. Upload the first of them, and most frames get their names.'),
      el('form', { class: 'search', role: 'search', onsubmit: (e) => {
        e.preventDefault();
        go({ find: find.value.trim() });
      } }, field('Name or file', find, 'wide'), el('button', { class: 'primary', type: 'submit' }, 'Search')),
      place,
      el('p', { class: 'soft' }, 'The command ', el('code', {}, 'symlake symbolicate'), ' counts what it misses. This server notes nothing of the stacks that it reads.'));

    const found = table('Wanted names', columns, []);
    found.hidden = true;
    place.append(found);
    let most = 0;
    return grow(place, signal, {
      key: 'wanted', noun: ['name', 'names'],
      path: (from) => `/v1/wanted?${new URLSearchParams({ limit: 50, find: now.find ?? '', ...(from && { from }) })}`,
      add: (w) => {
        found.hidden = false;
        most = Math.max(most, w.asked);
        row(found, columns, [
          [number(w.asked), bar(`${number(w.asked)} frames, at most ${number(most)}`, [['asked', w.asked / most]])],
          [el('code', {}, w.name), w.file && w.file.toLowerCase() !== w.name && el('small', {}, w.file)].filter(Boolean),
          [when(w.last), el('small', {}, 'first ', when(w.first))], todo(w),
        ]);
      },
      none: () => place.replaceChildren(now.find
        ? empty('Nothing with this name was asked for in vain', ['Look for it ', el('a', { href: link('/artifacts', { find: now.find }) }, 'among the artifacts'), '.'])
        : empty('Nothing is missing', ['Every stack that ', el('code', {}, 'symlake symbolicate'), ' read found its artifacts, or it read none yet.'])),
    });
  });
}

// todo says what brings a name: an object that waits or was rejected, or an upload.
function todo(w) {
  const n = w.near;
  const parts = [];
  if (n?.object) {
    const says = {
      pending: 'An object with this name waits for the next run.', loading: 'A run is loading it.',
      rejected: 'An object with this name was rejected. Upload it again, whole.', failed: 'A run could not read it, and will try again.',
    }[n.state] ?? 'The ledger has an object with this name.';
    parts.push(el('div', {}, badge(n.state), ` ${says}`, el('small', {}, el('a', { href: link('/objects', { prefix: n.object }) }, n.object), n.reason && `: ${n.reason}`)));
  } else {
    parts.push(upload(w));
  }
  if (n?.artifacts) {
    const base = w.file.split(/[/\\]/).pop();
    parts.push(el('small', {}, el('a', { href: link('/artifacts', { find: base }) }, `${count(n.artifacts, 'other build')}${n.artifacts === 16 ? ' or more' : ''} of ${base}`), n.artifacts === 1 ? ' is stored.' : ' are stored.'));
  }
  return parts;
}
