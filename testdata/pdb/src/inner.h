extern int sink;
int other(int);
template <class T> inline T twice(T t) {
  sink = t;
  return t + t;
}
inline int inner(int x) {
  sink = x;
  if (x > 3)
    sink += twice(x);
  return sink;
}
inline int outer(int x) {
  int a = inner(x);
  int b = inner(a + 1);
  return a + b;
}
__attribute__((cold, noinline)) inline int cold(int x) { return outer(x) - 1; }
