#!/usr/bin/env bash
# Record answers.tsv.zst: the names of names.go with the answers of Apple's
# demangler. What it crashes on is left out, and what it has no word for: those
# answers hold the text of a missing node.
# Usage: record.sh CACHE
set -euo pipefail
cache=$1
cd "$(dirname "$0")"
bash oracle.sh "$cache"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
go run names.go > "$work/left"
while [ -s "$work/left" ]; do
  "$cache/bin/swift-oracle" < "$work/left" > "$work/said" 2>/dev/null || true
  said=$(wc -l < "$work/said")
  head -n "$said" "$work/left" | paste - "$work/said" >> "$work/answers"
  tail -n +$((said + 2)) "$work/left" > "$work/rest" # without the name it crashed on
  mv "$work/rest" "$work/left"
done
grep -v -e '<null node pointer>' -e 'existential shape' "$work/answers" | zstd -q -19 -f -o answers.tsv.zst
