#!/usr/bin/env bash
# Builds ten programs of ours with debug information, strips them, and records profiles of them.
# Usage: record.sh CACHE [programs] [perf] [own] ..., all steps without one. README.md says what each leaves in CACHE/profiles.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
mkdir -p "$1/profiles"
out=$(cd "$1/profiles" && pwd)
shift
[ $# -gt 0 ] || set -- programs perf own
seconds=${SECONDS_EACH:-2}

need() {
  local all
  for all in "$@"; do
    command -v "${all%%:*}" >/dev/null || { echo "record.sh needs ${all%%:*}: ${all#*:}" >&2; exit 1; }
  done
}

cxx="tree matrix words shapes"
go="go-queue go-encode go-table"
rust="rust-primes rust-words rust-grid"

# Each compiler and linker lays programs out in its way: offsets in the file equal addresses, or not.
programs() {
  need g++:"apt-get install g++" clang++-19:"apt-get install clang-19" ld.lld-19:"apt-get install lld-19" llvm-objcopy-19:"apt-get install llvm-19" go:"https://go.dev/dl" cargo:"https://rustup.rs"
  local stamp
  stamp=$(cat "$0" $(find "$here/src" -type f | sort) | sha256sum)
  [ "$stamp" = "$(cat "$out/programs.stamp" 2>/dev/null)" ] && return
  rm -rf "$out/symbols" "$out/bin"
  mkdir -p "$out/symbols" "$out/bin" "$out/rust"
  cd "$here/src"
  local g="-std=c++17 -g -O2 -fno-omit-frame-pointer -ffile-prefix-map=$here/src=." s=$out/symbols
  g++ $g tree.cpp -o "$s/tree" -Wl,--build-id
  clang++-19 $g -fPIC -shared kernel.cpp -o "$s/libkernel.so" -fuse-ld=lld-19 -Wl,--build-id=sha1,-soname,libkernel.so
  clang++-19 $g matrix.cpp -o "$s/matrix" -L"$s" -lkernel -fuse-ld=lld-19 -Wl,--build-id=sha1,-rpath,'$ORIGIN'
  g++ $g -gdwarf-4 -fno-pie -no-pie -pthread words.cpp -o "$s/words" -Wl,--build-id
  clang++-19 $g -O1 -static-pie -fPIE shapes.cpp -o "$s/shapes" -fuse-ld=lld-19 -Wl,--build-id=sha1
  local p
  for p in $go; do GOFLAGS=-trimpath CGO_ENABLED=0 go build -o "$s/$p" "./$p"; done
  RUSTFLAGS="-C force-frame-pointers=yes -C link-arg=-Wl,--build-id --remap-path-prefix=$here/src/rust=." CARGO_TARGET_DIR="$out/rust" cargo build --release --quiet --offline --manifest-path rust/Cargo.toml 2>/dev/null ||
    RUSTFLAGS="-C force-frame-pointers=yes -C link-arg=-Wl,--build-id --remap-path-prefix=$here/src/rust=." CARGO_TARGET_DIR="$out/rust" cargo build --release --quiet --manifest-path rust/Cargo.toml
  for p in $rust; do cp "$out/rust/release/$p" "$s/"; done
  for p in "$s"/*; do llvm-objcopy-19 --strip-all "$p" "$out/bin/$(basename "$p")"; done
  echo "$stamp" > "$out/programs.stamp"
}

# What Linux' own profiler sees of the stripped programs. raw makes profiles without names of it.
perf() {
  need perf:"apt-get install linux-perf"
  mkdir -p "$out/perf" "$out/pprof"
  (cd "$here/../.." && CGO_ENABLED=0 GOFLAGS= go build -o "$out/raw" ./testdata/profile/raw)
  local p d
  for p in $cxx $go $rust; do
    d=$out/perf/$p
    [ "$d.script.txt" -nt "$out/programs.stamp" ] && [ -e "$out/pprof/$p.raw.pb.gz" ] && continue
    command perf record -q -e cpu-clock -F 997 -g --call-graph fp -N --buildid-all -o "$d.data" "$out/bin/$p" "$seconds" >/dev/null
    command perf buildid-list -i "$d.data" > "$d.ids.txt"
    command perf script -i "$d.data" --show-mmap-events > "$d.script.txt" 2>/dev/null
    "$out/raw" "$d.ids.txt" < "$d.script.txt" > "$out/pprof/$p.raw.pb.gz"
  done
}

# What the languages' own profilers leave: Go's, gperftools' for C++, the crate pprof for Rust. The first and the last name
# functions themselves; that of gperftools has addresses and the maps of the process.
own() {
  mkdir -p "$out/own"
  local p
  [ "$out/own/done" -nt "$out/programs.stamp" ] && return
  for p in $go; do CPUPROFILE="$out/own/$p.cpu.pb.gz" HEAPPROFILE="$out/own/$p.heap.pb.gz" "$out/bin/$p" "$seconds" >/dev/null; done
  local profiler
  profiler=$(ls /usr/lib/*/libprofiler.so.0 2>/dev/null | head -1)
  [ -n "$profiler" ] || { echo "record.sh needs gperftools: apt-get install google-perftools" >&2; exit 1; }
  for p in tree matrix words; do
    CPUPROFILE="$out/own/$p.gperf" LD_PRELOAD=$profiler "$out/bin/$p" "$seconds" >/dev/null 2>&1
    google-pprof --raw "$out/bin/$p" "$out/own/$p.gperf" > "$out/own/$p.gperf.raw" 2>/dev/null
  done
  RUSTFLAGS="-C force-frame-pointers=yes" CARGO_TARGET_DIR="$out/rust-pprof" cargo build --release --quiet --features pprof --manifest-path "$here/src/rust/Cargo.toml"
  for p in $rust; do CPUPROFILE="$out/own/$p.pb" "$out/rust-pprof/release/$p" "$seconds" >/dev/null; done
  touch "$out/own/done"
}

# The small ones that the tree keeps: two programs of C++, one with a library, and short profiles of them.
kept() {
  local kept=$here/kept p
  mkdir -p "$kept/symbols"
  for p in tree matrix libkernel.so; do llvm-objcopy-19 --compress-debug-sections=zlib "$out/symbols/$p" "$kept/symbols/$p"; done
  chmod 644 "$kept"/symbols/*
  for p in tree matrix; do
    command perf record -q -e cpu-clock -F 997 -g --call-graph fp -N --buildid-all -o "$out/kept.data" "$out/bin/$p" 0.15 >/dev/null
    command perf buildid-list -i "$out/kept.data" > "$out/kept.ids"
    command perf script -i "$out/kept.data" --show-mmap-events 2>/dev/null | sed "s#$out/bin/#/srv/app/#g" > "$kept/$p.script.txt"
    sed -i "s#$out/bin/#/srv/app/#" "$out/kept.ids"
    "$out/raw" "$out/kept.ids" < "$kept/$p.script.txt" > "$kept/$p.pb.gz"
  done
  rm "$out"/kept.{data,ids}
}

# gecko makes the small profile of the Firefox Profiler's form.
gecko() {
  cp "$out/perf/tree.data" "$out/tree.data"
  samply import "$out/tree.data" --save-only -o "$out/tree.json.gz"
  gzip -dc "$out/tree.json.gz" | sed "s#$out/bin/#/srv/app/#g; s# on [^ ]* (perf# (perf#" | gzip -9nc > "$here/kept/tree.gecko.json.gz"
  rm "$out"/tree.{data,json.gz}
}

for step in "$@"; do "$step"; done
