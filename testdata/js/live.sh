#!/usr/bin/env bash
# Bundle testdata/js/live afresh with esbuild, Metro and Hermes' compiler, let it throw on V8 and on Hermes, and write
# what @jridgewell/trace-mapping and metro-symbolicate make of each stack to OUT/cases.json. Usage: live.sh CACHE OUT
set -euo pipefail
npm=$1/npm out=$2
here=$(cd "$(dirname "$0")" && pwd)
packages="esbuild@0.28.2 @jridgewell/trace-mapping@0.3.31 metro@0.81.5 metro-symbolicate@0.81.5 metro-source-map@0.81.5 hermes-engine-cli@0.12.0 @babel/plugin-transform-block-scoping@7.25.9"
if [ "$(cat "$npm/installed" 2>/dev/null)" != "$packages" ]; then
  mkdir -p "$npm"
  (cd "$npm" && { [ -e package.json ] || npm init -y >/dev/null; } && npm install --silent --no-audit --no-fund $packages >/dev/null) || exit 7 # no network
  echo "$packages" > "$npm/installed"
fi
# Metro sees files below its root only: the work is done beside the packages.
work=$(mktemp -d "$npm/work.XXXXXX")
trap 'rm -rf "$work"' EXIT
cp "$here"/live/*.js "$work"
cd "$work"
export TMPDIR=$work # Metro leaves a map of files there
bin=../node_modules/.bin hermes=../node_modules/hermes-engine-cli/linux64-bin

$bin/esbuild index.js --bundle --minify --sourcemap --outfile=web.js --log-level=error
$bin/esbuild index.js --bundle --sourcemap --outfile=plain.js --log-level=error
# This Hermes takes let and const for var, as React Native's own preset knows.
echo "module.exports = {plugins: ['@babel/plugin-transform-block-scoping']};" > ../babel.config.js
cat > metro.config.js <<'EOF'
module.exports = {projectRoot: require('path').dirname(__dirname), maxWorkers: 1, cacheStores: [], resolver: {useWatchman: false}, serializer: {getModulesRunBeforeMainModule: () => []}};
EOF
$bin/metro build "$work/index.js" --platform web --dev false --minify true -O "$work/rn.js" --source-map --config "$work/metro.config.js" >/dev/null
$hermes/hermesc -w -O -emit-binary -output-source-map -out rn.hbc rn.js
node "$here/live.js"
mkdir -p "$out"
cp web.js web.js.map rn.js rn.map rn.hbc.map rn.composed.map cases.json "$out"
