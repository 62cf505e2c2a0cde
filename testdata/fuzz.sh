#!/usr/bin/env bash
# Fuzz the tree and keep what the fuzzer finds of interest.
#
#   fuzz.sh run TIME [SINCE [SECONDS]]
#                              run every fuzz target for TIME; with SINCE, a revision, only the targets
#                              of packages that changed since then, in any order; with SECONDS, begin
#                              none after so long
#   fuzz.sh unpack             put the stored corpora beside their targets, where go test replays them
#   fuzz.sh pack               store the corpora again, with what Go's cache has beyond them
#
# The corpora are testdata/corpora.tar.gz. Unpacked files are named corpus-*, and git ignores them.
# Found bugs are small files with other names in testdata/fuzz of their package: git has those.
set -euo pipefail
cd "$(dirname "$0")/.."
corpora=testdata/corpora.tar.gz
largest=4096 # bytes of a stored input: larger ones are fixtures with a few changes

# targets prints "DIR TARGET" for each fuzz target.
targets() {
  grep -rlE '^func Fuzz' --include='*_test.go' . | sed 's|^\./||' | sort | while read -r file; do
    grep -hoE '^func Fuzz[A-Za-z0-9_]*' "$file" | sed "s|^func |$(dirname "$file") |"
  done
}

# changed prints the targets of packages with changes since revision $1.
changed() {
  targets | while read -r dir target; do
    git diff --quiet "$1" -- "$dir/*.go" || echo "$dir $target"
  done
}

# The go command at times reports "context deadline exceeded" as a failure when its own time is up while
# a worker is between two inputs (golang/go#75804). Such a run found nothing and wrote no input: it is
# run again.
fuzz() { # DIR TARGET TIME
  for try in 1 2 3; do
    echo "== $1 $2"
    go test -run '^$' -fuzz "^$2\$" -fuzztime "$3" -fuzzminimizetime 10x "./$1" </dev/null 2>&1 | tee "$log" && return
    grep -q 'context deadline exceeded' "$log" && ! grep -q -e 'Failing input written' -e 'panic' "$log" && [ "$try" -lt 3 ] || exit 1
    echo "== $1 $2: the time was up between two inputs; again"
  done
}

run() { # TIME [SINCE [SECONDS]]
  log=$(mktemp)
  trap 'rm -f "$log"' EXIT
  if [ -n "${2:-}" ]; then changed "$2" | shuf; else targets; fi | while read -r dir target; do
    if [ -n "${3:-}" ] && [ "$SECONDS" -ge "$3" ]; then
      echo "== $dir $target: left, the time is up"
      continue
    fi
    fuzz "$dir" "$target" "$1"
  done
}

unpack() {
  [ -e "$corpora" ] || return 0
  comm -12 <(tar -tzf "$corpora" | grep '/$' | sort) <(targets | sed 's|\(.*\) \(.*\)|\1/testdata/fuzz/\2/|' | sort) |
    tar -xzf "$corpora" --skip-old-files -T -
}

pack() {
  unpack
  local cache dir target from to
  cache=$(go env GOCACHE)/fuzz/$(go list -m)
  targets | while read -r dir target; do
    from=$cache/$dir/$target to=$dir/testdata/fuzz/$target
    [ -d "$from" ] || continue
    mkdir -p "$to"
    find "$from" -type f -size "-$((largest + 1))c" -printf '%f\n' | while read -r name; do
      cp -n "$from/$name" "$to/corpus-$name"
    done
  done
  targets | sed 's|\(.*\) \(.*\)|\1/testdata/fuzz/\2|' | while read -r to; do
    compgen -G "$to/corpus-*" >/dev/null || continue
    find "$to" -maxdepth 1 -type d -o -name 'corpus-*'
  done | sort | tar --no-recursion --owner=0 --group=0 --numeric-owner --mode=a=r,u+w,a+X --mtime=@0 -T - -cf - | gzip -9n >"$corpora.part"
  mv "$corpora.part" "$corpora"
}

"$@"
