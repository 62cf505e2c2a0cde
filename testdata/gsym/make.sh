#!/bin/sh
# Makes the GSYM files of ../elf and ../macho with llvm-gsymutil-19.
set -eu
cd "$(dirname "$0")"
convert() { llvm-gsymutil-19 --quiet --num-threads=1 --convert="$1" --out-file="$2" >/dev/null; }
for name in libgame-arm64-dw5 libgame-arm64be-dw5 libgame-armv7thumb-dw5 libgame-x64-dw5 libgame-x86-dw4; do
	convert ../elf/$name.so $name.gsym
done
convert ../macho/libgame.dylib.dSYM/Contents/Resources/DWARF/libgame.dylib libgame.dylib.gsym
