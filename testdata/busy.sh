#!/usr/bin/env bash
# Run the tests that deal with clocks, processes and sockets, beside twice as many busy loops as this machine has cores.
# They mostly wait, so several packages run at once. Usage: busy.sh GO
set -euo pipefail
cd "$(dirname "$0")/.."
go=$1
loops=() runs=()
trap 'kill "${loops[@]}"' EXIT
for _ in $(seq $((2 * $(nproc)))); do
  while :; do :; done &
  loops+=($!)
done

# tests begins to run tests.
tests() {
  "$go" test -short -vet=off -ldflags='-s -w' -count=1 -p 4 "$@" &
  runs+=($!)
}
tests ./jobs -run 'Death|RedisLies|ServeDrains|ServeRPC|ServeSlowCaller|Signals|StackFlow|Supervisor'
tests ./ingest -run 'Cancel|Deadline|Patience|Stuck|TakeOver|Wait|Worker'
tests ./sinks/bucket/... ./sinks/file ./sinks/kek/... ./sinks/lookup ./sinks/redis ./jobs/serve/... ./ingest/discover/hints
failed=0
for run in "${runs[@]}"; do
  wait "$run" || failed=1
done
exit $failed
