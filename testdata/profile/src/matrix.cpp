// Matrices, multiplied in a shared library.
#include <cstdio>
#include <vector>

#include "busy.h"
#include "kernel.h"

struct Matrix {
  explicit Matrix(size_t n) : n(n), cells(n * n) {}
  template <typename F>
  void fill(F f) {
    for (size_t i = 0; i < n; i++) {
      for (size_t j = 0; j < n; j++) cells[i * n + j] = f(i, j);
    }
  }
  size_t n;
  std::vector<double> cells;
};

__attribute__((noinline)) Matrix operator*(const Matrix& a, const Matrix& b) {
  Matrix c(a.n);
  kernel::multiply(a.cells.data(), b.cells.data(), c.cells.data(), a.n);
  return c;
}

__attribute__((noinline)) double hilbert(size_t n) {
  Matrix a(n), b(n);
  a.fill([](size_t i, size_t j) { return 1.0 / double(i + j + 1); });
  b.fill([](size_t i, size_t j) { return i == j ? 2.0 : 1.0 / double(i * j + 3); });
  for (int i = 0; i < 40; i++) a.fill([&](size_t x, size_t y) { return b.cells[x * n + y] / double(i + 2) + double(x % 7); });
  return kernel::trace((a * b).cells.data(), n);
}

int main(int argc, char** argv) {
  Busy busy(argc, argv);
  double sum = 0;
  while (busy.more()) sum += hilbert(96);
  std::printf("%f\n", sum);
}
