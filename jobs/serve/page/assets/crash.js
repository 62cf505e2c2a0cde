// The page at /: paste a crash and read it.
import { el } from './dom.js';

export const title = 'Read a crash';

export function show(main) {
  main.append(el('h1', {}, 'Read a crash'));
}
