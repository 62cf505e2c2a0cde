// Zoom by click or Enter, search by Ctrl+F or the button, walk by arrow keys. The picture says all without this script.
(() => {
  const svg = document.currentScript.closest('svg');
  const [left, right, letter] = [10, 1190, 6.9];
  const said = svg.querySelector('#said');
  const reset = svg.querySelector('#reset');
  const search = svg.querySelector('#search');
  const frames = [...svg.querySelectorAll('#frames > g')].map((g) => {
    const rect = g.querySelector('rect');
    const title = g.querySelector('title').textContent;
    return { g, rect, title, name: title.split('\n')[0].replace(/ \([^()]*\)$/, ''), text: g.querySelector('text'),
      x: +rect.getAttribute('x'), y: +rect.getAttribute('y'), w: +rect.getAttribute('width') };
  });
  const rows = new Map();
  for (const f of frames) rows.set(f.y, [...(rows.get(f.y) ?? []), f]);
  const of = (e) => frames.find((f) => f.g === e.target.closest('#frames > g'));

  const clip = (name, room) => {
    const most = Math.floor(room / letter);
    const letters = [...name];
    return most < 3 ? '' : letters.length <= most ? name : `${letters.slice(0, most - 1).join('')}…`;
  };

  const place = (f, x, w) => {
    f.g.classList.toggle('hidden', w < 0.1);
    f.rect.setAttribute('x', x);
    f.rect.setAttribute('width', w);
    const text = clip(f.name, w - 6);
    if (!f.text && text) {
      f.text = document.createElementNS('http://www.w3.org/2000/svg', 'text');
      f.text.setAttribute('y', f.y + 12);
      f.g.append(f.text);
    }
    if (f.text) {
      f.text.setAttribute('x', x + 3);
      f.text.textContent = text;
    }
  };

  const zoom = (to) => {
    const by = (right - left) / to.w;
    for (const f of frames) {
      const around = f.y > to.y && f.x <= to.x + 0.02 && f.x + f.w >= to.x + to.w - 0.02;
      const inside = f.y <= to.y && f.x >= to.x - 0.02 && f.x + f.w <= to.x + to.w + 0.02;
      f.g.classList.toggle('caller', around);
      if (around) place(f, left, right - left);
      else if (inside) place(f, left + (f.x - to.x) * by, f.w * by);
      else place(f, 0, 0);
    }
    reset.classList.remove('hidden');
  };

  const all = () => {
    for (const f of frames) {
      f.g.classList.remove('caller');
      place(f, f.x, f.w);
    }
    reset.classList.add('hidden');
  };

  const find = () => {
    const asked = prompt('Find functions that contain:', '');
    if (asked === null) return;
    const word = asked.toLowerCase();
    const ends = [];
    let sum = 0;
    for (const f of [...frames].sort((a, b) => b.y - a.y || a.x - b.x)) {
      const is = word !== '' && f.title.toLowerCase().includes(word);
      f.g.classList.toggle('found', is);
      if (is && !ends.some(([from, to]) => f.x >= from && f.x < to)) {
        ends.push([f.x, f.x + f.w]);
        sum += f.w;
      }
    }
    said.textContent = word === '' ? '' : `${(100 * sum / (right - left)).toFixed(2)} % of all has a function that contains "${asked}"`;
  };

  const focus = (f) => {
    if (!f) return;
    for (const other of svg.querySelectorAll('#frames > g[tabindex="0"]')) other.setAttribute('tabindex', '-1');
    f.g.setAttribute('tabindex', '0');
    f.g.focus();
  };

  const steps = {
    ArrowUp: (f) => (rows.get(f.y - 17) ?? []).find((g) => g.x >= f.x - 0.02 && g.x < f.x + f.w),
    ArrowDown: (f) => (rows.get(f.y + 17) ?? []).findLast((g) => g.x <= f.x + 0.02),
    ArrowLeft: (f) => rows.get(f.y)[rows.get(f.y).indexOf(f) - 1],
    ArrowRight: (f) => rows.get(f.y)[rows.get(f.y).indexOf(f) + 1],
  };

  svg.addEventListener('click', (e) => {
    const f = of(e);
    if (f) zoom(f);
  });
  svg.addEventListener('pointerover', (e) => {
    const f = of(e);
    if (f) said.textContent = f.title.split('\n')[0];
  });
  svg.addEventListener('focusin', (e) => {
    const f = of(e);
    if (f) said.textContent = f.title.split('\n')[0];
  });
  svg.addEventListener('keydown', (e) => {
    const f = of(e);
    if (e.key === 'Escape') all();
    else if (e.key === 'Enter' && e.target === reset) all();
    else if (e.key === 'Enter' && e.target === search) find();
    else if (e.key === 'Enter' && f) zoom(f);
    else if (f && steps[e.key]) focus(steps[e.key](f));
    else return;
    e.preventDefault();
  });
  addEventListener('keydown', (e) => {
    if (e.key === 'f' && (e.ctrlKey || e.metaKey)) {
      e.preventDefault();
      find();
    }
  });
  reset.addEventListener('click', all);
  search.addEventListener('click', find);
  search.classList.remove('hidden');
  for (const f of frames) {
    f.g.setAttribute('role', 'img');
    f.g.setAttribute('aria-label', f.title);
  }
  frames[0]?.g.setAttribute('tabindex', '0');
})();
