
'use strict';
(() => {
  const $ = (id) => document.getElementById(id);
  const data = JSON.parse($('data').textContent);
  const kinds = data.types.length;
  const row = 20;
  const letters = '12px system-ui, -apple-system, "Segoe UI", Roboto, "Noto Sans", "Liberation Sans", sans-serif';
  const { functions, nodes } = data;
  const count = nodes.length / 2;
  const caller = (n) => (nodes[2 * n] ? n - nodes[2 * n] : -1);
  const dark = matchMedia('(prefers-color-scheme: dark)');
  const scales = {
    nanoseconds: [['ns', 'µs', 'ms', 's'], 1000], microseconds: [['µs', 'ms', 's'], 1000], milliseconds: [['ms', 's'], 1000], seconds: [['s'], 1000],
    bytes: [['B', 'KiB', 'MiB', 'GiB', 'TiB'], 1024], kilobytes: [['KiB', 'MiB', 'GiB'], 1024],
  };

  // text says a value with its unit.
  const text = (v) => {
    const { unit, name } = data.types[type];
    const scale = scales[unit.toLowerCase()];
    if (!scale) return `${Math.round(v).toLocaleString('en')} ${unit === '' || unit === 'count' ? name : unit}`.trim();
    let i = 0;
    for (; i < scale[0].length - 1 && v >= scale[1]; i++) v /= scale[1];
    return `${i ? v.toPrecision(3) : Math.round(v)} ${scale[0][i]}`;
  };
  const share = (v) => (graph.all ? `${(100 * v / graph.all).toFixed(2)} %` : '0 %');

  let type = data.first;
  let thread = -1; // all
  let view = 'name';
  let graph; // what is drawn: arrays by node, callers before the functions that they call
  let zoomed = -1; // node; -1: all
  let at = -1; // node that is chosen
  let word = '';
  let found = new Set(); // functions
  let boxes = [];
  let sort = 'own';
  let rising = false;

  // own returns the own values of all nodes.
  const ownValues = () => {
    const own = new Float64Array(count);
    for (const [i, values] of data.own.entries()) {
      if (thread >= 0 && i !== thread) continue;
      for (let k = 0; k < values.length; k += kinds + 1) own[values[k]] += values[k + 1 + type];
    }
    return own;
  };

  // finish sums totals and sorts children. Small frames stand last.
  const finish = (g) => {
    g.total = Float64Array.from(g.own);
    g.children = g.fn.map(() => []);
    g.outer = [];
    g.all = 0;
    for (let n = g.fn.length - 1; n >= 0; n--) {
      if (g.caller[n] >= 0) g.total[g.caller[n]] += g.total[n];
      else g.all += g.total[n];
    }
    g.depth = g.fn.map(() => 0);
    for (let n = 0; n < g.fn.length; n++) {
      if (g.total[n] <= 0) continue;
      if (g.caller[n] >= 0) {
        g.children[g.caller[n]].push(n);
        g.depth[n] = g.depth[g.caller[n]] + 1;
      } else g.outer.push(n);
    }
    const name = (n) => functions[g.fn[n]].name;
    const order = view === 'name' ? (a, b) => (name(a) < name(b) ? -1 : name(a) > name(b) ? 1 : a - b) : (a, b) => g.total[b] - g.total[a] || a - b;
    for (const all of [g.outer, ...g.children]) all.sort(order);
    g.x = new Float64Array(g.fn.length);
    const place = (all, x) => {
      for (const n of all) {
        g.x[n] = x;
        x += g.total[n];
      }
    };
    place(g.outer, 0);
    g.order = [...g.outer];
    for (let i = 0; i < g.order.length; i++) {
      const n = g.order[i];
      place(g.children[n], g.x[n]);
      for (const c of g.children[n]) g.order.push(c);
    }
    return g;
  };

  // plain is the graph of callers and the functions that they called.
  const plain = () => {
    const g = { own: ownValues(), fn: [], caller: [] };
    for (let n = 0; n < count; n++) {
      g.fn.push(nodes[2 * n + 1]);
      g.caller.push(caller(n));
    }
    return finish(g);
  };

  // inverted is the graph of functions and their callers. It ends where it has many nodes.
  const inverted = () => {
    const own = ownValues();
    const g = { own: [], fn: [], caller: [] };
    const known = new Map();
    const most = 400000;
    const add = (up, fn) => {
      const key = up * functions.length + fn;
      let n = known.get(key);
      if (n === undefined && g.fn.length < most) {
        n = g.fn.length;
        known.set(key, n);
        g.fn.push(fn);
        g.caller.push(up);
        g.own.push(0);
      }
      return n;
    };
    for (let leaf = 0; leaf < count; leaf++) {
      if (!own[leaf]) continue;
      let to = add(-1, nodes[2 * leaf + 1]);
      if (to === undefined) continue;
      for (let n = caller(leaf); n >= 0; n = caller(n)) {
        const next = add(to, nodes[2 * n + 1]);
        if (next === undefined) break;
        to = next;
      }
      g.own[to] += own[leaf];
    }
    return finish(g);
  };

  const canvas = $('graph');
  const pen = canvas.getContext('2d');

  const range = () => (zoomed < 0 ? [0, graph.all] : [graph.x[zoomed], graph.x[zoomed] + graph.total[zoomed]]);

  // draw draws the frames that are wide enough to be seen.
  const draw = () => {
    const width = canvas.clientWidth;
    const dots = devicePixelRatio || 1;
    const [from, to] = range();
    const by = to > from ? width / (to - from) : 0;
    boxes = [];
    let rows = 1;
    for (const n of graph.order) {
      const x = Math.max((graph.x[n] - from) * by, 0);
      const w = Math.min((graph.x[n] + graph.total[n] - from) * by, width) - x;
      if (w < 0.4 || graph.depth[n] > 700) continue;
      boxes.push({ n, x, w, y: graph.depth[n] * row });
      rows = Math.max(rows, graph.depth[n] + 1);
    }
    const height = rows * row + 2;
    canvas.style.height = `${height}px`;
    canvas.width = Math.round(width * dots);
    canvas.height = Math.round(height * dots);
    pen.setTransform(dots, 0, 0, dots, 0, 0);
    pen.font = letters;
    pen.textBaseline = 'middle';
    const letter = pen.measureText('0123456789abcdefghijklmnopqrstuvwxyz').width / 36;
    const up = new Set();
    for (let n = zoomed; n >= 0; n = graph.caller[n]) up.add(n);
    const colors = getComputedStyle(document.documentElement);
    const edge = colors.getPropertyValue('--text');
    const mark = colors.getPropertyValue('--mark');
    for (const { n, x, w, y } of boxes) {
      const f = functions[graph.fn[n]];
      const is = found.has(graph.fn[n]);
      pen.globalAlpha = (up.has(n) && n !== zoomed) || (word && !is) ? 0.45 : 1;
      pen.fillStyle = is ? mark : f.color;
      pen.fillRect(x, y + 1, Math.max(w - (w > 3 ? 1 : 0), 0.4), row - 2);
      const most = Math.floor((w - 8) / letter);
      if (most >= 3) {
        pen.globalAlpha = 1;
        pen.fillStyle = is && !dark.matches ? '#ffffff' : (up.has(n) && n !== zoomed) || (word && !is) ? edge : '#1a1a1a';
        pen.fillText(f.name.length <= most ? f.name : `${f.name.slice(0, most - 1)}…`, x + 4, y + row / 2 + 1);
      }
      if (n === at) {
        pen.globalAlpha = 1;
        pen.strokeStyle = edge;
        pen.lineWidth = 2;
        pen.strokeRect(x + 1, y + 1, Math.max(w - 2, 1), row - 2);
      }
    }
    pen.globalAlpha = 1;
  };

  // say tells of a frame.
  const say = (n) => {
    if (n < 0) {
      $('said').textContent = '';
      return;
    }
    const f = functions[graph.fn[n]];
    $('said').textContent = `${f.name}\n${text(graph.total[n])} (${share(graph.total[n])}), self ${text(graph.own[n])} (${share(graph.own[n])})${f.file ? ` · ${f.file}` : ''}${f.module ? ` · ${f.module}` : ''}`;
  };

  const choose = (n) => {
    at = n;
    say(n);
    draw();
  };

  const zoom = (n) => {
    zoomed = n;
    $('reset').disabled = n < 0;
    draw();
  };

  const top = () => {
    const own = new Map();
    const total = new Map();
    const open = new Map(); // functions on the way to a node: recursion counts once
    const stack = [];
    const g = view === 'inverted' ? plain() : graph;
    const walk = [...g.outer].reverse().map((n) => [n, false]);
    while (walk.length) {
      const [n, done] = walk.pop();
      const fn = g.fn[n];
      if (done) {
        open.set(fn, open.get(fn) - 1);
        stack.pop();
        continue;
      }
      if (!open.get(fn)) total.set(fn, (total.get(fn) ?? 0) + g.total[n]);
      own.set(fn, (own.get(fn) ?? 0) + g.own[n]);
      open.set(fn, (open.get(fn) ?? 0) + 1);
      stack.push(n);
      walk.push([n, true]);
      for (const c of g.children[n]) walk.push([c, false]);
    }
    const all = [...total.keys()].filter((fn) => !word || found.has(fn));
    const by = { own: (a, b) => own.get(b) - own.get(a) || total.get(b) - total.get(a), total: (a, b) => total.get(b) - total.get(a) || own.get(b) - own.get(a),
      name: (a, b) => (functions[a].name < functions[b].name ? 1 : -1) }[sort];
    all.sort((a, b) => (rising ? -by(a, b) : by(a, b)) || a - b);
    const shown = all.slice(0, 200);
    $('top').replaceChildren(...shown.map((fn) => {
      const f = functions[fn];
      const line = document.createElement('tr');
      for (const v of [own.get(fn), total.get(fn)]) {
        const cell = line.insertCell();
        cell.className = 'number';
        cell.textContent = `${text(v)} (${share(v)})`;
      }
      const cell = line.insertCell();
      cell.className = 'name';
      const button = document.createElement('button');
      button.type = 'button';
      button.textContent = f.name;
      button.addEventListener('click', () => {
        $('find').value = f.name;
        search();
      });
      cell.append(button);
      if (f.file || f.module) {
        const small = document.createElement('small');
        small.textContent = [f.file, f.module].filter(Boolean).join(' · ');
        cell.append(small);
      }
      return line;
    }));
    $('more').textContent = all.length > shown.length ? `${(all.length - shown.length).toLocaleString('en')} functions more.` : all.length === 0 ? 'No function.' : '';
    for (const head of document.querySelectorAll('th')) {
      const is = head.firstElementChild.dataset.sort === sort;
      if (is) head.setAttribute('aria-sort', rising !== (sort === 'name') ? 'ascending' : 'descending');
      else head.removeAttribute('aria-sort');
    }
  };

  // search marks the functions that contain the word, and says their share: nested ones count once.
  const search = () => {
    word = $('find').value.trim().toLowerCase();
    found = new Set();
    if (word) {
      functions.forEach((f, i) => {
        if (`${f.name}\n${f.file ?? ''}\n${f.module ?? ''}`.toLowerCase().includes(word)) found.add(i);
      });
    }
    let sum = 0;
    const inside = new Uint8Array(graph.fn.length);
    for (const n of graph.order) {
      const up = graph.caller[n] >= 0 && inside[graph.caller[n]];
      inside[n] = up || found.has(graph.fn[n]) ? 1 : 0;
      if (inside[n] && !up) sum += graph.total[n];
    }
    $('matched').textContent = word ? `${found.size === 1 ? '1 function matches' : `${found.size.toLocaleString('en')} functions match`}, in ${share(sum)} of all: ${text(sum)}.` : '';
    draw();
    top();
  };

  const show = () => {
    graph = view === 'inverted' ? inverted() : plain();
    at = -1;
    zoomed = -1;
    $('reset').disabled = true;
    say(-1);
    const threads = thread < 0 ? `${data.threads.length.toLocaleString('en')} threads` : data.threads[thread];
    $('about').textContent = `${data.types[type].name}: ${text(graph.all)} in ${data.threads.length === 1 ? data.threads[0] : threads}.`;
    search();
  };

  const frameAt = (e) => {
    const box = canvas.getBoundingClientRect();
    const [x, y] = [e.clientX - box.left, e.clientY - box.top];
    return boxes.findLast((b) => y >= b.y && y < b.y + row && x >= b.x && x < b.x + b.w)?.n ?? -1;
  };
  canvas.addEventListener('click', (e) => {
    const n = frameAt(e);
    if (n < 0) return;
    at = n;
    say(n);
    zoom(n);
  });
  canvas.addEventListener('pointermove', (e) => {
    const n = frameAt(e);
    canvas.style.cursor = n < 0 ? 'default' : 'pointer';
    say(n < 0 ? at : n);
  });
  canvas.addEventListener('pointerleave', () => say(at));
  canvas.addEventListener('keydown', (e) => {
    if (e.ctrlKey || e.metaKey || e.altKey) return;
    const beside = (by) => {
      const all = at < 0 ? graph.outer : graph.caller[at] < 0 ? graph.outer : graph.children[graph.caller[at]];
      return all[all.indexOf(at) + by];
    };
    const heaviest = (all) => all.reduce((best, n) => (best === undefined || graph.total[n] > graph.total[best] ? n : best), undefined);
    const steps = {
      ArrowUp: () => (at < 0 ? undefined : graph.caller[at]), ArrowDown: () => heaviest(at < 0 ? graph.outer : graph.children[at]),
      ArrowLeft: () => beside(-1), ArrowRight: () => beside(1), Home: () => heaviest(graph.outer),
    };
    if (steps[e.key]) {
      const n = steps[e.key]();
      if (n !== undefined && n >= 0) choose(n);
    } else if (e.key === 'Enter' && at >= 0) zoom(at);
    else if (e.key === 'Escape' || e.key === 'Backspace') zoom(zoomed < 0 || e.key === 'Escape' ? -1 : graph.caller[zoomed]);
    else return;
    e.preventDefault();
  });
  addEventListener('keydown', (e) => {
    if (e.key !== '/' || e.target.matches('input, select')) return;
    e.preventDefault();
    $('find').focus();
  });
  $('reset').addEventListener('click', () => zoom(-1));
  $('controls').addEventListener('submit', (e) => e.preventDefault());
  $('find').addEventListener('input', search);
  $('thread').addEventListener('change', (e) => { thread = +e.target.value; show(); });
  $('type').addEventListener('change', (e) => { type = +e.target.value; show(); });
  $('view').addEventListener('change', (e) => { view = e.target.value; show(); });
  for (const button of document.querySelectorAll('th button')) {
    button.addEventListener('click', () => {
      rising = sort === button.dataset.sort && !rising;
      sort = button.dataset.sort;
      top();
    });
  }
  dark.addEventListener('change', draw);
  new ResizeObserver(draw).observe(canvas.parentElement);

  const option = (to, value, label) => to.append(new Option(label, value));
  if (data.threads.length !== 1) option($('thread'), -1, 'All threads');
  data.threads.forEach((name, i) => option($('thread'), i, name));
  data.types.forEach((k, i) => option($('type'), i, k.unit && k.unit !== 'count' ? `${k.name} (${k.unit})` : k.name));
  if (data.threads.length === 1) thread = 0;
  $('type').value = type;
  if (data.title) $('title').textContent = data.title;
  const notes = [...data.notes];
  if (data.folded) notes.push(`${data.folded.toLocaleString('en')} frames are too small to be shown. Their values stand in “(small frames)”.`);
  $('notes').hidden = notes.length === 0;
  $('notes').querySelector('ul').replaceChildren(...notes.map((note) => {
    const item = document.createElement('li');
    item.textContent = note;
    return item;
  }));
  show();
  document.querySelector('main').dataset.ready = 'yes';
})();
