import {Price, nextPrime} from './prices.js';

export class Cart {
  items = [];

  add(name) {
    this.items.push({name, price: Price.parse(name)});
  }

  total() {
    return this.items.map(item => item.price.euros).reduce(function sum(a, b) {
      return a + b + work(b);
    }, 0);
  }
}

const work = n => {
  let left = 300, sum = 0;
  while (left-- > 0) sum += Math.sin(n + left);
  return sum;
};

export const discounts = {
  prime(from) {
    return nextPrime(from * 10007);
  },
  *each(count) {
    for (let i = 1; i <= count; i++) yield discounts.prime(i);
  },
};
