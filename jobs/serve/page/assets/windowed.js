// A list of any length of which the browser holds what is near the window.
import { el } from './dom.js';

const perChunk = 60;
const near = '1200px 0px';

// Windowed fills an element with items. render(item, index) returns an element, which is dropped and made anew as the
// reader scrolls: state belongs to the item. guess(item) is about its height in pixels.
export class Windowed {
  constructor(box, render, guess) {
    this.box = box;
    this.render = render;
    this.guess = guess;
    this.chunks = [];
    this.size = 0;
    this.watch = new IntersectionObserver((seen) => {
      for (const one of seen) this.show(one.target.chunk, one.isIntersecting);
    }, { rootMargin: near });
  }

  // add puts items behind those that are there.
  add(items) {
    for (const item of items) {
      let last = this.chunks.at(-1);
      if (!last || last.items.length === perChunk) {
        last = { items: [], from: this.size, height: 0, shown: false, box: el('div', { class: 'chunk' }) };
        last.box.chunk = last;
        this.chunks.push(last);
        this.box.append(last.box);
        this.watch.observe(last.box);
      }
      last.items.push(item);
      last.height += this.guess(item);
      if (last.shown) last.box.append(this.render(item, last.from + last.items.length - 1));
      else last.box.style.minHeight = `${last.height}px`;
      this.size++;
    }
  }

  show(chunk, visible) {
    if (visible === chunk.shown) return;
    if (!visible) {
      if (chunk.box.contains(document.activeElement)) return; // its reader would lose the place
      chunk.height = chunk.box.offsetHeight;
      chunk.box.style.minHeight = `${chunk.height}px`;
      chunk.box.replaceChildren();
    } else {
      chunk.box.replaceChildren(...chunk.items.map((item, i) => this.render(item, chunk.from + i)));
      chunk.box.style.minHeight = '';
    }
    chunk.shown = visible;
  }

  // end forgets the list. Its element may be dropped.
  end() {
    this.watch.disconnect();
  }
}
