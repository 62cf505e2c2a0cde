#!/usr/bin/env bash
# The main job in one minute: ingest the objects of testdata into an embedded
# store, then print a raw stack and its symbolicated form. Usage: demo.sh SYMLAKE
set -euo pipefail
symlake=$(realpath "$1")
cd "$(dirname "$0")"
data=$(mktemp -d)
trap 'rm -rf "$data"' EXIT

echo "\$ symlake ingest testdata/elf testdata/macho testdata/r8/shop.map.txt --report -"
"$symlake" --store "file:$data" --log-level error ingest elf macho r8/shop.map.txt --report -
echo
echo "\$ symlake verify"
"$symlake" --store "file:$data" verify
echo
echo "\$ cat testdata/stacks/demo.txt"
cat stacks/demo.txt
echo
echo "\$ symlake symbolicate testdata/stacks/demo.txt"
"$symlake" --store "file:$data" symbolicate stacks/demo.txt
echo
echo "\$ symlake symbolicate testdata/stacks/apple-crash.txt"
"$symlake" --store "file:$data" --log-level error symbolicate stacks/apple-crash.txt
echo
echo "\$ symlake symbolicate testdata/r8/shop.txt"
"$symlake" --store "file:$data" symbolicate r8/shop.txt
