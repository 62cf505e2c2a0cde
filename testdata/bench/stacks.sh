#!/usr/bin/env bash
# Makes two hundred shared libraries of C++ with deep inlining, each other's unlike: what a process maps, times ten.
# Usage: stacks.sh FOLDER; makes FOLDER/lib000.so … unless they are there. Needs clang-19 and lld-19.
set -euo pipefail
out=$1
[ -e "$out/done" ] && exit 0
command -v clang++-19 >/dev/null || { echo "bench: the stacks are left out: they need clang-19 lld-19" >&2; exit 0; }
mkdir -p "$out"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cat > "$work/unit.cpp" <<'UNIT'
namespace LIB {
template <int N> struct Cell {
  int left, right; Cell<N / 2> *half;
  inline __attribute__((always_inline)) int sum(int k) const { return left * N + right - k; }
  inline __attribute__((always_inline)) int fold(int k) const { int r = 0; for (int i = 0; i < k; i++) r += sum(i) ^ (r >> 3); return r; }
};
template <> struct Cell<0> { int left, right; inline __attribute__((always_inline)) int fold(int k) const { return left - right * k; } };
template <int N> __attribute__((used, noinline)) int work(const Cell<N> &c, const Cell<N / 2> &d, int k) {
  int r = c.fold(k);
  if (k & 1) r += d.fold(k + SEED); else r -= d.fold(k - 1);
  return r * c.sum(r);
}
template <int N> struct All { static int run(int k) { static Cell<N> c; static Cell<N / 2> d; return work<N>(c, d, k) + All<N - 1>::run(k); } };
template <> struct All<0> { static int run(int) { return 0; } };
}
__attribute__((used)) int all(int k) { return LIB::All<FUNCTIONS>::run(k); }
UNIT
one() {
  local name
  name=$(printf 'lib%03d' "$1")
  clang++-19 --target=aarch64-linux-gnu -O1 -g -gz=none -fPIC -ftemplate-depth=8000 -DLIB="$name" -DSEED="$1" -DFUNCTIONS=$((200 + 7 * $1 % 900)) \
    -ffreestanding -fno-exceptions -fno-rtti -nostdlib -shared -fuse-ld=lld -Wl,--build-id=sha1,-soname,"$name.so" "$work/unit.cpp" -o "$out/.$name.so"
  mv "$out/.$name.so" "$out/$name.so"
}
export -f one
export out work
seq 0 199 | xargs -P "$(nproc)" -I{} bash -c 'one {}'
touch "$out/done"
