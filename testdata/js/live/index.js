// The program that the live test bundles and runs: each way of throwing prints its stack.
const {Cart, job} = require('./cart');

const ways = {
  sum() { return new Cart([1, 2, -3]).total(); },
  callback() { return [3].map(job); },
  undefinedCall() { const nothing = {}; return nothing.here.there(); },
};

const say = typeof print === 'function' ? print : console.log;
for (const name of Object.keys(ways)) {
  try {
    ways[name]();
  } catch (e) {
    say('== ' + name + '\n' + e.stack);
  }
}
