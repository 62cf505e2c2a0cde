// A module that traps in several ways, through imports, tables and functions of other units.
#include "app.h"

namespace app {

struct Shape {
  virtual int area(int scale) const = 0;
};

struct Square : Shape {
  int side;
  explicit Square(int s) : side(s) {}
  __attribute__((noinline)) int area(int scale) const override { return checked(side * side, scale); }
};

struct Disc : Shape {
  int radius;
  explicit Disc(int r) : radius(r) {}
  __attribute__((noinline)) int area(int scale) const override { return 3 * largest(radius * radius, scale); }
};

__attribute__((noinline)) int total(const Shape *const *shapes, int n, int scale) {
  int sum = 0;
  for (int i = 0; i < n; i++)
    sum += shapes[i]->area(scale);
  return sum;
}

__attribute__((noinline)) int draw(int scale) {
  Square square(7);
  Disc disc(3);
  const Shape *all[] = {&disc, &square};
  return total(all, 2, scale);
}

} // namespace app

extern "C" {

__attribute__((import_module("env"), import_name("note"))) int note(int value);

__attribute__((noinline)) static int back(int depth) {
  if (depth > 0)
    return back(depth - 1) + 1;
  return note(depth);
}

__attribute__((export_name("run"))) int run(int mode, int n) {
  switch (mode) {
  case 0: return app::draw(n);
  case 1: return back(n) + 2;
  case 2: return reads(n);
  default: return app::largest(app::draw(1), n);
  }
}

}
