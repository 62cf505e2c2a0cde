function price(item) {
  if (item < 0) {
    throw new RangeError('price ' + item);
  }
  return item * 2;
}

function Cart(items) {
  this.items = items;
}

Cart.prototype.total = function total() {
  return this.items.map(item => price(item)).reduce((a, b) => a + b, 0);
};

const job = n => {
  const inner = function inner() { throw new TypeError('job ' + n); };
  return inner();
};

exports.Cart = Cart;
exports.job = job;
