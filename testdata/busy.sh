#!/usr/bin/env bash
# Run a command beside twice as many busy loops as this machine has cores. Usage: busy.sh COMMAND...
set -euo pipefail
loops=()
trap 'kill "${loops[@]}"' EXIT
for _ in $(seq $((2 * $(nproc)))); do
  while :; do :; done &
  loops+=($!)
done
"$@"
