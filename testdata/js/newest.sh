#!/usr/bin/env bash
# newest.sh CACHE: the maps of the packages in newest.txt, in CACHE/newest/maps, and beside each what
# @jridgewell/trace-mapping answers for places drawn of it, X.golden.json. TestNewest of formats/sourcemap compares.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
out=$1/newest
recipe=$(cat "$here"/newest.* | sha256sum)
[ "$(cat "$out/made" 2>/dev/null)" = "$recipe" ] && exit
command -v npm >/dev/null || { echo "newest.sh needs npm: apt-get install npm" >&2; exit 1; }
rm -rf "$out" && mkdir -p "$out/packed" "$out/maps"
cd "$out"
npm install --silent --no-audit --no-fund --ignore-scripts --prefix . @jridgewell/trace-mapping@0.3.31 >/dev/null
grep -v '^#' "$here/newest.txt" | cut -d' ' -f1 | (cd packed && xargs -n 12 npm pack --json --silent >> ../packed.json)
cp "$here/newest.js" .
node newest.js "$here/newest.txt"
rm -rf packed
echo "$recipe" > made
