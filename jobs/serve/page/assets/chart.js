// Charts of runs, drawn by hand. A chart is one picture for people who do not see it, with a summary; the table of the
// same runs is its equivalent in text.
import { el, svg } from './dom.js';

const width = 360, height = 150, left = 60, bottom = 22, top = 8;

// steps returns the marks of an axis from 0 to at least most. binary: steps are powers of two, for bytes.
function steps(most, binary) {
  if (most <= 0) return [0, 1];
  let step;
  if (binary) {
    step = 2 ** Math.ceil(Math.log2(most / 4));
  } else {
    const ten = 10 ** Math.floor(Math.log10(most / 3));
    step = [1, 2, 5, 10].map((n) => n * ten).find((s) => s * 4 >= most);
  }
  const marks = [];
  for (let v = 0; ; v += step) {
    marks.push(v);
    if (v >= most) return marks;
  }
}

// chart returns a figure of points {label, value, mark}, oldest first. o has: title, remark, write (value => text),
// line (a line instead of bars), kind (class of bars), binary, whole (no marks between whole numbers), summary.
export function chart(points, o) {
  const most = Math.max(0, ...points.map((p) => p.value));
  let marks = steps(most, o.binary);
  if (o.whole) marks = marks.filter((m) => Number.isInteger(m));
  const end = marks[marks.length - 1];
  const y = (v) => top + (height - top - bottom) * (1 - v / end);
  const room = (width - left - 6) / Math.max(points.length, 1);
  const x = (i) => left + room * (i + 0.5);

  const parts = marks.flatMap((m) => [
    svg('line', { x1: left, x2: width, y1: y(m), y2: y(m), class: m === 0 ? 'base' : '' }),
    svg('text', { x: left - 8, y: y(m) + 4, 'text-anchor': 'end' }, o.write(m)),
  ]);
  if (o.line && points.length > 1) {
    parts.push(svg('path', { d: points.map((p, i) => `${i ? 'L' : 'M'}${x(i).toFixed(1)} ${y(p.value).toFixed(1)}`).join('') }));
  }
  points.forEach((p, i) => {
    const g = svg('g', {}, svg('title', {}, `${p.label}: ${o.write(p.value)}`),
      svg('rect', { class: 'hit', x: x(i) - room / 2, y: top, width: room, height: height - top - bottom }));
    if (o.line) g.append(svg('circle', { cx: x(i), cy: y(p.value), r: points.length > 40 ? 2 : 3 }));
    else if (p.value > 0) {
      const bar = Math.min(room * 0.72, 22), h = Math.max(1.5, y(0) - y(p.value));
      g.append(svg('rect', { class: o.kind ?? '', x: x(i) - bar / 2, y: y(0) - h, width: bar, height: h, rx: Math.min(2, bar / 4) }));
    }
    parts.push(g);
  });
  if (points.length) {
    parts.push(svg('text', { x: left, y: height - 5 }, points[0].mark));
    if (points.length > 1) parts.push(svg('text', { x: width, y: height - 5, 'text-anchor': 'end' }, points[points.length - 1].mark));
  }
  const summary = `${o.title}. ${o.summary}`;
  return el('figure', { class: 'card' },
    el('figcaption', {}, o.title, el('small', {}, o.remark)),
    svg('svg', { class: 'chart', viewBox: `0 0 ${width} ${height}`, role: 'img', 'aria-label': summary }, ...parts));
}
