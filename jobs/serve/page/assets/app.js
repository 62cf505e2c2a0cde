// The first module: it shows the page that the path names, and marks its link.
import { el, notice } from './dom.js';

const main = document.getElementById('main');
const [, first] = location.pathname.split('/');
const here = `/${first}`; // a run has a path below its page
const name = first || 'crash';

for (const link of document.querySelectorAll('.top nav a')) {
  if (link.pathname === here) link.setAttribute('aria-current', 'page');
}
document.querySelector('.skip').addEventListener('click', (e) => {
  e.preventDefault(); // the fragment belongs to the page's state
  main.focus();
});

try {
  const page = await import(`./${name}.js`);
  document.title = `${page.title} · symlake`;
  await page.show(main);
  main.dataset.ready = 'yes';
} catch (e) {
  main.replaceChildren(el('h1', {}, 'This page does not load'), notice('bad', e.message));
}
