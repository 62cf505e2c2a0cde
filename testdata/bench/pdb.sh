#!/usr/bin/env bash
# Brings PDB files into CACHE/pdb, with their images beside them: MSVC's and Intel's of npm and PyPI, and one that clang and lld
# make of DuckDB's sources. The sources are compiled as a program of Linux for a target with PDB files: it cannot run.
# Usage: pdb.sh CACHE
set -euo pipefail
out=$1/pdb
mkdir -p "$out" "$1/deb/pdb"
cd "$1/deb/pdb"
if [ ! -e "$out/winpty.pdb" ] && command -v npm >/dev/null; then
  npm pack --silent node-pty@1.1.0 >/dev/null
  tar -xzf node-pty-1.1.0.tgz package/prebuilds/win32-x64
  cp package/prebuilds/win32-x64/*.pdb package/prebuilds/win32-x64/*.node package/prebuilds/win32-x64/*.dll package/prebuilds/win32-x64/*.exe "$out"
fi
if [ ! -e "$out/libiomp5md.pdb" ] && command -v pip >/dev/null; then
  pip download -q --no-deps --only-binary=:all: --platform win_amd64 --python-version 3.11 debugpy==1.8.22 intel-openmp==2026.2.0
  unzip -joq debugpy-*.whl '*/inject_dll_*.pdb' '*/inject_dll_*.exe' -d "$out"
  unzip -joq intel_openmp-*.whl '*/libiomp5md.pdb' '*/libiomp5md.dll' -d "$out"
fi
if [ ! -e "$out/duckdb.pdb" ] && command -v npm >/dev/null && command -v clang-19 >/dev/null && command -v lld-link-19 >/dev/null; then
  npm pack --silent duckdb@1.1.3 >/dev/null
  tar -xzf duckdb-1.1.3.tgz package/src/duckdb
  cd package/src/duckdb
  includes=(-I. -Isrc/include)
  for part in fmt/include hyperloglog fastpforlib skiplist fast_float re2 miniz utf8proc utf8proc/include concurrentqueue pcg tdigest mbedtls \
    mbedtls/include jaro_winkler yyjson/include libpg_query/include lz4 brotli/include snappy zstd/include fsst httplib; do
    includes+=("-Ithird_party/$part")
  done
  for unit in common_exception common_serializer common_progress_bar core_functions_aggregate_algebraic planner_binder_statement planner_expression \
    planner_filter planner_subquery common_tree_renderer common_types_column common_value_operations storage_buffer storage_compression \
    storage_compression_chimp storage_serialization; do
    clang-19 --target=x86_64-pc-windows-cygnus -std=c++17 -O1 -g -gcodeview -U_WIN32 -U_WIN64 -U__CYGWIN__ -D__linux__ -D__x86_64__ -D_GNU_SOURCE \
      -D__GCC_ATOMIC_TEST_AND_SET_TRUEVAL=1 -D__thread= -Dthread_local= -fgnuc-version=4.2.1 -fexceptions -ffunction-sections -w -nostdinc \
      -isystem /usr/include/c++/12 -isystem /usr/include/x86_64-linux-gnu/c++/12 -isystem /usr/lib/llvm-19/lib/clang/19/include \
      -isystem /usr/include/x86_64-linux-gnu -isystem /usr/include "${includes[@]}" -c "ub_src_$unit.cpp" -o "$unit.obj"
  done
  lld-link-19 /debug "/pdb:$out/.duckdb.pdb" /pdbaltpath:duckdb.pdb /nodefaultlib /noentry /dll /force /opt:noref /errorlimit:1 "/out:$out/duckdb.dll" ./*.obj >/dev/null 2>&1 || true
  mv "$out/.duckdb.pdb" "$out/duckdb.pdb"
fi
