// Made by make.py.
extern "C" int backtrace(void **pcs, int most);
extern "C" int printf(const char *form, ...);
extern char __executable_start;
volatile int sink;

static __attribute__((noinline)) void crash(int site) {
  void *pcs[64];
  int n = backtrace(pcs, 64);
  printf("{\"site\":%d,\"frame0\":\"return\",\"frames\":[", site);
  const char *between = "";
  for (int i = 1; i < n; i++) {
    unsigned long at = (char *)pcs[i] - &__executable_start;
    if (at > 1ul << 24) break; // the C library
    printf("%s{\"artifact\":\"sites\",\"address\":\"+0x%lx\"}", between, at);
    between = ",";
  }
  printf("]}\n");
  sink = sink + 1;
}

template <class F> struct Stored;
template <class R, class A> struct Stored<R(A)> {
  struct Base { virtual R call(A) { return R(); } };
  template <class F> struct Held : Base { F f; Held(F g) : f(g) {} R call(A a) override { R r = f(a); sink = r; return r; } };
  Base *base = nullptr;
  R operator()(A a) const { R r = base->call(a); sink = r; return r; }
};
template <class T, class F> void each(T *from, T *to, F f) { for (; from != to; ++from) { f(*from); sink = sink + 1; } }

namespace shop {
namespace unit0 {
static int step(int n) { sink = sink + n; if (n == 0) crash(0); sink = sink + 1; return n + sink; }
namespace { int hidden(int n) { int r = step(n); sink = r; return r * 2; } }
int run(int n) { int r = hidden(n) + 1; sink = r; return r; }
}
namespace unit1 {
static int step(int n) { sink = sink + n; if (n == 1) crash(1); sink = sink + 1; return n + sink; }
struct Cart { int total(int n) { int r = step(n) + 3; sink = r; return r; } int pay(int n) { int r = total(n) * 2; sink = r; return r; } };
int run(int n) { Cart c; int r = c.pay(n); sink = r; return r + 1; }
}
namespace unit2 {
static int step(int n) { sink = sink + n; if (n == 2) crash(2); sink = sink + 1; return n + sink; }
template <class T> struct Box { T v; T open(T n) { T r = step(n) + v; sink = r; return r; } };
template <class T> T twice(T n) { Box<T> b{n}; T r = b.open(n); sink = r; return r * 2; }
int run(int n) { int r = twice<int>(n); sink = r; return r; }
}
namespace unit3 {
static int step(int n) { sink = sink + n; if (n == 3) crash(3); sink = sink + 1; return n + sink; }
int run(int n) { auto f = [n](int m) { int r = step(n) + m; sink = r; return r; }; int r = f(sink); sink = r; return r + 2; }
}
namespace unit4 {
static int step(int n) { sink = sink + n; if (n == 4) crash(4); sink = sink + 1; return n + sink; }
struct Shape { virtual int area(int n) { return n; } };
struct Disc : Shape { int area(int n) override { int r = step(n) * 3; sink = r; return r; } };
struct Rect : Shape { int area(int n) override { sink = n; return n; } };
Disc disc; Rect rect; Shape *volatile shapes[] = {&disc, &rect};
int run(int n) { int r = shapes[sink == -1]->area(n); sink = r; return r; }
}
namespace unit5 {
static int step(int n) { sink = sink + n; if (n == 5) crash(5); sink = sink + 1; return n + sink; }
int run(int n) { int v[3] = {n, n, n}; int t = 0; each(v, v + 3, [&](int x) { t += step(x); sink = t; }); return t; }
}
namespace unit6 {
static int step(int n) { sink = sink + n; if (n == 6) crash(6); sink = sink + 1; return n + sink; }
int run(int n) { auto f = [](int m) { int r = step(m) + 1; sink = r; return r; }; Stored<int(int)>::Held<decltype(f)> h(f);
  Stored<int(int)> s; s.base = &h; int r = s(n); sink = r; return r; }
}
namespace unit7 {
static int step(int n) { sink = sink + n; if (n == 7) crash(7); sink = sink + 1; return n + sink; }
static int deep(int n, int d) { if (d == 0) { int r = step(n); sink = r; return r; } int r = deep(n, d - 1) + d; sink = r; return r; }
int run(int n) { int r = deep(n, 3); sink = r; return r; }
}
namespace unit8 {
static int step(int n) { sink = sink + n; if (n == 8) crash(8); sink = sink + 1; return n + sink; }
namespace { int hidden(int n) { int r = step(n); sink = r; return r * 2; } }
int run(int n) { int r = hidden(n) + 1; sink = r; return r; }
}
namespace unit9 {
static int step(int n) { sink = sink + n; if (n == 9) crash(9); sink = sink + 1; return n + sink; }
struct Cart { int total(int n) { int r = step(n) + 3; sink = r; return r; } int pay(int n) { int r = total(n) * 2; sink = r; return r; } };
int run(int n) { Cart c; int r = c.pay(n); sink = r; return r + 1; }
}
namespace unit10 {
static int step(int n) { sink = sink + n; if (n == 10) crash(10); sink = sink + 1; return n + sink; }
template <class T> struct Box { T v; T open(T n) { T r = step(n) + v; sink = r; return r; } };
template <class T> T twice(T n) { Box<T> b{n}; T r = b.open(n); sink = r; return r * 2; }
int run(int n) { int r = twice<int>(n); sink = r; return r; }
}
namespace unit11 {
static int step(int n) { sink = sink + n; if (n == 11) crash(11); sink = sink + 1; return n + sink; }
int run(int n) { auto f = [n](int m) { int r = step(n) + m; sink = r; return r; }; int r = f(sink); sink = r; return r + 2; }
}
namespace unit12 {
static int step(int n) { sink = sink + n; if (n == 12) crash(12); sink = sink + 1; return n + sink; }
struct Shape { virtual int area(int n) { return n; } };
struct Disc : Shape { int area(int n) override { int r = step(n) * 3; sink = r; return r; } };
struct Rect : Shape { int area(int n) override { sink = n; return n; } };
Disc disc; Rect rect; Shape *volatile shapes[] = {&disc, &rect};
int run(int n) { int r = shapes[sink == -1]->area(n); sink = r; return r; }
}
namespace unit13 {
static int step(int n) { sink = sink + n; if (n == 13) crash(13); sink = sink + 1; return n + sink; }
int run(int n) { int v[3] = {n, n, n}; int t = 0; each(v, v + 3, [&](int x) { t += step(x); sink = t; }); return t; }
}
namespace unit14 {
static int step(int n) { sink = sink + n; if (n == 14) crash(14); sink = sink + 1; return n + sink; }
int run(int n) { auto f = [](int m) { int r = step(m) + 1; sink = r; return r; }; Stored<int(int)>::Held<decltype(f)> h(f);
  Stored<int(int)> s; s.base = &h; int r = s(n); sink = r; return r; }
}
namespace unit15 {
static int step(int n) { sink = sink + n; if (n == 15) crash(15); sink = sink + 1; return n + sink; }
static int deep(int n, int d) { if (d == 0) { int r = step(n); sink = r; return r; } int r = deep(n, d - 1) + d; sink = r; return r; }
int run(int n) { int r = deep(n, 3); sink = r; return r; }
}
namespace unit16 {
static int step(int n) { sink = sink + n; if (n == 16) crash(16); sink = sink + 1; return n + sink; }
namespace { int hidden(int n) { int r = step(n); sink = r; return r * 2; } }
int run(int n) { int r = hidden(n) + 1; sink = r; return r; }
}
namespace unit17 {
static int step(int n) { sink = sink + n; if (n == 17) crash(17); sink = sink + 1; return n + sink; }
struct Cart { int total(int n) { int r = step(n) + 3; sink = r; return r; } int pay(int n) { int r = total(n) * 2; sink = r; return r; } };
int run(int n) { Cart c; int r = c.pay(n); sink = r; return r + 1; }
}
namespace unit18 {
static int step(int n) { sink = sink + n; if (n == 18) crash(18); sink = sink + 1; return n + sink; }
template <class T> struct Box { T v; T open(T n) { T r = step(n) + v; sink = r; return r; } };
template <class T> T twice(T n) { Box<T> b{n}; T r = b.open(n); sink = r; return r * 2; }
int run(int n) { int r = twice<int>(n); sink = r; return r; }
}
namespace unit19 {
static int step(int n) { sink = sink + n; if (n == 19) crash(19); sink = sink + 1; return n + sink; }
int run(int n) { auto f = [n](int m) { int r = step(n) + m; sink = r; return r; }; int r = f(sink); sink = r; return r + 2; }
}
namespace unit20 {
static int step(int n) { sink = sink + n; if (n == 20) crash(20); sink = sink + 1; return n + sink; }
struct Shape { virtual int area(int n) { return n; } };
struct Disc : Shape { int area(int n) override { int r = step(n) * 3; sink = r; return r; } };
struct Rect : Shape { int area(int n) override { sink = n; return n; } };
Disc disc; Rect rect; Shape *volatile shapes[] = {&disc, &rect};
int run(int n) { int r = shapes[sink == -1]->area(n); sink = r; return r; }
}
namespace unit21 {
static int step(int n) { sink = sink + n; if (n == 21) crash(21); sink = sink + 1; return n + sink; }
int run(int n) { int v[3] = {n, n, n}; int t = 0; each(v, v + 3, [&](int x) { t += step(x); sink = t; }); return t; }
}
namespace unit22 {
static int step(int n) { sink = sink + n; if (n == 22) crash(22); sink = sink + 1; return n + sink; }
int run(int n) { auto f = [](int m) { int r = step(m) + 1; sink = r; return r; }; Stored<int(int)>::Held<decltype(f)> h(f);
  Stored<int(int)> s; s.base = &h; int r = s(n); sink = r; return r; }
}
namespace unit23 {
static int step(int n) { sink = sink + n; if (n == 23) crash(23); sink = sink + 1; return n + sink; }
static int deep(int n, int d) { if (d == 0) { int r = step(n); sink = r; return r; } int r = deep(n, d - 1) + d; sink = r; return r; }
int run(int n) { int r = deep(n, 3); sink = r; return r; }
}
namespace unit24 {
static int step(int n) { sink = sink + n; if (n == 24) crash(24); sink = sink + 1; return n + sink; }
namespace { int hidden(int n) { int r = step(n); sink = r; return r * 2; } }
int run(int n) { int r = hidden(n) + 1; sink = r; return r; }
}
namespace unit25 {
static int step(int n) { sink = sink + n; if (n == 25) crash(25); sink = sink + 1; return n + sink; }
struct Cart { int total(int n) { int r = step(n) + 3; sink = r; return r; } int pay(int n) { int r = total(n) * 2; sink = r; return r; } };
int run(int n) { Cart c; int r = c.pay(n); sink = r; return r + 1; }
}
namespace unit26 {
static int step(int n) { sink = sink + n; if (n == 26) crash(26); sink = sink + 1; return n + sink; }
template <class T> struct Box { T v; T open(T n) { T r = step(n) + v; sink = r; return r; } };
template <class T> T twice(T n) { Box<T> b{n}; T r = b.open(n); sink = r; return r * 2; }
int run(int n) { int r = twice<int>(n); sink = r; return r; }
}
namespace unit27 {
static int step(int n) { sink = sink + n; if (n == 27) crash(27); sink = sink + 1; return n + sink; }
int run(int n) { auto f = [n](int m) { int r = step(n) + m; sink = r; return r; }; int r = f(sink); sink = r; return r + 2; }
}
namespace unit28 {
static int step(int n) { sink = sink + n; if (n == 28) crash(28); sink = sink + 1; return n + sink; }
struct Shape { virtual int area(int n) { return n; } };
struct Disc : Shape { int area(int n) override { int r = step(n) * 3; sink = r; return r; } };
struct Rect : Shape { int area(int n) override { sink = n; return n; } };
Disc disc; Rect rect; Shape *volatile shapes[] = {&disc, &rect};
int run(int n) { int r = shapes[sink == -1]->area(n); sink = r; return r; }
}
namespace unit29 {
static int step(int n) { sink = sink + n; if (n == 29) crash(29); sink = sink + 1; return n + sink; }
int run(int n) { int v[3] = {n, n, n}; int t = 0; each(v, v + 3, [&](int x) { t += step(x); sink = t; }); return t; }
}
namespace unit30 {
static int step(int n) { sink = sink + n; if (n == 30) crash(30); sink = sink + 1; return n + sink; }
int run(int n) { auto f = [](int m) { int r = step(m) + 1; sink = r; return r; }; Stored<int(int)>::Held<decltype(f)> h(f);
  Stored<int(int)> s; s.base = &h; int r = s(n); sink = r; return r; }
}
namespace unit31 {
static int step(int n) { sink = sink + n; if (n == 31) crash(31); sink = sink + 1; return n + sink; }
static int deep(int n, int d) { if (d == 0) { int r = step(n); sink = r; return r; } int r = deep(n, d - 1) + d; sink = r; return r; }
int run(int n) { int r = deep(n, 3); sink = r; return r; }
}
namespace unit32 {
static int step(int n) { sink = sink + n; if (n == 32) crash(32); sink = sink + 1; return n + sink; }
namespace { int hidden(int n) { int r = step(n); sink = r; return r * 2; } }
int run(int n) { int r = hidden(n) + 1; sink = r; return r; }
}
namespace unit33 {
static int step(int n) { sink = sink + n; if (n == 33) crash(33); sink = sink + 1; return n + sink; }
struct Cart { int total(int n) { int r = step(n) + 3; sink = r; return r; } int pay(int n) { int r = total(n) * 2; sink = r; return r; } };
int run(int n) { Cart c; int r = c.pay(n); sink = r; return r + 1; }
}
namespace unit34 {
static int step(int n) { sink = sink + n; if (n == 34) crash(34); sink = sink + 1; return n + sink; }
template <class T> struct Box { T v; T open(T n) { T r = step(n) + v; sink = r; return r; } };
template <class T> T twice(T n) { Box<T> b{n}; T r = b.open(n); sink = r; return r * 2; }
int run(int n) { int r = twice<int>(n); sink = r; return r; }
}
namespace unit35 {
static int step(int n) { sink = sink + n; if (n == 35) crash(35); sink = sink + 1; return n + sink; }
int run(int n) { auto f = [n](int m) { int r = step(n) + m; sink = r; return r; }; int r = f(sink); sink = r; return r + 2; }
}
namespace unit36 {
static int step(int n) { sink = sink + n; if (n == 36) crash(36); sink = sink + 1; return n + sink; }
struct Shape { virtual int area(int n) { return n; } };
struct Disc : Shape { int area(int n) override { int r = step(n) * 3; sink = r; return r; } };
struct Rect : Shape { int area(int n) override { sink = n; return n; } };
Disc disc; Rect rect; Shape *volatile shapes[] = {&disc, &rect};
int run(int n) { int r = shapes[sink == -1]->area(n); sink = r; return r; }
}
namespace unit37 {
static int step(int n) { sink = sink + n; if (n == 37) crash(37); sink = sink + 1; return n + sink; }
int run(int n) { int v[3] = {n, n, n}; int t = 0; each(v, v + 3, [&](int x) { t += step(x); sink = t; }); return t; }
}
namespace unit38 {
static int step(int n) { sink = sink + n; if (n == 38) crash(38); sink = sink + 1; return n + sink; }
int run(int n) { auto f = [](int m) { int r = step(m) + 1; sink = r; return r; }; Stored<int(int)>::Held<decltype(f)> h(f);
  Stored<int(int)> s; s.base = &h; int r = s(n); sink = r; return r; }
}
namespace unit39 {
static int step(int n) { sink = sink + n; if (n == 39) crash(39); sink = sink + 1; return n + sink; }
static int deep(int n, int d) { if (d == 0) { int r = step(n); sink = r; return r; } int r = deep(n, d - 1) + d; sink = r; return r; }
int run(int n) { int r = deep(n, 3); sink = r; return r; }
}
namespace unit40 {
static int step(int n) { sink = sink + n; if (n == 40) crash(40); sink = sink + 1; return n + sink; }
namespace { int hidden(int n) { int r = step(n); sink = r; return r * 2; } }
int run(int n) { int r = hidden(n) + 1; sink = r; return r; }
}
namespace unit41 {
static int step(int n) { sink = sink + n; if (n == 41) crash(41); sink = sink + 1; return n + sink; }
struct Cart { int total(int n) { int r = step(n) + 3; sink = r; return r; } int pay(int n) { int r = total(n) * 2; sink = r; return r; } };
int run(int n) { Cart c; int r = c.pay(n); sink = r; return r + 1; }
}
namespace unit42 {
static int step(int n) { sink = sink + n; if (n == 42) crash(42); sink = sink + 1; return n + sink; }
template <class T> struct Box { T v; T open(T n) { T r = step(n) + v; sink = r; return r; } };
template <class T> T twice(T n) { Box<T> b{n}; T r = b.open(n); sink = r; return r * 2; }
int run(int n) { int r = twice<int>(n); sink = r; return r; }
}
namespace unit43 {
static int step(int n) { sink = sink + n; if (n == 43) crash(43); sink = sink + 1; return n + sink; }
int run(int n) { auto f = [n](int m) { int r = step(n) + m; sink = r; return r; }; int r = f(sink); sink = r; return r + 2; }
}
namespace unit44 {
static int step(int n) { sink = sink + n; if (n == 44) crash(44); sink = sink + 1; return n + sink; }
struct Shape { virtual int area(int n) { return n; } };
struct Disc : Shape { int area(int n) override { int r = step(n) * 3; sink = r; return r; } };
struct Rect : Shape { int area(int n) override { sink = n; return n; } };
Disc disc; Rect rect; Shape *volatile shapes[] = {&disc, &rect};
int run(int n) { int r = shapes[sink == -1]->area(n); sink = r; return r; }
}
namespace unit45 {
static int step(int n) { sink = sink + n; if (n == 45) crash(45); sink = sink + 1; return n + sink; }
int run(int n) { int v[3] = {n, n, n}; int t = 0; each(v, v + 3, [&](int x) { t += step(x); sink = t; }); return t; }
}
namespace unit46 {
static int step(int n) { sink = sink + n; if (n == 46) crash(46); sink = sink + 1; return n + sink; }
int run(int n) { auto f = [](int m) { int r = step(m) + 1; sink = r; return r; }; Stored<int(int)>::Held<decltype(f)> h(f);
  Stored<int(int)> s; s.base = &h; int r = s(n); sink = r; return r; }
}
namespace unit47 {
static int step(int n) { sink = sink + n; if (n == 47) crash(47); sink = sink + 1; return n + sink; }
static int deep(int n, int d) { if (d == 0) { int r = step(n); sink = r; return r; } int r = deep(n, d - 1) + d; sink = r; return r; }
int run(int n) { int r = deep(n, 3); sink = r; return r; }
}
namespace unit48 {
static int step(int n) { sink = sink + n; if (n == 48) crash(48); sink = sink + 1; return n + sink; }
namespace { int hidden(int n) { int r = step(n); sink = r; return r * 2; } }
int run(int n) { int r = hidden(n) + 1; sink = r; return r; }
}
namespace unit49 {
static int step(int n) { sink = sink + n; if (n == 49) crash(49); sink = sink + 1; return n + sink; }
struct Cart { int total(int n) { int r = step(n) + 3; sink = r; return r; } int pay(int n) { int r = total(n) * 2; sink = r; return r; } };
int run(int n) { Cart c; int r = c.pay(n); sink = r; return r + 1; }
}
namespace unit50 {
static int step(int n) { sink = sink + n; if (n == 50) crash(50); sink = sink + 1; return n + sink; }
template <class T> struct Box { T v; T open(T n) { T r = step(n) + v; sink = r; return r; } };
template <class T> T twice(T n) { Box<T> b{n}; T r = b.open(n); sink = r; return r * 2; }
int run(int n) { int r = twice<int>(n); sink = r; return r; }
}
namespace unit51 {
static int step(int n) { sink = sink + n; if (n == 51) crash(51); sink = sink + 1; return n + sink; }
int run(int n) { auto f = [n](int m) { int r = step(n) + m; sink = r; return r; }; int r = f(sink); sink = r; return r + 2; }
}
namespace unit52 {
static int step(int n) { sink = sink + n; if (n == 52) crash(52); sink = sink + 1; return n + sink; }
struct Shape { virtual int area(int n) { return n; } };
struct Disc : Shape { int area(int n) override { int r = step(n) * 3; sink = r; return r; } };
struct Rect : Shape { int area(int n) override { sink = n; return n; } };
Disc disc; Rect rect; Shape *volatile shapes[] = {&disc, &rect};
int run(int n) { int r = shapes[sink == -1]->area(n); sink = r; return r; }
}
namespace unit53 {
static int step(int n) { sink = sink + n; if (n == 53) crash(53); sink = sink + 1; return n + sink; }
int run(int n) { int v[3] = {n, n, n}; int t = 0; each(v, v + 3, [&](int x) { t += step(x); sink = t; }); return t; }
}
namespace unit54 {
static int step(int n) { sink = sink + n; if (n == 54) crash(54); sink = sink + 1; return n + sink; }
int run(int n) { auto f = [](int m) { int r = step(m) + 1; sink = r; return r; }; Stored<int(int)>::Held<decltype(f)> h(f);
  Stored<int(int)> s; s.base = &h; int r = s(n); sink = r; return r; }
}
namespace unit55 {
static int step(int n) { sink = sink + n; if (n == 55) crash(55); sink = sink + 1; return n + sink; }
static int deep(int n, int d) { if (d == 0) { int r = step(n); sink = r; return r; } int r = deep(n, d - 1) + d; sink = r; return r; }
int run(int n) { int r = deep(n, 3); sink = r; return r; }
}
namespace unit56 {
static int step(int n) { sink = sink + n; if (n == 56) crash(56); sink = sink + 1; return n + sink; }
namespace { int hidden(int n) { int r = step(n); sink = r; return r * 2; } }
int run(int n) { int r = hidden(n) + 1; sink = r; return r; }
}
namespace unit57 {
static int step(int n) { sink = sink + n; if (n == 57) crash(57); sink = sink + 1; return n + sink; }
struct Cart { int total(int n) { int r = step(n) + 3; sink = r; return r; } int pay(int n) { int r = total(n) * 2; sink = r; return r; } };
int run(int n) { Cart c; int r = c.pay(n); sink = r; return r + 1; }
}
namespace unit58 {
static int step(int n) { sink = sink + n; if (n == 58) crash(58); sink = sink + 1; return n + sink; }
template <class T> struct Box { T v; T open(T n) { T r = step(n) + v; sink = r; return r; } };
template <class T> T twice(T n) { Box<T> b{n}; T r = b.open(n); sink = r; return r * 2; }
int run(int n) { int r = twice<int>(n); sink = r; return r; }
}
namespace unit59 {
static int step(int n) { sink = sink + n; if (n == 59) crash(59); sink = sink + 1; return n + sink; }
int run(int n) { auto f = [n](int m) { int r = step(n) + m; sink = r; return r; }; int r = f(sink); sink = r; return r + 2; }
}
namespace unit60 {
static int step(int n) { sink = sink + n; if (n == 60) crash(60); sink = sink + 1; return n + sink; }
struct Shape { virtual int area(int n) { return n; } };
struct Disc : Shape { int area(int n) override { int r = step(n) * 3; sink = r; return r; } };
struct Rect : Shape { int area(int n) override { sink = n; return n; } };
Disc disc; Rect rect; Shape *volatile shapes[] = {&disc, &rect};
int run(int n) { int r = shapes[sink == -1]->area(n); sink = r; return r; }
}
namespace unit61 {
static int step(int n) { sink = sink + n; if (n == 61) crash(61); sink = sink + 1; return n + sink; }
int run(int n) { int v[3] = {n, n, n}; int t = 0; each(v, v + 3, [&](int x) { t += step(x); sink = t; }); return t; }
}
namespace unit62 {
static int step(int n) { sink = sink + n; if (n == 62) crash(62); sink = sink + 1; return n + sink; }
int run(int n) { auto f = [](int m) { int r = step(m) + 1; sink = r; return r; }; Stored<int(int)>::Held<decltype(f)> h(f);
  Stored<int(int)> s; s.base = &h; int r = s(n); sink = r; return r; }
}
namespace unit63 {
static int step(int n) { sink = sink + n; if (n == 63) crash(63); sink = sink + 1; return n + sink; }
static int deep(int n, int d) { if (d == 0) { int r = step(n); sink = r; return r; } int r = deep(n, d - 1) + d; sink = r; return r; }
int run(int n) { int r = deep(n, 3); sink = r; return r; }
}
namespace unit64 {
static int step(int n) { sink = sink + n; if (n == 64) crash(64); sink = sink + 1; return n + sink; }
namespace { int hidden(int n) { int r = step(n); sink = r; return r * 2; } }
int run(int n) { int r = hidden(n) + 1; sink = r; return r; }
}
namespace unit65 {
static int step(int n) { sink = sink + n; if (n == 65) crash(65); sink = sink + 1; return n + sink; }
struct Cart { int total(int n) { int r = step(n) + 3; sink = r; return r; } int pay(int n) { int r = total(n) * 2; sink = r; return r; } };
int run(int n) { Cart c; int r = c.pay(n); sink = r; return r + 1; }
}
namespace unit66 {
static int step(int n) { sink = sink + n; if (n == 66) crash(66); sink = sink + 1; return n + sink; }
template <class T> struct Box { T v; T open(T n) { T r = step(n) + v; sink = r; return r; } };
template <class T> T twice(T n) { Box<T> b{n}; T r = b.open(n); sink = r; return r * 2; }
int run(int n) { int r = twice<int>(n); sink = r; return r; }
}
namespace unit67 {
static int step(int n) { sink = sink + n; if (n == 67) crash(67); sink = sink + 1; return n + sink; }
int run(int n) { auto f = [n](int m) { int r = step(n) + m; sink = r; return r; }; int r = f(sink); sink = r; return r + 2; }
}
namespace unit68 {
static int step(int n) { sink = sink + n; if (n == 68) crash(68); sink = sink + 1; return n + sink; }
struct Shape { virtual int area(int n) { return n; } };
struct Disc : Shape { int area(int n) override { int r = step(n) * 3; sink = r; return r; } };
struct Rect : Shape { int area(int n) override { sink = n; return n; } };
Disc disc; Rect rect; Shape *volatile shapes[] = {&disc, &rect};
int run(int n) { int r = shapes[sink == -1]->area(n); sink = r; return r; }
}
namespace unit69 {
static int step(int n) { sink = sink + n; if (n == 69) crash(69); sink = sink + 1; return n + sink; }
int run(int n) { int v[3] = {n, n, n}; int t = 0; each(v, v + 3, [&](int x) { t += step(x); sink = t; }); return t; }
}
namespace unit70 {
static int step(int n) { sink = sink + n; if (n == 70) crash(70); sink = sink + 1; return n + sink; }
int run(int n) { auto f = [](int m) { int r = step(m) + 1; sink = r; return r; }; Stored<int(int)>::Held<decltype(f)> h(f);
  Stored<int(int)> s; s.base = &h; int r = s(n); sink = r; return r; }
}
namespace unit71 {
static int step(int n) { sink = sink + n; if (n == 71) crash(71); sink = sink + 1; return n + sink; }
static int deep(int n, int d) { if (d == 0) { int r = step(n); sink = r; return r; } int r = deep(n, d - 1) + d; sink = r; return r; }
int run(int n) { int r = deep(n, 3); sink = r; return r; }
}
namespace unit72 {
static int step(int n) { sink = sink + n; if (n == 72) crash(72); sink = sink + 1; return n + sink; }
namespace { int hidden(int n) { int r = step(n); sink = r; return r * 2; } }
int run(int n) { int r = hidden(n) + 1; sink = r; return r; }
}
namespace unit73 {
static int step(int n) { sink = sink + n; if (n == 73) crash(73); sink = sink + 1; return n + sink; }
struct Cart { int total(int n) { int r = step(n) + 3; sink = r; return r; } int pay(int n) { int r = total(n) * 2; sink = r; return r; } };
int run(int n) { Cart c; int r = c.pay(n); sink = r; return r + 1; }
}
namespace unit74 {
static int step(int n) { sink = sink + n; if (n == 74) crash(74); sink = sink + 1; return n + sink; }
template <class T> struct Box { T v; T open(T n) { T r = step(n) + v; sink = r; return r; } };
template <class T> T twice(T n) { Box<T> b{n}; T r = b.open(n); sink = r; return r * 2; }
int run(int n) { int r = twice<int>(n); sink = r; return r; }
}
namespace unit75 {
static int step(int n) { sink = sink + n; if (n == 75) crash(75); sink = sink + 1; return n + sink; }
int run(int n) { auto f = [n](int m) { int r = step(n) + m; sink = r; return r; }; int r = f(sink); sink = r; return r + 2; }
}
namespace unit76 {
static int step(int n) { sink = sink + n; if (n == 76) crash(76); sink = sink + 1; return n + sink; }
struct Shape { virtual int area(int n) { return n; } };
struct Disc : Shape { int area(int n) override { int r = step(n) * 3; sink = r; return r; } };
struct Rect : Shape { int area(int n) override { sink = n; return n; } };
Disc disc; Rect rect; Shape *volatile shapes[] = {&disc, &rect};
int run(int n) { int r = shapes[sink == -1]->area(n); sink = r; return r; }
}
namespace unit77 {
static int step(int n) { sink = sink + n; if (n == 77) crash(77); sink = sink + 1; return n + sink; }
int run(int n) { int v[3] = {n, n, n}; int t = 0; each(v, v + 3, [&](int x) { t += step(x); sink = t; }); return t; }
}
namespace unit78 {
static int step(int n) { sink = sink + n; if (n == 78) crash(78); sink = sink + 1; return n + sink; }
int run(int n) { auto f = [](int m) { int r = step(m) + 1; sink = r; return r; }; Stored<int(int)>::Held<decltype(f)> h(f);
  Stored<int(int)> s; s.base = &h; int r = s(n); sink = r; return r; }
}
namespace unit79 {
static int step(int n) { sink = sink + n; if (n == 79) crash(79); sink = sink + 1; return n + sink; }
static int deep(int n, int d) { if (d == 0) { int r = step(n); sink = r; return r; } int r = deep(n, d - 1) + d; sink = r; return r; }
int run(int n) { int r = deep(n, 3); sink = r; return r; }
}
namespace unit80 {
static int step(int n) { sink = sink + n; if (n == 80) crash(80); sink = sink + 1; return n + sink; }
namespace { int hidden(int n) { int r = step(n); sink = r; return r * 2; } }
int run(int n) { int r = hidden(n) + 1; sink = r; return r; }
}
namespace unit81 {
static int step(int n) { sink = sink + n; if (n == 81) crash(81); sink = sink + 1; return n + sink; }
struct Cart { int total(int n) { int r = step(n) + 3; sink = r; return r; } int pay(int n) { int r = total(n) * 2; sink = r; return r; } };
int run(int n) { Cart c; int r = c.pay(n); sink = r; return r + 1; }
}
namespace unit82 {
static int step(int n) { sink = sink + n; if (n == 82) crash(82); sink = sink + 1; return n + sink; }
template <class T> struct Box { T v; T open(T n) { T r = step(n) + v; sink = r; return r; } };
template <class T> T twice(T n) { Box<T> b{n}; T r = b.open(n); sink = r; return r * 2; }
int run(int n) { int r = twice<int>(n); sink = r; return r; }
}
namespace unit83 {
static int step(int n) { sink = sink + n; if (n == 83) crash(83); sink = sink + 1; return n + sink; }
int run(int n) { auto f = [n](int m) { int r = step(n) + m; sink = r; return r; }; int r = f(sink); sink = r; return r + 2; }
}
namespace unit84 {
static int step(int n) { sink = sink + n; if (n == 84) crash(84); sink = sink + 1; return n + sink; }
struct Shape { virtual int area(int n) { return n; } };
struct Disc : Shape { int area(int n) override { int r = step(n) * 3; sink = r; return r; } };
struct Rect : Shape { int area(int n) override { sink = n; return n; } };
Disc disc; Rect rect; Shape *volatile shapes[] = {&disc, &rect};
int run(int n) { int r = shapes[sink == -1]->area(n); sink = r; return r; }
}
namespace unit85 {
static int step(int n) { sink = sink + n; if (n == 85) crash(85); sink = sink + 1; return n + sink; }
int run(int n) { int v[3] = {n, n, n}; int t = 0; each(v, v + 3, [&](int x) { t += step(x); sink = t; }); return t; }
}
namespace unit86 {
static int step(int n) { sink = sink + n; if (n == 86) crash(86); sink = sink + 1; return n + sink; }
int run(int n) { auto f = [](int m) { int r = step(m) + 1; sink = r; return r; }; Stored<int(int)>::Held<decltype(f)> h(f);
  Stored<int(int)> s; s.base = &h; int r = s(n); sink = r; return r; }
}
namespace unit87 {
static int step(int n) { sink = sink + n; if (n == 87) crash(87); sink = sink + 1; return n + sink; }
static int deep(int n, int d) { if (d == 0) { int r = step(n); sink = r; return r; } int r = deep(n, d - 1) + d; sink = r; return r; }
int run(int n) { int r = deep(n, 3); sink = r; return r; }
}
namespace unit88 {
static int step(int n) { sink = sink + n; if (n == 88) crash(88); sink = sink + 1; return n + sink; }
namespace { int hidden(int n) { int r = step(n); sink = r; return r * 2; } }
int run(int n) { int r = hidden(n) + 1; sink = r; return r; }
}
namespace unit89 {
static int step(int n) { sink = sink + n; if (n == 89) crash(89); sink = sink + 1; return n + sink; }
struct Cart { int total(int n) { int r = step(n) + 3; sink = r; return r; } int pay(int n) { int r = total(n) * 2; sink = r; return r; } };
int run(int n) { Cart c; int r = c.pay(n); sink = r; return r + 1; }
}
namespace unit90 {
static int step(int n) { sink = sink + n; if (n == 90) crash(90); sink = sink + 1; return n + sink; }
template <class T> struct Box { T v; T open(T n) { T r = step(n) + v; sink = r; return r; } };
template <class T> T twice(T n) { Box<T> b{n}; T r = b.open(n); sink = r; return r * 2; }
int run(int n) { int r = twice<int>(n); sink = r; return r; }
}
namespace unit91 {
static int step(int n) { sink = sink + n; if (n == 91) crash(91); sink = sink + 1; return n + sink; }
int run(int n) { auto f = [n](int m) { int r = step(n) + m; sink = r; return r; }; int r = f(sink); sink = r; return r + 2; }
}
namespace unit92 {
static int step(int n) { sink = sink + n; if (n == 92) crash(92); sink = sink + 1; return n + sink; }
struct Shape { virtual int area(int n) { return n; } };
struct Disc : Shape { int area(int n) override { int r = step(n) * 3; sink = r; return r; } };
struct Rect : Shape { int area(int n) override { sink = n; return n; } };
Disc disc; Rect rect; Shape *volatile shapes[] = {&disc, &rect};
int run(int n) { int r = shapes[sink == -1]->area(n); sink = r; return r; }
}
namespace unit93 {
static int step(int n) { sink = sink + n; if (n == 93) crash(93); sink = sink + 1; return n + sink; }
int run(int n) { int v[3] = {n, n, n}; int t = 0; each(v, v + 3, [&](int x) { t += step(x); sink = t; }); return t; }
}
namespace unit94 {
static int step(int n) { sink = sink + n; if (n == 94) crash(94); sink = sink + 1; return n + sink; }
int run(int n) { auto f = [](int m) { int r = step(m) + 1; sink = r; return r; }; Stored<int(int)>::Held<decltype(f)> h(f);
  Stored<int(int)> s; s.base = &h; int r = s(n); sink = r; return r; }
}
namespace unit95 {
static int step(int n) { sink = sink + n; if (n == 95) crash(95); sink = sink + 1; return n + sink; }
static int deep(int n, int d) { if (d == 0) { int r = step(n); sink = r; return r; } int r = deep(n, d - 1) + d; sink = r; return r; }
int run(int n) { int r = deep(n, 3); sink = r; return r; }
}
namespace unit96 {
static int step(int n) { sink = sink + n; if (n == 96) crash(96); sink = sink + 1; return n + sink; }
namespace { int hidden(int n) { int r = step(n); sink = r; return r * 2; } }
int run(int n) { int r = hidden(n) + 1; sink = r; return r; }
}
namespace unit97 {
static int step(int n) { sink = sink + n; if (n == 97) crash(97); sink = sink + 1; return n + sink; }
struct Cart { int total(int n) { int r = step(n) + 3; sink = r; return r; } int pay(int n) { int r = total(n) * 2; sink = r; return r; } };
int run(int n) { Cart c; int r = c.pay(n); sink = r; return r + 1; }
}
namespace unit98 {
static int step(int n) { sink = sink + n; if (n == 98) crash(98); sink = sink + 1; return n + sink; }
template <class T> struct Box { T v; T open(T n) { T r = step(n) + v; sink = r; return r; } };
template <class T> T twice(T n) { Box<T> b{n}; T r = b.open(n); sink = r; return r * 2; }
int run(int n) { int r = twice<int>(n); sink = r; return r; }
}
namespace unit99 {
static int step(int n) { sink = sink + n; if (n == 99) crash(99); sink = sink + 1; return n + sink; }
int run(int n) { auto f = [n](int m) { int r = step(n) + m; sink = r; return r; }; int r = f(sink); sink = r; return r + 2; }
}
namespace unit100 {
static int step(int n) { sink = sink + n; if (n == 100) crash(100); sink = sink + 1; return n + sink; }
struct Shape { virtual int area(int n) { return n; } };
struct Disc : Shape { int area(int n) override { int r = step(n) * 3; sink = r; return r; } };
struct Rect : Shape { int area(int n) override { sink = n; return n; } };
Disc disc; Rect rect; Shape *volatile shapes[] = {&disc, &rect};
int run(int n) { int r = shapes[sink == -1]->area(n); sink = r; return r; }
}
namespace unit101 {
static int step(int n) { sink = sink + n; if (n == 101) crash(101); sink = sink + 1; return n + sink; }
int run(int n) { int v[3] = {n, n, n}; int t = 0; each(v, v + 3, [&](int x) { t += step(x); sink = t; }); return t; }
}
namespace unit102 {
static int step(int n) { sink = sink + n; if (n == 102) crash(102); sink = sink + 1; return n + sink; }
int run(int n) { auto f = [](int m) { int r = step(m) + 1; sink = r; return r; }; Stored<int(int)>::Held<decltype(f)> h(f);
  Stored<int(int)> s; s.base = &h; int r = s(n); sink = r; return r; }
}
namespace unit103 {
static int step(int n) { sink = sink + n; if (n == 103) crash(103); sink = sink + 1; return n + sink; }
static int deep(int n, int d) { if (d == 0) { int r = step(n); sink = r; return r; } int r = deep(n, d - 1) + d; sink = r; return r; }
int run(int n) { int r = deep(n, 3); sink = r; return r; }
}
int (*const units[])(int) = {unit0::run, unit1::run, unit2::run, unit3::run, unit4::run, unit5::run, unit6::run, unit7::run, unit8::run, unit9::run, unit10::run, unit11::run, unit12::run, unit13::run, unit14::run, unit15::run, unit16::run, unit17::run, unit18::run, unit19::run, unit20::run, unit21::run, unit22::run, unit23::run, unit24::run, unit25::run, unit26::run, unit27::run, unit28::run, unit29::run, unit30::run, unit31::run, unit32::run, unit33::run, unit34::run, unit35::run, unit36::run, unit37::run, unit38::run, unit39::run, unit40::run, unit41::run, unit42::run, unit43::run, unit44::run, unit45::run, unit46::run, unit47::run, unit48::run, unit49::run, unit50::run, unit51::run, unit52::run, unit53::run, unit54::run, unit55::run, unit56::run, unit57::run, unit58::run, unit59::run, unit60::run, unit61::run, unit62::run, unit63::run, unit64::run, unit65::run, unit66::run, unit67::run, unit68::run, unit69::run, unit70::run, unit71::run, unit72::run, unit73::run, unit74::run, unit75::run, unit76::run, unit77::run, unit78::run, unit79::run, unit80::run, unit81::run, unit82::run, unit83::run, unit84::run, unit85::run, unit86::run, unit87::run, unit88::run, unit89::run, unit90::run, unit91::run, unit92::run, unit93::run, unit94::run, unit95::run, unit96::run, unit97::run, unit98::run, unit99::run, unit100::run, unit101::run, unit102::run, unit103::run};
int dispatch(int n) { int r = units[n](n); sink = r; return r + 1; }
}
int main() { for (int i = 0; i < 104; i++) sink = shop::dispatch(i); return 0; }
