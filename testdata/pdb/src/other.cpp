#include "inner.h"
struct Shape { virtual int area() { return twice(sink); } int w; };
static Shape s;
__attribute__((noinline)) static int loop(int n) { int r = 0; while (n-- > 0) r += outer(n) + s.area(); return r; }
int other(int x) {
#include "other.inc"
  return loop(x) + inner(x);
}
