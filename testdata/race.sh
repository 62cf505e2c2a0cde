#!/usr/bin/env bash
# Run tests of sinks and ingest under the race detector, which slows them five to ten times: those that start goroutines or
# workers, as their text says. A test against a real HBase mostly waits, and is left out.
#
#   race.sh GO        the tests that start some
#   race.sh GO all    all tests, for hours
set -euo pipefail
cd "$(dirname "$0")/.."
go=$1
# Deaths at each step come one after the other, and TestBlockOnce is about one worker.
skip='^(TestPowerLoss|TestCrashPoints|TestBlockOnce)$'

# starts prints the tests of stdin that start goroutines.
starts() {
  awk '/^func Test/ { split($2, a, "("); name = a[1] }
    /^}/ { name = "" }
    name != "" && /go func|\.Go\(|atomic\.|errgroup|[Ww]orkers/ { print name }'
}

run='^Test' packages=()
declare -A names=()
while read -r package folder; do
  [ "${2:-}" = all ] && packages+=("$package") && continue
  compgen -G "$folder/*_test.go" >/dev/null || continue
  found=$(cat "$folder"/*_test.go | starts)
  [ -z "$found" ] || packages+=("$package")
  for name in $found; do names[$name]=1; done
done < <("$go" list -f '{{.ImportPath}} {{.Dir}}' ./sinks/... ./ingest/... | grep -v '/sinks/hbase ')
[ "${2:-}" = all ] || run="^($(IFS='|' && echo "${!names[*]}"))\$"
CGO_ENABLED=1 "$go" test -race -short -vet=off -ldflags='-s -w' -parallel 4 -timeout 60m -run "$run" -skip "$skip" "${packages[@]}"
