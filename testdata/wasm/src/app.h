#pragma once

extern "C" int reads(int at);

namespace app {

inline __attribute__((always_inline)) int checked(int value, int by) {
  if (by == 0)
    __builtin_trap();
  return value / by;
}

template <class T> inline __attribute__((always_inline)) T largest(T a, T b) {
  return a < b ? b : checked(a, b);
}

} // namespace app
