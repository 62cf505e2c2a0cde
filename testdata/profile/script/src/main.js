import {Cart, discounts} from './cart.js';

function round(n) {
  const cart = new Cart();
  for (let i = 0; i < 30; i++) cart.add('thing ' + (n + i));
  let off = 0;
  for (const d of discounts.each(25)) off += d;
  return cart.total() - off;
}

globalThis.step('rounds', () => {
  for (let n = 0; n < 20; n++) round(n);
});
