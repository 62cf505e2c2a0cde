// A flame chart on a canvas: the calls of one thread by time and depth. Keys and pointer move it.
import { el } from './dom.js';
import { first, time } from './trace.js';

const row = 22; // pixels
const axis = 26;

export class Flame {
  // chosen(at) hears of the call that is chosen.
  constructor(names, chosen) {
    this.names = names;
    this.chosen = chosen;
    this.canvas = el('canvas', { class: 'flame', tabIndex: 0, role: 'application', 'aria-roledescription': 'flame chart',
      'aria-label': 'Calls by time. Arrow keys go from call to call, plus and minus zoom, Enter fills the width with the call, Escape shows all.' });
    this.canvas.addEventListener('keydown', (e) => this.key(e));
    this.canvas.addEventListener('wheel', (e) => this.wheel(e), { passive: false });
    this.canvas.addEventListener('pointerdown', (e) => this.down(e));
    this.canvas.addEventListener('pointermove', (e) => this.hover(e));
    this.canvas.addEventListener('dblclick', () => this.fit());
    new ResizeObserver(() => this.draw()).observe(this.canvas);
    matchMedia('(prefers-color-scheme: dark)').addEventListener('change', () => this.draw());
    this.path = new Set();
    this.match = null; // Set of names
  }

  show(thread) {
    this.thread = thread;
    this.begin = thread.start[0];
    this.end = Math.max(thread.last, this.begin + 1);
    this.canvas.style.height = `${Math.min(thread.levels.length, 400) * row + axis + 8}px`;
    this.at = 0;
    this.all();
  }

  all() {
    [this.from, this.to] = [this.begin, this.end];
    this.draw();
  }

  // choose chooses a call, and moves there if it is out of sight.
  choose(at) {
    this.at = at;
    const { start, stop } = this.thread;
    const width = this.to - this.from;
    if (start[at] > this.to || stop[at] < this.from) this.move((start[at] + stop[at]) / 2 - width / 2, width);
    this.draw();
    this.chosen(at);
  }

  // fit fills the width with the chosen call.
  fit() {
    const { start, stop } = this.thread;
    const width = Math.max(stop[this.at] - start[this.at], 10) * 1.02;
    this.move((start[this.at] + stop[this.at]) / 2 - width / 2, width);
  }

  move(from, width) {
    width = Math.min(Math.max(width, 10), this.end - this.begin);
    this.from = Math.min(Math.max(from, this.begin), this.end - width);
    this.to = this.from + width;
    this.draw();
  }

  zoom(by, around = (this.thread.start[this.at] + this.thread.stop[this.at]) / 2) {
    const at = Math.min(Math.max(around, this.from), this.to);
    this.move(at - (at - this.from) * by, (this.to - this.from) * by);
  }

  key(e) {
    if (e.ctrlKey || e.metaKey || e.altKey) return;
    const t = this.thread;
    const level = t.levels[t.depth[this.at]];
    const i = first(level, (c) => c >= this.at);
    const steps = {
      ArrowLeft: () => level[i - 1], ArrowRight: () => level[i + 1], ArrowUp: () => t.parent[this.at],
      ArrowDown: () => t.children(this.at).reduce((best, c) => (best === undefined || t.took(c) > t.took(best) ? c : best), undefined),
      Home: () => 0, End: () => t.levels[0].at(-1),
    };
    if (steps[e.key]) {
      const to = steps[e.key]();
      if (to !== undefined && to >= 0) this.choose(to);
    } else if (e.key === '+' || e.key === '=') this.zoom(0.5);
    else if (e.key === '-') this.zoom(2);
    else if (e.key === 'Enter') this.fit();
    else if (e.key === 'Escape') this.all();
    else return;
    e.preventDefault();
  }

  wheel(e) {
    const width = this.to - this.from;
    if (e.ctrlKey || e.metaKey) this.zoom(Math.exp(e.deltaY / 200), this.time(e.offsetX));
    else if (Math.abs(e.deltaX) > Math.abs(e.deltaY) || e.shiftKey) this.move(this.from + (e.deltaX || e.deltaY) / this.canvas.clientWidth * width, width);
    else return; // the page scrolls
    e.preventDefault();
  }

  down(e) {
    if (e.button !== 0) return;
    const from = this.from;
    const x = e.offsetX;
    let dragged = false;
    this.canvas.setPointerCapture(e.pointerId);
    const drag = (m) => {
      dragged ||= Math.abs(m.offsetX - x) > 3;
      if (dragged) this.move(from - (m.offsetX - x) / this.canvas.clientWidth * (this.to - this.from), this.to - this.from);
    };
    this.canvas.addEventListener('pointermove', drag);
    this.canvas.addEventListener('pointerup', (u) => {
      this.canvas.removeEventListener('pointermove', drag);
      const at = this.hit(u.offsetX, u.offsetY);
      if (!dragged && at >= 0) this.choose(at);
    }, { once: true });
  }

  hover(e) {
    const at = this.hit(e.offsetX, e.offsetY);
    this.canvas.title = at < 0 ? '' : `${this.names[this.thread.call[at]].text}\n${time(this.thread.took(at))}`;
  }

  time(x) {
    return this.from + x / this.canvas.clientWidth * (this.to - this.from);
  }

  // hit returns the call at a point, -1.
  hit(x, y) {
    const level = this.thread?.levels[Math.floor((y - axis) / row)];
    if (!level || y < axis) return -1;
    const t = this.time(x);
    const slack = (this.to - this.from) / this.canvas.clientWidth;
    const at = level[first(level, (c) => this.thread.stop[c] >= t - slack)];
    return at !== undefined && this.thread.start[at] <= t + slack ? at : -1;
  }

  draw() {
    cancelAnimationFrame(this.next);
    this.next = requestAnimationFrame(() => this.paint());
  }

  paint() {
    const { canvas, thread } = this;
    if (!thread || canvas.clientWidth === 0) return;
    const [width, height] = [canvas.clientWidth, canvas.clientHeight];
    const dense = window.devicePixelRatio || 1;
    canvas.width = Math.round(width * dense);
    canvas.height = Math.round(height * dense);
    const to = canvas.getContext('2d');
    to.scale(dense, dense);
    const style = getComputedStyle(canvas);
    const color = (name) => style.getPropertyValue(`--${name}`).trim();
    const colors = { app: color('app'), library: color('library'), system: color('system') };
    to.font = `12px ${color('mono')}`;
    to.textBaseline = 'middle';
    this.scale(to, width, height, color);
    const perPixel = (this.to - this.from) / width;
    const text = color('on-accent');
    thread.levels.forEach((level, depth) => {
      const y = axis + depth * row;
      if (y > height) return;
      for (let i = first(level, (c) => thread.stop[c] > this.from); i < level.length;) {
        const at = level[i];
        if (thread.start[at] > this.to) break;
        const x0 = Math.max((thread.start[at] - this.from) / perPixel, 0);
        const x1 = Math.min((thread.stop[at] - this.from) / perPixel, width);
        const wide = Math.max(x1 - x0, 1);
        const name = this.names[thread.call[at]];
        const dim = this.match && !this.match.has(thread.call[at]);
        to.globalAlpha = dim ? 0.25 : 1;
        to.fillStyle = colors[name.origin];
        to.fillRect(x0, y, wide > 3 ? wide - 1 : wide, row - 2);
        if (wide > 34) {
          to.globalAlpha = 1;
          to.fillStyle = dim ? color('text') : text;
          to.fillText(fits(name.text, (wide - 10) / 7.3), x0 + 5, y + row / 2 - 0.5);
        }
        to.globalAlpha = 1;
        if (this.path.has(at)) {
          to.fillStyle = color('bad');
          to.fillRect(x0, y + row - 4, wide, 3);
        }
        if (at === this.at) {
          to.strokeStyle = color('text');
          to.lineWidth = 2.5;
          to.strokeRect(x0 + 1, y + 1, Math.max(wide - 3, 2), row - 4);
        }
        if (wide > 1) i++;
        else { // calls narrower than a pixel share it
          const next = thread.start[at] + perPixel;
          i = Math.max(i + 1, first(level, (c) => thread.stop[c] > next));
        }
      }
    });
  }

  // scale draws the times above.
  scale(to, width, height, color) {
    const about = (this.to - this.from) / Math.max(width / 130, 1);
    const ten = 10 ** Math.floor(Math.log10(about));
    const step = [1, 2, 5, 10].map((n) => n * ten).find((n) => n >= about);
    to.fillStyle = color('soft');
    for (let t = Math.ceil((this.from - this.begin) / step) * step; t <= this.to - this.begin; t += step) {
      const x = (t + this.begin - this.from) / (this.to - this.from) * width;
      to.globalAlpha = 0.35;
      to.fillRect(x, 0, 1, height);
      to.globalAlpha = 1;
      to.fillText(time(t), x + 4, axis / 2);
    }
  }
}

// fits shortens a method's name to so many characters: types first, then packages.
function fits(text, most) {
  most = Math.floor(most);
  if (text.length <= most) return text;
  const plain = text.replace(/\(.*$/, '').replace(/^.* /, '');
  if (plain.length <= most) return plain;
  const short = plain.split('.').slice(-2).join('.');
  return short.length <= most ? short : short.slice(0, Math.max(most - 1, 1)) + '…';
}
