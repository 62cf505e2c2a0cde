#!/usr/bin/env bash
# Makes a dSYM above 1 GB: one C++ object of many inlined templates, all of its
# functions local, linked many times over under different names, so that
# dsymutil writes its DWARF as often. Usage: bigdsym.sh OUT
set -euo pipefail
out=$(realpath -m "$1")
work=$(mktemp -d -p "$(dirname "$(dirname "$out")")") # some gigabytes, on the same disk
trap 'rm -rf "$work"' EXIT
cd "$work"
copies=${COPIES:-240}

cat > unit.cpp <<'EOF'
namespace {
template <int N> struct Cell {
  int left, right; Cell<N / 2> *half;
  inline __attribute__((always_inline)) int sum(int k) const { return left * N + right - k; }
  inline __attribute__((always_inline)) int fold(int k) const { int r = 0; for (int i = 0; i < k; i++) r += sum(i) ^ (r >> 3); return r; }
};
template <> struct Cell<0> { int left, right; inline __attribute__((always_inline)) int fold(int k) const { return left - right * k; } };
template <int N> __attribute__((used, noinline)) int work(const Cell<N> &c, const Cell<N / 2> &d, int k) {
  int r = c.fold(k);
  if (k & 1) r += d.fold(k + 1); else r -= d.fold(k - 1);
  return r * c.sum(r);
}
template <int N> struct All { static int run(int k) { static Cell<N> c; static Cell<N / 2> d; return work<N>(c, d, k) + All<N - 1>::run(k); } };
template <> struct All<0> { static int run(int) { return 0; } };
__attribute__((used)) int all(int k) { return All<FUNCTIONS>::run(k); }
}
EOF
clang++-19 --target=arm64-apple-ios14.0 -O1 -gdwarf-4 -ftemplate-depth=8000 -DFUNCTIONS=${FUNCTIONS:-4000} -ffreestanding -fno-exceptions -fno-rtti -c unit.cpp -o unit.o
objects=()
for i in $(seq "$copies"); do
  ln -f unit.o "unit$i.o"
  objects+=("unit$i.o")
done
ld64.lld-19 -dylib -arch arm64 -platform_version ios 14.0 14.0 -undefined dynamic_lookup -install_name @rpath/big "${objects[@]}" -o big
dsymutil-19 --flat --no-odr -j 2 big -o big.dwarf
mv big.dwarf "$out"
