#!/bin/sh
# Builds dart/app.* from src/dart.c, in the forms in which Flutter keeps the
# symbols of an obfuscated program with a deferred library. Running it twice
# gives identical bytes; the tools are Debian's clang-19, lld-19 and llvm-19
# (19.1.7). What else is in dart/ is not made here: see README.md.
set -eu
cd "$(dirname "$0")"
here=$PWD
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cp -R src "$work/src"
out=$work/dart
mkdir "$out"
cd "$work"

# compile TARGET UNIT OBJECT: names in Dart's spelling, each as long as it was:
# the assembly holds offsets between them.
compile() {
	clang-19 -O2 -gdwarf-2 -ffreestanding -nostdlib -fPIC -fomit-frame-pointer -fdebug-compilation-dir=/shop -DUNIT="$2" --target="$1" -S src/dart.c -o unit.s
	sed -e 's/"\?\(_\?\)newWba"\?/"\1new ba"/g; s/"\?\(_\?\)baZcaZLanonymousWclosureG"\?/"\1ba.ca.<anonymous closure>"/g' \
		-e 's/\<\(_\?[a-z]a\)Z/\1./g' unit.s > dart.s
	clang-19 --target="$1" -c dart.s -o "$3"
}

# symbols TARGET UNIT FILE LINKER-FLAGS…: an ELF file of debug information alone.
symbols() {
	target=$1 unit=$2 file=$3
	shift 3
	compile "$target" "$unit" unit.o
	ld.lld-19 -shared -z max-page-size=16384 "$@" unit.o -o unit.so
	llvm-objcopy-19 --only-keep-debug --strip-symbol=dart.c unit.so "$out/$file"
}

android=aarch64-linux-android21
symbols $android 1 app.android-arm64.symbols --build-id=md5
symbols $android 2 app.android-arm64.symbols-2.part.so --build-id=md5
symbols armv7a-linux-androideabi21 1 app.android-arm.symbols --build-id=md5
# What older compilers wrote for iOS: no build-id.
symbols $android 1 app.ios-arm64.symbols --build-id=none

# What newer ones do: a dSYM of App.framework.
compile arm64-apple-ios14.0 1 app.o
touch -d @1700000000 app.o
ZERO_AR_DATE=1 ld64.lld-19 -dylib -arch arm64 -platform_version ios 14.0 14.0 -undefined dynamic_lookup -oso_prefix "$work/" -install_name @rpath/App.framework/App app.o -o App
dsymutil-19 --oso-prepend-path="$work" App -o "$out/App.framework.dSYM"
rm -rf "$out/App.framework.dSYM/Contents/Resources/Relocations"

for file in "$out"/*; do
	rm -rf "$here/dart/$(basename "$file")"
	cp -R "$file" "$here/dart/"
done
