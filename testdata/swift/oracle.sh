#!/usr/bin/env bash
# Build CACHE/bin/swift-oracle from Apple's own demangler, as crates carry it,
# and fetch programs written in Swift into CACHE/swift, for their names.
# Usage: oracle.sh CACHE
set -euo pipefail
cache=$1
here=$(cd "$(dirname "$0")" && pwd)
mkdir -p "$cache/bin" "$cache/swift"

mark=$(cat "$here/oracle.sh" "$here/oracle/oracle.cpp" "$here/oracle/Cargo.toml" | sha256sum | cut -c1-16)
if [ ! -e "$cache/bin/.swift-oracle-$mark" ]; then
  for tool in cargo g++ patch; do
    command -v "$tool" >/dev/null || { echo "swift-oracle needs $tool" >&2; exit 1; }
  done
  work=$(mktemp -d)
  trap 'rm -rf "$work"' EXIT
  cp -r "$here/oracle" "$work/"
  (cd "$work/oracle" && cargo vendor --quiet "$work/crates" >/dev/null)
  tree=$work/crates/symbolic-demangle/vendor/swift old=$work/crates/symbolic-demangle-8.8.0/vendor/swift
  [ -d "$old" ] || old=$work/crates/symbolic-demangle/vendor/swift tree=$work/crates/symbolic-demangle-13.9.0/vendor/swift
  # The crate drops the labels of parameters from the simplified form.
  patch -s -R -p4 -d "$tree" < "$tree/1-arguments.patch"
  # The older source on the newer library: its optionals and one renamed method.
  sed -e '/ADT\/Optional.h/d' -e 's/llvm::Optional/std::optional/g; s/llvm::None/std::nullopt/g' \
    -e 's/\.hasValue()/.has_value()/g; s/\.getValue()/.value()/g; s/startswith/starts_with/g' \
    -e 's/#include <vector>/#include <optional>\n#include <vector>/' \
    "$old/lib/Demangling/OldDemangler.cpp" > "$tree/lib/Demangling/OldDemangler.cpp"
  g++ -std=c++17 -O2 -w -fpermissive -DNDEBUG -DSWIFT_STDLIB_HAS_TYPE_PRINTING=1 -DSWIFT_SUPPORT_OLD_MANGLING=1 \
    -DLLVM_DISABLE_ABI_BREAKING_CHECKS_ENFORCING=1 -I"$tree/include" -o "$work/swift-oracle" "$here/oracle/oracle.cpp" \
    "$tree"/lib/Demangling/{Context,Demangler,Errors,ManglingUtils,NodeDumper,NodePrinter,OldDemangler,Punycode,Remangler}.cpp
  mv "$work/swift-oracle" "$cache/bin/swift-oracle"
  touch "$cache/bin/.swift-oracle-$mark"
fi

# npm PACKAGE@VERSION FILE: a file of a package.
npm_file() {
  local to=$cache/swift/${1%@*}
  [ -e "$to" ] && return
  (cd "$cache/swift" && tgz=$(npm pack --silent "$1") && tar -xzOf "$tgz" "package/$2" > "$to.part" && mv "$to.part" "$to" && rm "$tgz")
}
npm_file wallpaper@7.3.1 source/macos-wallpaper
npm_file trash@10.1.1 lib/macos-trash
npm_file file-icon@6.0.0 file-icon
npm_file macos-audio-devices@1.4.0 audio-devices

# A web server, most of it asynchronous, with Swift's own libraries.
if [ ! -e "$cache/swift/peregrine" ]; then
  (cd "$cache/swift" && python3 -m pip download --quiet --no-deps --only-binary=:all: --python-version 3.13 --platform manylinux_2_35_x86_64 peregrine-server==1.2.0 &&
    unzip -p peregrine_server-1.2.0-*.whl 'peregrine/*.so' > peregrine.part && mv peregrine.part peregrine && rm peregrine_server-*.whl)
fi
