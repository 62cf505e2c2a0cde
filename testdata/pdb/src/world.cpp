#include "inner.h"
namespace game {
struct World { int n; virtual int step(int k); virtual ~World(); template <class T> T grow(T t) { return t * n + twice(n); } };
int World::step(int k) { int s = 0; for (int i = 0; i < k; i++) s += grow(i) + grow((long long)i); return s; }
World::~World() { sink = n; }
static __attribute__((noinline)) int hidden(int x) {
  auto f = [&](int y) __attribute__((noinline)) { return x * y + twice(y); };
  return f(3) + f(4);
}
namespace { int anon(int x) { return outer(x) + 1; } }
}
int sink;
extern "C" void *memset(void *p, int c, unsigned long long n) { char *q = (char *)p; while (n--) *q++ = c; return p; }
void operator delete(void *, unsigned long long) {}
void operator delete(void *, unsigned) {}
extern "C" int start() {
  game::World w; w.n = sink;
  int r = w.step(7) + game::hidden(sink) + game::anon(sink);
  if (r > 100) sink = cold(r);
  return r + other(r);
}
