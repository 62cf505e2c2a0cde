#!/usr/bin/env bash
# make bench: fetch the inputs once into CACHE, build the Rust peers where cargo is, measure.
# Usage: bench.sh CACHE SYMLAKE [arguments of the bench program]
set -euo pipefail
cache=$1 symlake=$2
shift 2
here=$(cd "$(dirname "$0")" && pwd)
mkdir -p "$cache/inputs" "$cache/deb"

for tool in llvm-gsymutil-19 llvm-objcopy-19 zstd; do
  command -v "$tool" >/dev/null || { echo "bench needs $tool: apt-get install llvm-19 zstd" >&2; exit 1; }
done

# deb NAME PACKAGE PATTERN: the largest file of a Debian package that matches, sections decompressed.
deb() {
  [ -e "$cache/inputs/$1" ] && return
  (cd "$cache/deb" && ls "$2"_*.deb >/dev/null 2>&1 || (cd "$cache/deb" && apt-get download "$2"))
  rm -rf "$cache/deb/x" && mkdir "$cache/deb/x"
  dpkg-deb -x "$cache"/deb/"$2"_*.deb "$cache/deb/x"
  local file
  file=$(find "$cache/deb/x" -type f -name "$3" -printf '%s %p\n' | sort -n | tail -1 | cut -d' ' -f2-)
  llvm-objcopy-19 --decompress-debug-sections --wildcard -R '.rela.debug*' "$file" "$cache/inputs/.$1" && mv "$cache/inputs/.$1" "$cache/inputs/$1"
  rm -rf "$cache/deb/x"
}

# aar NAME GROUP:ARTIFACT:VERSION:aar:CLASSIFIER MEMBER: a library of a Maven archive.
aar() {
  [ -e "$cache/inputs/$1" ] && return
  command -v mvn >/dev/null || { echo "bench: $1 is left out: it needs mvn" >&2; return; }
  mvn -q -B dependency:copy -Dartifact="$2" -DoutputDirectory="$cache/deb" -Dmdep.useBaseVersion=true
  unzip -p "$cache/deb/$(echo "$2" | awk -F: '{print $2"-"$3"-"$5"."$4}')" "$3" > "$cache/inputs/.$1" && mv "$cache/inputs/.$1" "$cache/inputs/$1"
}

if command -v apt-get >/dev/null && command -v dpkg-deb >/dev/null; then
  deb libc libc6-dbg '*.debug'
  deb jvm openjdk-17-dbg '*.debug'
  deb ceph ceph-osd-dbg '*.debug'
  # The newest kernel for clouds: the smallest, all C. Relocations of debug sections that the linker kept are none of its DWARF.
  deb vmlinux "$(apt-cache depends linux-image-cloud-amd64-dbg | awk '/Depends:/{print $2; exit}')" 'vmlinux*'
fi
aar rn-release com.facebook.react:react-android:0.87.1:aar:release prefab/modules/reactnative/libs/android.arm64-v8a/libreactnative.so
aar hermesvm com.facebook.react:hermes-android:0.82.1:aar:debug prefab/modules/hermesvm/libs/android.arm64-v8a/libhermesvm.so
if [ ! -e "$cache/inputs/swiftlint" ] && command -v npm >/dev/null; then
  (cd "$cache/deb" && npm pack --silent @expo/swiftlint@0.57.1 >/dev/null && tar -xzOf expo-swiftlint-0.57.1.tgz package/bin/linux-x64/swiftlint > "$cache/inputs/.swiftlint" && mv "$cache/inputs/.swiftlint" "$cache/inputs/swiftlint")
fi
# dSYMs. Most of NativeScript's code has symbols alone. Of the simulator's one slice is taken: the peers read one.
if [ ! -e "$cache/inputs/ns-sim" ] && command -v npm >/dev/null; then
  (
    cd "$cache/deb"
    [ -e nativescript-ios-8.9.5.tgz ] || npm pack --silent @nativescript/ios@8.9.5 >/dev/null
    tar -xzOf nativescript-ios-8.9.5.tgz package/framework/internal/XCFrameworks.zip > ns.zip
    dsym=dSYMs/NativeScript.framework.dSYM/Contents/Resources/DWARF/NativeScript
    for part in ns-ios:ios-arm64 ns-catalyst:ios-arm64-maccatalyst ns-fat:ios-arm64_x86_64-simulator; do
      unzip -p ns.zip "NativeScript.xcframework/${part#*:}/$dsym" > "${part%:*}"
    done
    llvm-lipo-19 -thin x86_64 ns-fat -output ns-sim
    mv ns-ios ns-catalyst ns-sim "$cache/inputs/"
    rm ns.zip ns-fat
  )
fi
if [ ! -e "$cache/inputs/gdx-ios" ] && command -v mvn >/dev/null; then
  (
    cd "$cache/deb"
    mvn -q -B dependency:copy -Dartifact=com.badlogicgames.gdx:gdx-platform:1.12.1:jar:natives-ios -DoutputDirectory=. -Dmdep.useBaseVersion=true
    name=$(unzip -Z1 gdx-platform-1.12.1-natives-ios.jar | grep 'gdx.framework.dSYM/.*/DWARF/gdx$' | grep -v -i simulator | head -1)
    unzip -p gdx-platform-1.12.1-natives-ios.jar "$name" > "$cache/inputs/.gdx-ios" && mv "$cache/inputs/.gdx-ios" "$cache/inputs/gdx-ios"
  )
fi
# One above 1 GB: dsymutil's, of copies of one object whose functions are all local.
[ -e "$cache/inputs/big-dsym" ] || bash "$here/bigdsym.sh" "$cache/inputs/big-dsym"
# A large Go program: the S3 server of the tests, with its DWARF not compressed.
[ -e "$cache/inputs/gosrv" ] || (cd "$here/../.." && GOFLAGS= CGO_ENABLED=0 go build -modfile=tools.mod -ldflags=-compressdwarf=false -o "$cache/inputs/gosrv" github.com/versity/versitygw/cmd/versitygw)

if command -v java >/dev/null && command -v mvn >/dev/null; then
  sh "$here/../../sinks/hbase/hbasetest/fetch.sh" "$cache/hbase-lib"
  sh "$here/../r8/fresh.sh" "$cache"
  sh "$here/mapping.sh" "$cache/r8-libraries"
fi

peer=
if command -v cargo >/dev/null; then
  (cd "$here/peer" && CARGO_TARGET_DIR="$cache/peer" cargo build --release --quiet)
  peer=$cache/peer/release/peer
fi
bash "$here/pdb.sh" "$cache" || echo "bench: some PDB files are missing" >&2
bash "$here/stacks.sh" "$cache/stacks"
bash "$here/maps.sh" "$cache" "$symlake"
if command -v npm >/dev/null && command -v jsc >/dev/null; then bash "$here/../names/names.sh" "$cache"; fi
if command -v npm >/dev/null; then bash "$here/../js/newest.sh" "$cache"; fi
if command -v perf >/dev/null && command -v google-pprof >/dev/null && command -v cargo >/dev/null; then
  bash "$here/../profile/record.sh" "$cache"
  (cd "$here/../.." && GOFLAGS= GOBIN="$cache/pprof" go install "github.com/google/pprof@$(go list -m -f '{{.Version}}' github.com/google/pprof)")
else
  echo "bench: profiles are left out: they need perf, google-pprof and cargo: apt-get install linux-perf google-perftools" >&2
fi
# Bundles of make names under Node, and a program of ours under Hermes.
if [ -d "$cache/names/out" ] && [ -d "$cache/npm/node_modules" ]; then bash "$here/../profile/script/record.sh" "$cache"; fi
cd "$here/../.." && go run ./testdata/bench -symlake "$symlake" -cache "$cache" -peer "$peer" "$@"
