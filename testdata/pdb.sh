#!/bin/sh
# Builds pdb/prog-ARCH.pdb and the images beside them from pdb/src/: clang and lld, no headers and no library of Windows.
# Running it twice gives identical bytes. Needs clang-19 and lld-19. Then golden.sh.
set -eu
cd "$(dirname "$0")/pdb"
out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT
cp src/* "$out"
for arch in x64:x86_64 x86:i686 arm64:aarch64; do
  safe=
  [ "$arch" = x86:i686 ] && safe=/safeseh:no
  (
    cd "$out"
    for unit in world other; do
      clang-19 --target="${arch#*:}-pc-windows-msvc" -std=c++17 -O2 -g -gcodeview -gcolumn-info -fno-exceptions -fno-rtti -ffunction-sections \
        -mno-stack-arg-probe -fdebug-compilation-dir='C:\game' -no-canonical-prefixes -gno-codeview-command-line -w -c "$unit.cpp" -o "$unit.obj"
    done
    name=prog-${arch%:*}
    lld-link-19 /debug /Brepro "/pdb:$name.pdb" "/pdbaltpath:$name.pdb" "/pdbsourcepath:C:\\game" /nodefaultlib /entry:start $safe \
      /subsystem:console "/out:$name.exe" world.obj other.obj
  )
  mv "$out/prog-${arch%:*}.pdb" "$out/prog-${arch%:*}.exe" .
done
