#!/bin/sh
# Builds the modules beside this file from src/. Running it twice gives identical bytes; the tools are Debian's clang-19,
# lld-19 and llvm-19 (19.1.7).
set -eu
cd "$(dirname "$0")"
export LC_ALL=C
umask 022
out=$PWD
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cp -R src "$work/src"
cd "$work"

# compile FLAGS…: app.o and reads.o
compile() {
	clang++-19 --target=wasm32-unknown-unknown -O2 -ffreestanding -fno-exceptions -fno-rtti -ffile-prefix-map="$work=." "$@" -c src/app.cpp -o app.o
	clang-19 --target=wasm32-unknown-unknown -O1 -ffreestanding -ffile-prefix-map="$work=." "$@" -c src/reads.c -o reads.o
}

# link FILE FLAGS…
link() {
	file=$1
	shift
	wasm-ld-19 --no-entry "$@" app.o reads.o -o "$file"
}

compile -gdwarf-4
link "$out/app-dw4.wasm" --build-id=sha1
compile -gdwarf-5
link "$out/app-dw5.wasm" --build-id=sha1
link "$out/app-noid.wasm" --no-demangle

# Names alone; exports alone; DWARF in a file of its own, with code and without.
llvm-objcopy-19 --strip-debug "$out/app-dw5.wasm" "$out/app-names.wasm"
llvm-objcopy-19 --strip-debug --remove-section=name "$out/app-noid.wasm" "$out/app-noid-stripped.wasm"
rm -rf "$out/external" "$out/split"
mkdir "$out/external" "$out/split"
printf '\016app.debug.wasm' >link
llvm-objcopy-19 --only-keep-debug "$out/app-dw5.wasm" "$out/external/app.debug.wasm"
llvm-objcopy-19 --strip-debug --remove-section=name --add-section=external_debug_info=link "$out/app-dw5.wasm" "$out/external/app.wasm"

# Split DWARF: the units beside the module.
cd "$out/split"
cp -R ../src src
clang++-19 --target=wasm32-unknown-unknown -O2 -ffreestanding -fno-exceptions -fno-rtti -ffile-prefix-map="$PWD=." -gdwarf-5 -gsplit-dwarf -c src/app.cpp -o app.o
clang-19 --target=wasm32-unknown-unknown -O1 -ffreestanding -ffile-prefix-map="$PWD=." -gdwarf-5 -gsplit-dwarf -c src/reads.c -o reads.o
link app.wasm --build-id=sha1
rm -rf app.o reads.o src

# A component: a custom section, the module, and a component with the module in it.
cd "$out"
module=$(wc -c <app-noid.wasm)
leb() { # two bytes hold what is below 16,384
	printf "\\$(printf %03o $(($1 % 128 + 128)))\\$(printf %03o $(($1 / 128)))"
}
{ printf '\000asm\015\000\001\000\001' && leb "$module" && cat app-noid.wasm; } >"$work/inner"
{
	printf '\000asm\015\000\001\000\000\003\002hi\001' && leb "$module" && cat app-noid.wasm
	printf '\004' && leb "$(wc -c <"$work/inner")" && cat "$work/inner"
} >component.wasm
