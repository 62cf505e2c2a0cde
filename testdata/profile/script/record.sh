#!/usr/bin/env bash
# Profiles bundles of real packages in Node, and a program of ours in Hermes, for the measures of .cpuprofile.
# It uses the bundles of `make names` and the tools of CACHE/npm, and leaves all in CACHE/profiles/script.
#   record.sh CACHE [PROGRAM…]     NAME.cpuprofile, NAME.truth.json, hermes/
#   record.sh CACHE measure BIN    a table: nodes and hits that BIN (symlake) answers as the unbundled run has them
#   record.sh CACHE kept BIN       testdata/profile/script/kept, from src
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
cache=$(cd "$1" && pwd)
shift
out=$cache/profiles/script
names=$cache/names
mkdir -p "$out/hermes"
bundlers="webpack rollup esbuild terser uglify swc rspack parcel vite"
esbuild=$names/node_modules/.bin/esbuild
hermes=$cache/npm/node_modules/hermes-engine-cli/linux64-bin

profile() { # FILE MS TO
  (cd "$(dirname "$1")" && node --cpu-prof --cpu-prof-interval 200 --cpu-prof-dir "$out" --cpu-prof-name "$3" "$here/run.cjs" "$1" "$2")
}

case "${1:-}" in
measure)
  bin=$2
  made=$(mktemp -d)
  trap 'rm -rf "$made"' EXIT
  for p in "$out"/*-*.cpuprofile; do
    name=$(basename "$p" .cpuprofile)
    js=$names/out/$name.js
    "$bin" symbolicate "$p" --symbols "$js.map" --symbols "$js" --log-level error --output "$made/answered.cpuprofile"
    echo "$name $(node "$here/compare.mjs" "$out/${name#*-}.truth.json" "$p" "$made/answered.cpuprofile" "$name.js")"
  done | tee "$made/measure.txt" | node -e '
    const sum = {}, add = (key, r) => { const s = sum[key] ||= {}; for (const k of ["nodes", "hits", "right", "rightHits", "exact"]) s[k] = (s[k] || 0) + r[k]; };
    for (const line of require("fs").readFileSync(0, "utf8").trim().split("\n")) {
      const at = line.indexOf(" "), r = JSON.parse(line.slice(at + 1));
      add("all", r);
      add(line.slice(0, line.indexOf("-")), r);
    }
    for (const [key, s] of Object.entries(sum)) console.log(`${key}: nodes ${(100 * s.right / s.nodes).toFixed(2)} %, hits ${(100 * s.rightHits / s.hits).toFixed(2)} %, names to the letter ${(100 * s.exact / s.nodes).toFixed(2)} %`);'
  cp "$out/hermes/app.cpuprofile" "$out/hermes/app.map" "$made"
  cp "$made/app.cpuprofile" "$made/metro.cpuprofile"
  "$bin" symbolicate "$out/hermes/app.cpuprofile" --symbols "$out/hermes/app.map" --artifact app.map --log-level error --output "$made/answered.cpuprofile"
  (cd "$cache/npm" && node -e '
    const S = require("metro-symbolicate/src/Symbolication.js"), {SourceMapConsumer} = require("source-map"), fs = require("fs");
    const [dir] = process.argv.slice(1), read = f => JSON.parse(fs.readFileSync(dir + "/" + f, "utf8"));
    const c = S.createContext(SourceMapConsumer, fs.readFileSync(dir + "/app.map", "utf8"), {});
    const none = {write() {}};
    S.symbolicateChromeTrace(dir + "/metro.cpuprofile", {stdout: none, stderr: none}, c);
    const ours = read("answered.cpuprofile"), theirs = read("metro.cpuprofile");
    let n = 0, same = 0;
    for (const [id, f] of Object.entries(theirs.stackFrames)) {
      if (f.category !== "JavaScript" || f.name.includes("null:null")) continue;
      n++;
      if (f.name.slice(f.name.indexOf("(")) === ours.stackFrames[id].name.slice(ours.stackFrames[id].name.indexOf("("))) same++;
    }
    console.log(`hermes: ${same} of ${n} frames have the file, line and column of metro-symbolicate`);' "$made")
  ;;
kept)
  to=$here/kept
  mkdir -p "$to"
  (cd "$here" && "$esbuild" src/main.js --bundle --minify --sourcemap --format=iife --outfile="$to/shop.js" --log-level=error)
  out=$to profile "$to/shop.js" 300 full.cpuprofile
  # The engine's own nodes differ from machine to machine: only the program's stay.
  node -e '
    const fs = require("fs"), [dir] = process.argv.slice(1), p = JSON.parse(fs.readFileSync(dir + "/full.cpuprofile", "utf8"));
    const by = new Map(p.nodes.map(n => [n.id, n])), keep = new Set([1]);
    const mark = n => { let has = n.callFrame.url.endsWith("shop.js"); for (const c of n.children || []) if (mark(by.get(c))) has = true; if (has) keep.add(n.id); return has; };
    mark(p.nodes[0]);
    p.nodes = p.nodes.filter(n => keep.has(n.id)).map(n => ({...n, callFrame: {...n.callFrame, url: n.callFrame.url.endsWith("shop.js") ? "https://shop.test/shop.js" : n.callFrame.url.replace(/^file:.*\//, "file:///srv/")}, ...(n.children && {children: n.children.filter(c => keep.has(c))})}));
    const samples = [], deltas = [];
    let held = 0;
    p.samples.forEach((id, i) => { held += p.timeDeltas[i]; if (keep.has(id)) { samples.push(id); deltas.push(held); held = 0; } });
    fs.writeFileSync(dir + "/shop.cpuprofile", JSON.stringify({...p, samples, timeDeltas: deltas}));' "$to"
  rm "$to/full.cpuprofile"
  (cd "$names" && node "$here/truth.mjs" shop 300 "$to/shop.truth.json" "$here/src/main.js")
  "$2" symbolicate "$to/shop.cpuprofile" --symbols "$to/shop.js" --symbols "$to/shop.js.map" --log-level error --output "$to/shop.answered.cpuprofile"
  node "$here/compare.mjs" "$to/shop.truth.json" "$to/shop.cpuprofile" "$to/shop.answered.cpuprofile" shop.js # all must be right
  ;;
*)
  [ $# -gt 0 ] || set -- acorn graphql marked preact rxjs
  for p in "$@"; do
    [ -e "$out/$p.truth.json" ] || (cd "$names" && node "$here/truth.mjs" "$p" 300 "$out/$p.truth.json")
    for b in $bundlers; do
      [ -e "$out/$b-$p.cpuprofile" ] || profile "$names/out/$b-$p.js" 700 "$b-$p.cpuprofile"
    done
  done
  cd "$out/hermes"
  cp "$here/hermes.js" app.src.js
  "$esbuild" app.src.js --minify --sourcemap --outfile=app.js --log-level=error
  "$hermes/hermesc" -O -emit-binary -output-source-map -out app.hbc app.js
  (cd "$cache/npm" && node -e '
    const {composeSourceMaps} = require("metro-source-map"), fs = require("fs"), [dir] = process.argv.slice(1), read = f => JSON.parse(fs.readFileSync(dir + "/" + f, "utf8"));
    fs.writeFileSync(dir + "/app.map", JSON.stringify({...composeSourceMaps([read("app.js.map"), read("app.hbc.map")]), x_facebook_sources: undefined, sourcesContent: [fs.readFileSync(dir + "/app.src.js", "utf8")], file: "app.map"}));' "$out/hermes")
  "$hermes/hermes" -sample-profiling app.hbc 2> app.cpuprofile >/dev/null
  ;;
esac
