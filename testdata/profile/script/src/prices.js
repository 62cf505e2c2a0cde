// Prices of things, slowly: each function takes long enough to be found by a profiler.
export function isPrime(n) {
  for (let i = 2; i * i <= n; i++) {
    if (n % i === 0) return false;
  }
  return n > 1;
}

export const nextPrime = (from) => {
  let n = from + 1;
  while (!isPrime(n)) n++;
  return n;
};

export class Price {
  #cents;

  constructor(cents) {
    this.#cents = cents;
  }

  get euros() {
    let sum = 0;
    for (let i = 0; i < 400; i++) sum += Math.sqrt(this.#cents + i);
    return sum / 100;
  }

  static parse(text) {
    return new Price(hash(text));
  }
}

function hash(text) {
  let h = 7;
  for (let round = 0; round < 40; round++) {
    for (const c of text) h = (h * 31 + c.charCodeAt(0)) >>> 0;
  }
  return h % 1000;
}
