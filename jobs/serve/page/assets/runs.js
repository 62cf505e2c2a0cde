// The pages of runs: what each brought, as charts and as a table, and one run with its rejected objects and reports.
import { el, notice, busy, number, count, bytes, table } from './dom.js';
import { follow, when, stamp, duration, facts, pairs, empty, badge, row, choice, grow, surveyed } from './lists.js';
import { chart } from './chart.js';
import { objects } from './objects.js';

export const title = 'Runs';

const charted = 40; // runs that the charts show

const columns = [{ name: 'Run', kind: 'name' }, { name: 'Ended' }, { name: 'Objects', kind: 'name' }, { name: 'Rejected', number: true }, { name: 'Read', number: true }, { name: 'Lag', number: true }];

export async function show(main) {
  const id = decodeURIComponent(location.pathname.replace(/^\/runs\/?/, ''));
  await follow(main, (now, signal) => (id ? one(main, id, now, signal) : all(main, signal)));
}

// mixed says how many objects ended in which state.
function mixed(counts) {
  return Object.entries(counts).sort((a, b) => b[1] - a[1]).map(([s, n]) => `${number(n)} ${s}`).join(', ') || 'none';
}

async function all(main, signal) {
  main.replaceChildren(el('h1', {}, 'Runs'), el('p', { class: 'lead' }, 'What symlake ingest brought in, run by run, and what waits.'), busy('The server reads the ledger'));
  const s = await surveyed('/v1/status', main.querySelector('.busy'), signal);
  const first = await surveyed('/v1/runs?limit=50', main.querySelector('.busy'), signal);
  if (signal.aborted) return;
  main.querySelector('.busy').remove();
  if (!first.runs.length) {
    main.append(empty('No run yet', ['Run ', el('code', {}, 'symlake ingest DIR'), ' with a folder or a bucket of symbol files.']));
    return;
  }
  const rejected = s.objects.rejected ?? 0;
  main.append(facts([
    ['Waiting objects', number(s.backlog), s.backlog ? `the oldest for ${duration(s.lag_seconds)}` : 'every listed object is done'],
    ['Rejected objects', rejected ? el('a', { href: '/objects#state=rejected' }, number(rejected)) : '0', rejected ? 'the list says why' : ''],
    ['Conflicts', s.conflicts ? el('a', { href: '/objects#state=conflict' }, number(s.conflicts)) : '0', 'between owners of sources'],
    ['Reports not told', number(s.untold), s.untold ? 'symlake report --pending' : ''],
  ]));
  charts(main, first.runs.slice(0, charted).reverse());
  if (rejected) reasons(main, s.rejects);

  const list = table('Runs, newest first', columns, []);
  const place = el('section', { 'aria-label': 'All runs' }, el('h2', {}, 'All runs'), list);
  main.append(place, el('p', { class: 'soft' }, 'A run has the objects that no later run touched. The server read the ledger ', when(s.taken), '.'));

  await grow(place, signal, {
    first, key: 'runs', noun: ['run', 'runs'], none: () => {},
    path: (from) => `/v1/runs?limit=50${from ? `&from=${encodeURIComponent(from)}` : ''}`,
    add: (r) => row(list, columns, [
      [r.run ? el('a', { href: `/runs/${encodeURIComponent(r.run)}` }, r.run) : '(no name)', r.working > 0 && badge('working')].filter(Boolean),
      when(r.last), mixed(r.objects), r.objects.rejected ? el('span', { class: 'badge bad' }, number(r.objects.rejected)) : '0',
      bytes(r.bytes), r.lag_seconds ? duration(r.lag_seconds) : '—']),
  });
}

// charts draws bytes, rejects and lag of runs, oldest first.
function charts(main, runs) {
  const of = (value) => runs.map((r) => ({ label: `${r.run}, ${stamp(new Date(r.last))}`, value: value(r), mark: stamp(new Date(r.last)) }));
  const peak = (value, write) => {
    const r = runs.reduce((a, b) => (value(b) > value(a) ? b : a));
    return value(r) ? `Most: ${write(value(r))} in run ${r.run}.` : 'All are zero.';
  };
  const last = `The last ${count(runs.length, 'run')}`;
  const size = (r) => r.bytes, bad = (r) => r.objects.rejected ?? 0, lag = (r) => r.lag_seconds;
  main.append(el('section', { 'aria-label': 'Charts', class: 'charts' },
    chart(of(size), { title: 'Bytes read', remark: last, write: bytes, binary: true, summary: `${last}. ${peak(size, bytes)} The table below has the numbers.` }),
    chart(of(bad), { title: 'Rejected objects', remark: last, write: number, whole: true, kind: 'bad', summary: `${last}. ${peak(bad, number)} The table below has the numbers.` }),
    chart(of(lag), { title: 'Lag', remark: 'Median time from an upload until it is answered', write: duration, line: true, summary: `${last}. ${peak(lag, duration)} The table below has the numbers.` })));
}

// reasons shows why objects were rejected.
function reasons(main, rejects) {
  const list = Object.entries(rejects).sort((a, b) => b[1] - a[1]);
  main.append(el('section', { class: 'card' }, el('h2', {}, 'Why objects were rejected'),
    table('Reasons', [{ name: 'Reason' }, { name: 'Objects', number: true }], list.map(([why, n]) => [why, number(n)]))));
}

// one shows a run.
async function one(main, id, now, signal) {
  document.title = `Run ${id} · symlake`;
  main.replaceChildren(el('p', { class: 'crumb' }, el('a', { href: '/runs' }, 'Runs')), el('h1', {}, 'Run ', el('code', {}, id)), busy('The server reads the ledger'));
  let d;
  try {
    d = await surveyed(`/v1/run?id=${encodeURIComponent(id)}`, main.querySelector('.busy'), signal);
  } catch (e) {
    if (e.code !== 404) throw e;
    main.querySelector('.busy').remove();
    main.append(notice('warn', el('p', {}, 'The ledger knows no run of this name. It may not have begun, or later runs touched all of its objects.'), el('p', {}, el('a', { href: '/runs' }, 'See the last runs'))));
    return;
  }
  if (signal.aborted) return;
  main.querySelector('.busy').remove();
  const r = d.run;
  const total = Object.values(r.objects).reduce((a, b) => a + b, 0);
  main.append(facts([
    ['Objects', number(total), mixed(r.objects)], ['Read', bytes(r.bytes)],
    ['Rejected', number(r.objects.rejected ?? 0)],
    ['Lag', r.lag_seconds ? duration(r.lag_seconds) : '—', 'median, from upload until answered'],
    ['State', r.working ? 'working' : 'ended', [when(r.first), ' – ', when(r.last)]],
  ]));
  processes(main, d.processes);
  if (!total) {
    main.append(notice('warn', 'The run has touched no object, or later runs touched all of them.'));
    return;
  }
  await ofRun(main, r, now, signal);
}

// ofRun lists the objects of a run: first those that were rejected, if there are any.
async function ofRun(main, r, now, signal) {
  const chosen = now.state ?? (r.objects.rejected ? 'rejected' : '');
  const options = [['', `all (${number(Object.values(r.objects).reduce((a, b) => a + b, 0))})`], ...Object.entries(r.objects).map(([s, n]) => [s, `${s} (${number(n)})`])];
  const pick = choice('state', options, chosen);
  const place = el('div', {});
  main.append(el('section', { 'aria-label': 'Objects of this run' }, el('div', { class: 'row' }, el('h2', {}, 'Objects'), el('label', { for: 'state' }, 'State'), pick), place));
  let ending = new AbortController();
  const draw = async () => {
    ending.abort();
    ending = new AbortController();
    signal.addEventListener('abort', () => ending.abort(), { once: true });
    place.replaceChildren();
    await objects(place, ending.signal, { run: r.run, ofRun: true, state: pick.value, from: r.first_object, until: r.last_object },
      () => empty('No object of this run is in this state any more', 'A later run may have touched it.'));
  };
  pick.addEventListener('change', () => {
    history.replaceState(null, '', `#${new URLSearchParams({ state: pick.value })}`);
    draw();
  });
  await draw();
}

// processes shows what the processes of a run reported, as long as the store keeps it.
function processes(main, list) {
  if (!list.length) return;
  main.append(el('section', { class: 'card' }, el('h2', {}, count(list.length, 'process', 'processes')), list.map((p) => {
    const x = p.report;
    const lists = [['Rejected', x?.rejected], ['Failed', x?.failed], ['Sources that could not be listed', x?.sources], ['Held back', x?.held], ['Warnings', x?.warnings]];
    return el('details', { open: list.length === 1 },
      el('summary', {}, p.shard ? `Shard ${p.shard}` : 'Process', ' ', el('code', {}, p.account.slice(0, 8)), ' ', badge(p.ended ? 'ended' : 'working')),
      x?.error && notice('bad', x.error),
      pairs([
        ['Began', when(p.started)], ['Ended', p.ended && when(p.ended)], ['Took', x?.seconds ? duration(x.seconds) : null],
        ['Artifacts', x && number(x.artifacts)], ['Ranges', x && number(x.ranges)],
        ['Bytes', x && `${bytes(x.bytes.read)} read, ${bytes(x.bytes.stored)} stored, ${bytes(x.bytes.lake)} in the lake`],
        ['Stages', x?.stages && Object.entries(x.stages).map(([k, v]) => `${k} ${duration(v)}`).join(', ')],
        ...lists.map(([k, v]) => [k, v?.length ? el('ul', {}, v.slice(0, 20).map((o) => el('li', {}, o.url, el('small', { class: 'soft' }, ` ${o.error}`))), v.length > 20 && el('li', {}, `and ${v.length - 20} more`)) : null]),
        ['Asked for before', x?.wanted?.length ? count(x.wanted.length, 'name') : null],
      ]),
      x && el('details', {}, el('summary', {}, 'Report as JSON'), el('pre', { class: 'answer', tabIndex: 0 }, JSON.stringify(x, null, 1))));
  })));
}
