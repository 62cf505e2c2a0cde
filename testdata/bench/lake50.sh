#!/usr/bin/env bash
# lake50.sh SYMLAKE INPUT DIR: a plain lake in DIR of 50 M rows, by the commands: one ELF file loaded under as many build-ids as
# it takes, then compacted. Does nothing where it is there.
set -euo pipefail
symlake=$1 input=$2 dir=$3
[ -e "$dir/.complete" ] && exit 0
tmp=$(mktemp -d "${TMPDIR:-/tmp}/symlake-lake50-XXXXXX")
trap 'rm -rf "$tmp"' EXIT
rm -rf "$dir" && mkdir -p "$dir"
flags=(--store "file:$tmp/store" --lake "$dir/lake" --lake-profile plain)
id=$(readelf -n "$input" | awk '/Build ID:/{print $3}')
at=$(python3 -c 'import sys; print(open(sys.argv[1], "rb").read(64 << 20).index(bytes.fromhex(sys.argv[2])))' "$input" "$id")
cp "$input" "$tmp/object-0" && chmod u+w "$tmp/object-0"
rows=0 n=0
while [ "$rows" -lt 50000000 ]; do
  printf '%08x' "$n" | xxd -r -p | dd of="$tmp/object-$n" bs=1 seek="$at" conv=notrunc status=none
  ranges=$("$symlake" "${flags[@]}" ingest "$tmp/object-$n" --report - 2>/dev/null | tail -1 | python3 -c 'import json,sys; print(json.load(sys.stdin)["ranges"])')
  [ "$ranges" -gt 0 ]
  rows=$((rows + ranges)) n=$((n + 1))
  mv "$tmp/object-$((n - 1))" "$tmp/object-$n"
done
"$symlake" "${flags[@]}" compact --grace 1ns >&2
touch "$dir/.complete"
