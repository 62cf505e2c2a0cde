// The interface of this server, from its own openapi.json: what to ask, what comes back, and a form that asks it.
import { el, notice, busy, bytes, count, table, copy, say } from './dom.js';
import { ask, askJSON } from './ask.js';
import './lists.js';

export const title = 'Interface';

const shownBytes = 200_000; // of an answer

let doc; // the description

export async function show(main) {
  main.replaceChildren(el('h1', {}, 'Interface'), busy('Reading the description'));
  try {
    doc = await askJSON('/openapi.json');
  } catch (e) {
    main.querySelector('.busy').replaceWith(notice('bad', e.message));
    return;
  }
  const calls = Object.entries(doc.paths).flatMap(([path, methods]) => Object.entries(methods).map(([verb, o]) => ({ path, verb, o, id: o.operationId })));
  main.replaceChildren(
    el('h1', {}, 'Interface'),
    el('p', { class: 'lead' }, doc.info.description),
    el('p', {}, el('a', { href: '/openapi.json' }, 'openapi.json'), ' describes it to the byte, for generators of clients.'),
    el('div', { class: 'api' },
      el('nav', { class: 'contents', 'aria-label': 'Contents' },
        el('ul', {}, calls.map((c) => el('li', {}, el('a', { href: `#${c.id}` }, el('span', { class: `verb ${c.verb}` }, c.verb.toUpperCase()), c.path)))),
        el('ul', {}, Object.keys(doc.components.schemas).map((name) => el('li', {}, el('a', { href: `#${name}` }, name))))),
      el('div', {}, calls.map(operation), el('h2', {}, 'Values'), el('p', {}), Object.entries(doc.components.schemas).map(([name, s]) => value(name, s)))));
  const arrive = () => {
    const to = document.getElementById(location.hash.slice(1));
    if (!to) return;
    to.scrollIntoView({ behavior: 'instant' });
    to.focus({ preventScroll: true });
  };
  window.addEventListener('hashchange', arrive);
  arrive();
}

// operation shows one method of a path.
function operation({ path, verb, o, id }) {
  const name = `${verb.toUpperCase()} ${path}`;
  const card = el('section', { class: 'card', id, tabIndex: -1, 'aria-labelledby': `${id}-title` },
    el('h2', { id: `${id}-title`, class: 'method' }, el('span', { class: `verb ${verb}` }, verb.toUpperCase()), el('code', {}, path)),
    el('p', {}, o.summary), o.description && el('p', { class: 'soft' }, o.description));
  if (o.parameters?.length) {
    card.append(el('h3', {}, 'Parameters'), table(`Parameters of ${name}`, [{ name: 'Name' }, { name: 'Type' }, { name: 'Meaning' }],
      o.parameters.map((p) => [[el('code', {}, p.name), p.required && el('small', {}, 'required')].filter(Boolean), type(p.schema), [p.description, range(p.schema)].filter(Boolean)])));
  }
  if (o.requestBody) {
    card.append(el('h3', {}, 'Body'), o.requestBody.description && el('p', { class: 'soft' }, o.requestBody.description),
      el('ul', {}, Object.entries(o.requestBody.content).map(([kind, c]) => el('li', {}, el('code', {}, kind), ': ', type(c.schema)))));
  }
  const good = Object.entries(o.responses).filter(([code]) => code < 400);
  const bad = Object.entries(o.responses).filter(([code]) => code >= 400);
  card.append(el('h3', {}, 'Answers'), answers(`Answers of ${name}`, good));
  if (bad.length) card.append(el('details', {}, el('summary', {}, `Errors: ${bad.map(([code]) => code).join(', ')}`), answers(`Errors of ${name}`, bad)));
  if (verb === 'get' || path === '/v1/symbolicate') card.append(trial(path, verb, o, id));
  return card;
}

// answers shows answers by their status.
function answers(caption, list) {
  return table(caption, [{ name: 'Status' }, { name: 'Meaning' }, { name: 'Value' }],
    list.map(([code, r]) => [code, r.description, Object.entries(r.content ?? {}).flatMap(([kind, c], i) => [i ? el('br') : '', el('small', {}, `${kind} `), type(c.schema)])]));
}

// value shows a schema of the description.
function value(name, schema) {
  return el('section', { class: 'card', id: name, tabIndex: -1, 'aria-labelledby': `${name}-title` },
    el('h3', { id: `${name}-title` }, el('code', {}, name)), schema.description && el('p', { class: 'soft' }, schema.description), members(schema, name));
}

// members shows the members of an object.
function members(schema, name) {
  const all = Object.entries(schema.properties ?? {});
  if (!all.length) return el('p', {}, type(schema));
  return table(`Members of ${name}`, [{ name: 'Member' }, { name: 'Type' }, { name: 'Meaning' }], all.map(([k, s]) => [
    [el('code', {}, k), !schema.required?.includes(k) && el('small', {}, 'optional')].filter(Boolean), type(s), [s.description ?? '', range(s), inner(s, `${name}.${k}`)].filter(Boolean)]));
}

// inner shows the members of an object inside another.
function inner(s, name) {
  const of = s.items?.properties ? s.items : s;
  return of.properties && el('details', {}, el('summary', {}, count(Object.keys(of.properties).length, 'member')), members(of, name));
}

// type names a schema, with links to others.
function type(s) {
  if (!s) return el('span', { class: 'type' }, 'any');
  if (s.$ref) {
    const name = s.$ref.split('/').pop();
    return el('a', { class: 'type', href: `#${name}` }, name);
  }
  const many = s.anyOf ?? s.oneOf;
  if (many) return el('span', { class: 'type' }, many.flatMap((x, i) => [i ? ' or ' : '', type(x)]));
  if (s.type === 'array') return el('span', { class: 'type' }, 'array of ', s.items ? type(s.items) : 'values');
  const kinds = [s.type ?? 'any'].flat().join(' or ');
  return el('span', { class: 'type' }, s.additionalProperties?.type ? `${kinds} of ${s.additionalProperties.type}` : s.format ? `${kinds} (${s.format})` : kinds);
}

// range tells what a value may be.
function range(s) {
  const says = [];
  const of = s.items ?? s;
  if (of.enum) says.push(`One of: ${of.enum.filter((v) => v !== '').join(', ')}.`);
  if (s.minimum !== undefined && s.maximum !== undefined) says.push(`From ${s.minimum} to ${s.maximum}.`);
  if (s.default !== undefined) says.push(`Without it: ${s.default}.`);
  return says.length ? el('small', {}, says.join(' ')) : null;
}

// trial returns a form that asks this server.
function trial(path, verb, o, id) {
  const fields = (o.parameters ?? []).map((p) => ({ p, input: entry(p.schema, `${id}-${p.name}`, p) }));
  const out = el('div', { role: 'status' });
  let kind, body;
  if (verb === 'post') {
    kind = el('select', { id: `${id}-kind` }, Object.keys(o.requestBody.content).map((k) => el('option', { value: k, selected: k === 'text/plain' }, k)));
    body = el('textarea', { id: `${id}-body`, spellcheck: false, required: true, placeholder: '#00 pc 0000000000004748  libgame.so (BuildId: 564bb6c8be48eea9d9db622b8689806eea5af3c7)' });
    kind.addEventListener('change', () => {
      const example = o.requestBody.content[kind.value].example;
      if (example && !body.value.trim()) body.value = JSON.stringify(example, null, 1);
    });
  }
  const address = () => {
    const q = new URLSearchParams();
    for (const { p, input } of fields) {
      const values = p.schema.type === 'array' ? input.value.split('\n') : [input.value];
      for (const v of values) if (v !== '') q.append(p.name, v);
    }
    return q.size ? `${path}?${q}` : path;
  };
  const curl = () => {
    const quote = (s) => `'${s.replaceAll("'", "'\\''")}'`;
    const sent = body ? ` -H ${quote(`Content-Type: ${kind.value}`)} --data-binary ${quote(body.value)}` : '';
    return `curl${doc.security?.length && !o.security ? ' -H "Authorization: Bearer $SYMLAKE_TOKEN"' : ''}${sent} ${quote(location.origin + address())}`;
  };
  const line = (label, f, wide) => el('div', { class: wide ? 'whole' : '' }, el('label', { for: f.id }, label), f);
  return el('details', { class: 'try' }, el('summary', {}, 'Try it'),
    el('form', { onsubmit: async (e) => {
      e.preventDefault();
      out.replaceChildren(busy('Asking the server'));
      out.replaceChildren(...await answered(address(), body ? { method: 'POST', headers: { 'Content-Type': kind.value }, body: body.value } : {}));
    } },
    el('div', { class: 'fields' },
      kind && line('Content-Type', kind), body && line('Body', body, true),
      fields.map(({ p, input }) => line(p.name, input))),
    el('p', { class: 'actions' }, el('button', { type: 'submit', class: 'primary' }, 'Send'),
      el('button', { type: 'button', onclick: () => copy(curl()).then(() => say('Copied for a terminal'), (e) => say(e.message)) }, 'Copy as curl'))), out);
}

// entry returns a field for a value of a schema.
function entry(s, id, p) {
  const common = { id, name: p.name, required: Boolean(p.required) };
  const values = s.enum ?? (s.type === 'boolean' ? ['', 'true', 'false'] : null);
  if (values) return el('select', common, (values.includes('') ? values : ['', ...values]).map((v) => el('option', { value: v }, v || '—')));
  if (s.type === 'array') return el('textarea', { ...common, rows: 2, spellcheck: false, placeholder: 'one a line' });
  if (s.type === 'integer') return el('input', { ...common, type: 'number', min: s.minimum ?? '', max: s.maximum ?? '', placeholder: s.default ?? '' });
  return el('input', { ...common, spellcheck: false, autocomplete: 'off' });
}

// answered asks and returns what is shown of the answer.
async function answered(address, options) {
  const began = performance.now();
  try {
    const r = await ask(address, options);
    const text = await r.text();
    const kind = r.headers.get('Content-Type') ?? '';
    let shown = text.slice(0, shownBytes);
    if (kind.startsWith('application/json') && text.length <= shownBytes) shown = JSON.stringify(JSON.parse(text), null, 1);
    return [el('p', { class: 'soft' }, `${r.status}, ${kind.split(';')[0]}, ${bytes(text.length)}, ${Math.round(performance.now() - began)} ms`),
      el('pre', { class: 'answer', tabIndex: 0, 'aria-label': 'Answer' }, shown || '(nothing)'),
      text.length > shownBytes && el('p', { class: 'soft' }, `The answer goes on: ${bytes(text.length - shownBytes)} more.`)].filter(Boolean);
  } catch (e) {
    return [notice('bad', e.message)];
  }
}
