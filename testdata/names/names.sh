#!/usr/bin/env bash
# Makes the corpus of functions with known names in CACHE/names: bundles of real packages by nine tools, and the stacks
# that they leave on V8 and JavaScriptCore. Made parts stay. Usage: names.sh CACHE [PROGRAM…], without one all of src.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
mkdir -p "$1/names"
out=$(cd "$1/names" && pwd)
shift
for need in node:nodejs npm:npm jsc:libjavascriptcoregtk-4.0-bin; do
  command -v "${need%%:*}" >/dev/null || { echo "names.sh needs ${need%%:*}: apt-get install ${need##*:}" >&2; exit 1; }
done
cd "$out"
export TMPDIR=$out/tmp # Metro leaves a map of files there
mkdir -p "$TMPDIR"
if ! cmp -s "$here/package-lock.json" installed.json; then
  rm -rf node_modules truth out frames
  cp "$here/package.json" "$here/package-lock.json" .
  npm install --silent --ignore-scripts --no-audit --no-fund >/dev/null # npm ci wants addresses in a lock
  find node_modules -name '*.map' -delete # a package's own file is the original, not what it was made of
  cp "$here/package-lock.json" installed.json
fi
# A program is made again when it changes; all are bundled again, or run again, when the recipe of that does.
stamp() {
  local new
  new=$(cat "${@:3}" | sha256sum)
  if [ "$new" != "$(cat "$1" 2>/dev/null)" ]; then
    rm -rf $2
    cp "${@:3}" .
    echo "$new" > "$1"
  fi
}
stamp bundling "src out frames" "$here"/{build,compile,entries,vendor}.mjs "$here/tsconfig.json"
stamp running "truth frames" "$here"/{truth,loader,frames}.mjs "$here"/{engine,hooks}.js
[ -e src/vendor ] || { mkdir -p src && node vendor.mjs; }
mkdir -p truth out frames
[ $# -gt 0 ] || set -- $(cd "$here/src" && ls | sed 's/\..*//')
bundlers=$(node -e 'import("./build.mjs").then(b => console.log(b.all.join(" ")))')
bundles=()
for name in "$@"; do
  file=$(basename "$(ls "$here/src/$name".*)")
  if ! cmp -s "$here/src/$file" "src/$file"; then
    rm -f "truth/$name.json" out/*-"$name".js* frames/*-"$name".json
    cp "$here/src/$file" src/
  fi
  [ -e "truth/$name.json" ] || node truth.mjs "$name"
  for bundler in $bundlers; do bundles+=("$bundler-$name"); done
done
echo $bundlers | tr ' ' '\n' | xargs -P 2 -I{} node build.mjs {} "$@"
printf '%s\n' "${bundles[@]}" | xargs -P 2 -n 12 node frames.mjs
