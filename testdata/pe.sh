#!/bin/sh
# Builds pe/ from src/. Running it twice gives identical bytes; the tools are Debian's clang-19, lld-19 and llvm-19
# (19.1.7). No Windows and no MinGW is needed.
set -eu
cd "$(dirname "$0")"
export LC_ALL=C TZ=UTC
umask 022
here=$PWD
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cp -R src "$work/src"
out=$work/pe
mkdir -p "$out"
cd "$work"

flags="-O2 -fno-exceptions -fno-rtti -ffreestanding -nostdlib -fasynchronous-unwind-tables -ffile-prefix-map=$work=."
echo 'void __main(void) {}' >start.c

# library NAME MACHINE TARGET FLAGS…: libgame-NAME.dll, of DWARF
library() {
	name=$1 machine=$2 target=$3
	shift 3
	for unit in engine main; do
		clang++-19 $flags --target="$target-w64-windows-gnu" "$@" -c "src/$unit.cpp" -o "$name-$unit.o"
	done
	clang-19 -O2 -fasynchronous-unwind-tables --target="$target-w64-windows-gnu" -c start.c -o "$name-start.o"
	link "$name" "$machine" "$name" --build-id
	mv "$name.dll" "$out/libgame-$name.dll"
}

# link FILE MACHINE OBJECTS FLAGS…: FILE.dll
link() {
	file=$1 machine=$2 objects=$3
	shift 3
	ld.lld-19 -m "$machine" --shared --no-insert-timestamp --export-all-symbols --entry=game_entry "$@" \
		"$objects-engine.o" "$objects-main.o" "$objects-start.o" -o "$file.dll"
}

library x64-dw5 i386pep x86_64 -gdwarf-5
library x64-dw4 i386pep x86_64 -gdwarf-4 -fno-omit-frame-pointer
library x86-dw4 i386pe i686 -gdwarf-4
library arm64-dw5 arm64pe aarch64 -gdwarf-5
library arm-dw5 thumb2pe armv7 -gdwarf-5

# Split off: by build-id; by debuglink alone, as images have none by default. And a twin with exports alone.
mkdir "$out/separate" "$out/separate-noid"
llvm-objcopy-19 --only-keep-debug "$out/libgame-x64-dw5.dll" "$out/separate/libgame.dbg"
llvm-objcopy-19 --strip-all "$out/libgame-x64-dw5.dll" "$out/separate/libgame.dll"
link noid i386pep x64-dw4
llvm-objcopy-19 --only-keep-debug noid.dll "$out/separate-noid/libgame.dbg"
(cd "$out/separate-noid" && llvm-objcopy-19 --strip-all --add-gnu-debuglink=libgame.dbg "$work/noid.dll" libgame.dll)

find "$out" -type f -exec chmod 644 {} +
# Goldens stay: golden.sh makes them.
mkdir -p "$here/pe"
find "$here/pe" -type f ! -name '*.golden.json' -delete
cp -R "$out/." "$here/pe/"
