// Elements, numbers and small parts that all pages share.

// el returns a new element. Of props, `class` and names with a dash are attributes, functions named on… are
// listeners, the rest are properties. Children are nodes or texts; null and false are left out.
export function el(tag, props = {}, ...children) {
  const e = document.createElement(tag);
  for (const [k, v] of Object.entries(props)) {
    if (v === undefined || v === null) continue;
    if (k === 'class') e.className = v;
    else if (k.startsWith('on') && typeof v === 'function') e.addEventListener(k.slice(2), v);
    else if (k.includes('-') || k === 'role' || k === 'for') e.setAttribute(k, v);
    else e[k] = v;
  }
  e.append(...children.flat(Infinity).filter((c) => c !== null && c !== undefined && c !== false));
  return e;
}

// svg returns a new element of SVG with these attributes.
export function svg(tag, attributes = {}, ...children) {
  const e = document.createElementNS('http://www.w3.org/2000/svg', tag);
  for (const [k, v] of Object.entries(attributes)) e.setAttribute(k, v);
  e.append(...children);
  return e;
}

// notice returns a box with a message: kind is bad, warn or good.
export function notice(kind, ...children) {
  return el('div', { class: `notice ${kind}`, role: kind === 'bad' ? 'alert' : 'status' }, ...children);
}

// busy returns a line that says what is under way.
export function busy(text) {
  return el('p', { class: 'busy', role: 'status' }, text);
}

const whole = new Intl.NumberFormat('en');

// number writes 12345 as 12,345.
export function number(n) {
  return whole.format(n);
}

// count writes a number with its noun: count(2, 'frame') is "2 frames".
export function count(n, one, many = one + 's') {
  return `${number(n)} ${n === 1 ? one : many}`;
}

// bytes writes a size for people: 1.5 MiB.
export function bytes(n) {
  const units = ['B', 'KiB', 'MiB', 'GiB', 'TiB'];
  let i = 0;
  for (; n >= 1024 && i < units.length - 1; i++) n /= 1024;
  return `${i === 0 || n >= 100 ? Math.round(n) : n.toFixed(1)} ${units[i]}`;
}

// percent writes a share from 0 to 1.
export function percent(share) {
  return `${(100 * share).toFixed(share > 0 && share < 0.1 ? 1 : 0)} %`;
}

// table returns a table in a box that scrolls. Columns are {name, number}; rows are lists of cells.
// A box that scrolls takes the focus, so that keys move it.
export function table(caption, columns, rows) {
  return el('div', { class: 'scroll', tabIndex: 0, role: 'region', 'aria-label': caption },
    el('table', {},
      el('caption', { class: 'hidden' }, caption),
      el('thead', {}, el('tr', {}, columns.map((c) => el('th', { scope: 'col', class: c.number ? 'number' : '' }, c.name)))),
      el('tbody', {}, rows.map((cells) => el('tr', {}, cells.map((c, i) => el('td', { class: columns[i].number ? 'number' : '' }, c)))))));
}

// copy puts a text onto the clipboard. Browsers give it to secure pages alone; others select it in a field and copy that.
export async function copy(text) {
  if (navigator.clipboard && window.isSecureContext) {
    try {
      await navigator.clipboard.writeText(text);
      return;
    } catch { /* no permission: the older way needs none */ }
  }
  const field = el('textarea', { value: text, class: 'hidden', readOnly: true, 'aria-label': 'Text to copy' });
  document.body.append(field);
  field.select();
  const done = document.execCommand('copy');
  field.remove();
  if (!done) throw new Error('The browser refuses to copy. Select the text and copy it by hand.');
}

// say tells people who listen to the page, and shows the text for a moment.
export function say(text) {
  let box = document.getElementById('said');
  if (!box) {
    box = el('div', { id: 'said', role: 'status' });
    document.body.append(box);
  }
  box.textContent = text;
  box.classList.add('shown');
  clearTimeout(say.timer);
  say.timer = setTimeout(() => box.classList.remove('shown'), 4000);
}
