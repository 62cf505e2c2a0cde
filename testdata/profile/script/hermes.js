// What Hermes compiles without Babel: no classes, no modules.
(function () {
  function isPrime(n) {
    for (var i = 2; i * i <= n; i++) {
      if (n % i === 0) return false;
    }
    return n > 1;
  }

  var nextPrime = function (from) {
    var n = from + 1;
    while (!isPrime(n)) n++;
    return n;
  };

  function Cart() {
    this.items = [];
  }

  Cart.prototype.add = function (price) {
    this.items.push(price);
  };

  Cart.prototype.total = function () {
    return this.items.map(price => nextPrime(price)).reduce(function sum(a, b) {
      return a + work(b);
    }, 0);
  };

  function work(n) {
    var sum = 0;
    for (var left = 0; left < 2000; left++) sum += Math.sin(n + left);
    return sum;
  }

  function round(n) {
    var cart = new Cart();
    for (var i = 0; i < 40; i++) cart.add(1000003 * (n + i + 1));
    return cart.total();
  }

  var end = Date.now() + 4000;
  for (var n = 0; Date.now() < end; n++) round(n % 50);
})();
