#!/bin/sh
# Builds macho/ from src/. Running it twice gives identical bytes; the tools are
# Debian's clang-19, lld-19 and llvm-19 (19.1.7), zip, tar and gzip. No Mac and
# no SDK is needed.
set -eu
cd "$(dirname "$0")"
export LC_ALL=C TZ=UTC SOURCE_DATE_EPOCH=1700000000 ZERO_AR_DATE=1
umask 022
here=$PWD
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cp -R src "$work/src"
out=$work/macho
mkdir -p "$out"
cd "$work"

flags="-O2 -fno-exceptions -fno-rtti -ffreestanding -ffile-prefix-map=$work=."

# link FILE ARCH PLATFORM OBJECTS…: a library; its debug map names the objects without their folder.
link() {
	file=$1 arch=$2 platform=$3
	shift 3
	touch -d @$SOURCE_DATE_EPOCH "$@"
	ld64.lld-19 -dylib -arch "$arch" -platform_version "$platform" 14.0 14.0 -undefined dynamic_lookup -oso_prefix "$work/" \
		-install_name "@rpath/$(basename "$file")" "$@" -o "$file"
}

# library NAME TARGET ARCH PLATFORM FLAGS…: NAME/libgame.dylib and its bundle.
library() {
	name=$1 target=$2 arch=$3 platform=$4
	shift 4
	mkdir -p "$name"
	for unit in engine main; do
		clang++-19 $flags --target="$target" "$@" -c "src/$unit.cpp" -o "$name/$unit.o"
	done
	link "$name/libgame.dylib" "$arch" "$platform" "$name/engine.o" "$name/main.o"
	dsymutil-19 --oso-prepend-path="$work" "$name/libgame.dylib" -o "$name/libgame.dylib.dSYM"
	rm -rf "$name/libgame.dylib.dSYM/Contents/Resources/Relocations"
}

library ios-arm64 arm64-apple-ios14.0 arm64 ios -gdwarf-4
library mac-arm64 arm64-apple-macosx14.0 arm64 macos -gdwarf-5
library mac-x64 x86_64-apple-macosx14.0 x86_64 macos -gdwarf-4

# A bundle, thin; two slices, and the same with 64-bit offsets.
cp -R ios-arm64/libgame.dylib.dSYM "$out/"
dwarf=libgame.dylib.dSYM/Contents/Resources/DWARF/libgame.dylib
llvm-lipo-19 -create mac-arm64/$dwarf mac-x64/$dwarf -output "$out/libgame-fat.dSYM"
llvm-lipo-19 -create -fat64 mac-arm64/$dwarf mac-x64/$dwarf -output "$out/libgame-fat64.dSYM"

# A library without its dSYM: the debug map leads to an object file and to a
# member of a static library.
mkdir -p "$out/objects" mapped
cp ios-arm64/engine.o ios-arm64/main.o mapped/
(cd mapped && llvm-ar-19 rcsD libmain.a main.o && rm main.o)
touch -d @$SOURCE_DATE_EPOCH mapped/engine.o mapped/libmain.a
ld64.lld-19 -dylib -arch arm64 -platform_version ios 14.0 14.0 -undefined dynamic_lookup -oso_prefix "$work/" \
	-install_name @rpath/libmapped.dylib mapped/engine.o -all_load mapped/libmain.a -o "$out/objects/libmapped.dylib"
cp mapped/engine.o mapped/libmain.a "$out/objects/"

# Hidden names, and the map that has them.
clang-19 -O1 -gdwarf-4 -ffreestanding -ffile-prefix-map=$work=. --target=arm64-apple-ios14.0 -c src/hidden.c -o hidden.o
link libhidden.dylib arm64 ios hidden.o
dsymutil-19 --oso-prepend-path="$work" libhidden.dylib -o libhidden.dSYM
mkdir -p "$out/hidden/BCSymbolMaps"
cp libhidden.dSYM/Contents/Resources/DWARF/libhidden.dylib "$out/hidden/libhidden"
uuid=$(llvm-dwarfdump-19 --uuid "$out/hidden/libhidden" | cut -d' ' -f2)
printf 'BCSymbolMap Version: 2.0\n_game_draw\n_game_score\n' >"$out/hidden/BCSymbolMaps/$uuid.bcsymbolmap"

# Compact unwind information. Beside each library stand the last row of each function's call frame information, as
# llvm-dwarfdump prints it of the object file with DWARF, and the function's address in the library.
mkdir -p "$out/frames"
frames() {
	name=$1 target=$2 arch=$3
	shift 3
	for tables in -funwind-tables -g; do
		clang-19 --target="$target" -O2 -ffreestanding $tables -fno-stack-protector -fno-stack-check "$@" -c src/frames.c -o "$name$tables.o"
	done
	ld64.lld-19 -dylib -arch "$arch" -platform_version macos 14.0 14.0 -undefined dynamic_lookup -S -install_name "@rpath/$name.dylib" \
		"$name-funwind-tables.o" -o "$out/frames/$name.dylib"
	llvm-nm-19 "$name-g.o" >"$name.own"
	llvm-nm-19 "$out/frames/$name.dylib" >"$name.linked"
	llvm-dwarfdump-19 --debug-frame "$name-g.o" | awk -v own="$name.own" -v linked="$name.linked" '
		function tell() { if (row != "") print linkedAt[name[start]], row; row = "" }
		BEGIN {
			while ((getline line <own) > 0) { split(line, f, " "); if (f[3] ~ /^_/) name[substr(f[1], 9)] = f[3] }
			while ((getline line <linked) > 0) { split(line, f, " "); linkedAt[f[3]] = f[1] }
		}
		/ FDE / { tell(); start = substr($0, index($0, "pc=") + 3, 8) }
		/^  0x.*: CFA=/ { row = substr($0, index($0, "CFA=")) }
		END { tell() }' >"$out/frames/$name.txt"
}
frames x64 x86_64-apple-macosx14.0 x86_64
frames x64-omit x86_64-apple-macosx14.0 x86_64 -fomit-frame-pointer
frames arm64 arm64-apple-macosx14.0 arm64

# Uploads: with what a Mac adds to archives, and bundles without their file.
mkdir -p upload/dSYMs upload/__MACOSX/dSYMs
cp -R ios-arm64/libgame.dylib.dSYM upload/dSYMs/
printf '\000\005\026\007\000\002\000\000Mac OS X        ' >upload/dSYMs/._libgame.dylib.dSYM
cp upload/dSYMs/._libgame.dylib.dSYM upload/__MACOSX/dSYMs/._libgame.dylib.dSYM
mkdir -p upload/dSYMs/Empty.app.dSYM/Contents/Resources/DWARF
cp ios-arm64/libgame.dylib.dSYM/Contents/Info.plist upload/dSYMs/Empty.app.dSYM/Contents/
find upload -type f -exec chmod 644 {} +
find upload -exec touch -d @$SOURCE_DATE_EPOCH {} +
(cd upload && find dSYMs __MACOSX -type f | sort | zip -q -X -9 "$out/dSYMs.zip" -@)
tar --sort=name --format=ustar --mtime=@$SOURCE_DATE_EPOCH --owner=0 --group=0 --numeric-owner --mode=go=rX,u=rwX -C upload -cf - dSYMs | gzip -n9 >"$out/dSYMs.tgz"

find "$out" -type f -exec chmod 644 {} +
# Goldens stay: golden.sh makes them.
mkdir -p "$here/macho"
find "$here/macho" -type f ! -name '*.golden.json' -delete
cp -R "$out/." "$here/macho/"
