#!/usr/bin/env bash
# Run every fuzz target of the tree for a time each. Usage: fuzz.sh TIME
#
# The go command at times reports "context deadline exceeded" as a failure when its own time is up while a
# worker is between two inputs (golang/go#75804). Such a run found nothing and wrote no input: it is run again.
set -euo pipefail
time=$1
cd "$(dirname "$0")/.."
log=$(mktemp)
trap 'rm -f "$log"' EXIT

# fuzz DIR TARGET: one run, its output shown and kept in the log.
fuzz() {
  go test -run '^$' -fuzz "^$2\$" -fuzztime "$time" -fuzzminimizetime 10x "./$1" </dev/null 2>&1 | tee "$log"
}

# late: whether the run in the log failed for the deadline alone.
late() {
  grep -q 'context deadline exceeded' "$log" && ! grep -q -e 'Failing input written' -e 'panic' "$log"
}

grep -rlE '^func Fuzz' --include='*_test.go' . | xargs -n1 dirname | sort -u | while read -r dir; do
  grep -hoE '^func Fuzz[A-Za-z0-9_]*' "$dir"/*_test.go | sed 's/^func //' | while read -r target; do
    echo "== $dir $target"
    for try in 1 2 3; do
      fuzz "$dir" "$target" && break
      late && [ "$try" -lt 3 ] || exit 1
      echo "== $dir $target: the time was up between two inputs; again"
    done
  done
done
