#!/usr/bin/env bash
# Part of make bench: ingest of source maps (explode, seal, store) beside what @jridgewell/trace-mapping needs to parse
# and decode the same file; CPU seconds of one core, least of PAIRS runs in turn. MB/s is once that of the whole process, and
# once without what it takes for a map of one segment: starting, and making a store. Usage: maps.sh CACHE SYMLAKE [PAIRS]
set -euo pipefail
cache=$1/maps symlake=$2 pairs=${3:-5}
command -v npm >/dev/null || { echo "bench: source maps are left out: they need npm" >&2; exit 0; }
packages="babylonjs@9.34.0 monaco-editor@0.52.2 typescript@5.9.3 esbuild@0.28.2 @jridgewell/trace-mapping@0.3.31"
mkdir -p "$cache" && cd "$cache"
if [ "$(cat installed 2>/dev/null)" != "$packages" ]; then
  [ -e package.json ] || npm init -y >/dev/null
  npm install --silent --no-audit --no-fund $packages >/dev/null
  echo "$packages" > installed
fi
if [ ! -e big/big.js.map ]; then
  for m in babylonjs/babylon.es5.js babylonjs/babylon.js typescript/lib/typescript.js; do echo "import * as x${RANDOM} from './node_modules/$m'; console.log(x$RANDOM);"; done |
    sed 's/console.*//' | awk '{ sub(/x[0-9]+/, "x" NR); print $0 " console.log(x" NR ");" }' > big.entry.js
  node_modules/.bin/esbuild big.entry.js --bundle --minify --sourcemap --platform=node --outfile=big/big.js --log-level=error
fi
cat > decode.js <<'EOF'
const {TraceMap, decodedMappings} = require('@jridgewell/trace-mapping');
decodedMappings(new TraceMap(require('fs').readFileSync(process.argv[2], 'utf8')));
EOF
work=$(mktemp -d "$([ -d /dev/shm ] && echo /dev/shm || echo /tmp)/maps.XXXXXX")
trap 'rm -rf "$work"' EXIT
cpu() { local TIMEFORMAT='%U %S'; { time "$@" >/dev/null 2>&1; } 2>&1 | awk '{printf "%.3f\n", $1 + $2}'; }
least() { sort -n | head -1; }
mkdir "$work/one"
echo '{"version":3,"sources":["a"],"names":[],"mappings":"AAAA"}' > "$work/one/one.js.map"
for _ in $(seq "$pairs"); do
  rm -rf "$work/store"
  GOMAXPROCS=1 cpu "$symlake" --store "$work/store" --lake off ingest --workers 1 "$work/one" >> "$work/idle"
done
idle=$(least < "$work/idle")
printf '| map | MB | cpu s | MB/s | without the process alone (%s s), MB/s | of it with the script beside, MB/s | trace-mapping: parse and decode, cpu s | stored, %% |\n|---|---|---|---|---|---|---|---|\n' "$idle"
for map in node_modules/babylonjs/babylon.js.map node_modules/monaco-editor/min-maps/vs/editor/editor.main.js.map big/big.js.map; do
  name=$(basename "$map" .map)
  mkdir -p "$work/alone" "$work/beside" && cp "$map" "$work/alone/" && cp "$map" "$work/beside/"
  cp "$(echo "${map%.map}" | sed 's/min-maps/min/')" "$work/beside/"
  : > "$work/a"; : > "$work/b"; : > "$work/c"
  for _ in $(seq "$pairs"); do
    rm -rf "$work/store"
    GOMAXPROCS=1 cpu "$symlake" --store "$work/store" --lake off ingest --workers 1 "$work/alone" >> "$work/a"
    cpu node decode.js "$map" >> "$work/b"
    rm -rf "$work/store2"
    GOMAXPROCS=1 cpu "$symlake" --store "$work/store2" --lake off ingest --workers 1 "$work/beside" >> "$work/c"
  done
  stored=$("$symlake" --store "$work/store" --json artifacts | grep -o '"bytes":[0-9]*' | head -1 | cut -d: -f2)
  size=$(stat -c %s "$map")
  awk -v n="$name" -v s="$size" -v a="$(least < "$work/a")" -v b="$(least < "$work/b")" -v c="$(least < "$work/c")" -v st="$stored" -v i="$idle" \
    'BEGIN { printf "| %s | %.1f | %.2f | %.0f | %.0f | %.0f | %.2f | %.1f |\n", n, s/1e6, a, s/1e6/a, s/1e6/(a-i), s/1e6/c, b, 100*st/s }'
  rm -rf "$work/alone" "$work/beside"
done
