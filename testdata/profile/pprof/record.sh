#!/usr/bin/env bash
# Answers the kept profiles by Google's pprof and llvm-symbolizer, as the test of this form compares them.
# Usage: record.sh PPROF, a program built by: go install github.com/google/pprof@latest
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
kept=$here/../kept
for p in tree matrix; do
  PPROF_BINARY_PATH=$kept/symbols "$1" -symbolize=force -proto -output "$here/$p.pb.gz" "$kept/$p.pb.gz"
done
