#!/bin/sh
# Builds elf/ from src/. Running it twice gives identical bytes; the tools are
# Debian's clang-19, lld-19 and llvm-19 (19.1.7), binutils (for .zdebug, which
# LLVM no longer writes), g++-12 and dwz, xz-utils, zip, zstd, tar and gzip.
set -eu
cd "$(dirname "$0")"
export LC_ALL=C TZ=UTC SOURCE_DATE_EPOCH=1700000000
umask 022
here=$PWD
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cp -R src "$work/src"
out=$work/elf
mkdir -p "$out"
cd "$work"

flags="-O2 -fno-exceptions -fno-rtti -ffreestanding -nostdlib -ffile-prefix-map=$work=."

# compile NAME TARGET FLAGS…: NAME-engine.o and NAME-main.o
compile() {
	name=$1 target=$2
	shift 2
	for unit in engine main; do
		clang++-19 $flags --target="$target" -fPIC "$@" -c "src/$unit.cpp" -o "$name-$unit.o"
	done
}

# link NAME FLAGS…: libgame.so of what compile made
link() {
	name=$1
	shift
	ld.lld-19 -shared --build-id=sha1 -soname libgame.so --allow-shlib-undefined -z max-page-size=16384 "$@" \
		"$name-engine.o" "$name-main.o" -o "$name.so"
}

# library FILE TARGET FLAGS…
library() {
	file=$1
	compile "$@"
	link "$file"
	mv "$file.so" "$out/libgame-$file.so"
}

library arm64-dw4 aarch64-linux-android21 -gdwarf-4
library arm64-dw5 aarch64-linux-android21 -gdwarf-5
library arm64-dwarf64 aarch64-linux-android21 -gdwarf-5 -gdwarf64
library arm64-linetables aarch64-linux-android21 -gdwarf-5 -gline-tables-only
library armv7-dw4 armv7a-linux-androideabi21 -marm -gdwarf-4
library armv7thumb-dw5 thumbv7a-linux-androideabi21 -mthumb -gdwarf-5
library x86-dw4 i686-linux-android21 -gdwarf-4
library x64-dw5 x86_64-linux-android21 -gdwarf-5
library x64-typeunits x86_64-linux-android21 -gdwarf-5 -fdebug-types-section
library x64-typeunits-dw4 x86_64-linux-android21 -gdwarf-4 -fdebug-types-section
library riscv64-dw5 riscv64-linux-android35 -mno-relax -gdwarf-5
library arm64be-dw5 aarch64_be-linux-gnu -gdwarf-5

# C++ in one unit that inlined the other: origins across units.
compile thinlto aarch64-linux-android21 -gdwarf-5 -flto=thin
link thinlto -O2
mv thinlto.so "$out/libgame-arm64-thinlto.so"

# Compressed sections.
link arm64-dw4 --compress-debug-sections=zlib
mv arm64-dw4.so "$out/libgame-arm64-dw4-zlib.so"
link arm64-dw5 --compress-debug-sections=zstd
mv arm64-dw5.so "$out/libgame-arm64-dw5-zstd.so"
objcopy --compress-debug-sections=zlib-gnu "$out/libgame-x64-dw5.so" "$out/libgame-x64-zdebug.so"

# A stripped twin of libgame-arm64-dw5.so: the same build-id, dynamic symbols only.
llvm-objcopy-19 --strip-all "$out/libgame-arm64-dw5.so" "$out/libgame-arm64-stripped.so"

# A separate debug file, found by build-id; and one found by its debuglink alone.
mkdir "$out/separate" "$out/separate-noid"
llvm-objcopy-19 --only-keep-debug "$out/libgame-arm64-dw4.so" "$out/separate/sep.dbg"
(cd "$out/separate" && llvm-objcopy-19 --strip-all --add-gnu-debuglink=sep.dbg ../libgame-arm64-dw4.so libgame.so)
link x64-dw5 --build-id=none
llvm-objcopy-19 --only-keep-debug x64-dw5.so "$out/separate-noid/noid.dbg"
(cd "$out/separate-noid" && llvm-objcopy-19 --strip-all --add-gnu-debuglink=noid.dbg "$work/x64-dw5.so" libgame.so)

# Twins with .eh_frame, which the debug file has lost.
mkdir "$out/twins"
compile twins x86_64-linux-android21 -gdwarf-5 -fasynchronous-unwind-tables
link twins --eh-frame-hdr
llvm-objcopy-19 --only-keep-debug twins.so "$out/twins/libgame.so.debug"
llvm-objcopy-19 --strip-all twins.so "$out/twins/libgame.so"

# Split DWARF, version 5 and the extension of version 4: the units beside the
# library, and packed.
for version in 4 5; do
	split=$out/split-dw$version
	mkdir "$split"
	for unit in engine main; do
		clang++-19 $flags --target=aarch64-linux-android21 -fPIC -gdwarf-$version -gsplit-dwarf -c "src/$unit.cpp" -o "$unit.o"
		cp "$unit.dwo" "$split/"
	done
	ld.lld-19 -shared --build-id=sha1 -soname libgame.so --allow-shlib-undefined -z max-page-size=16384 engine.o main.o -o "$split/libgame.so"
	(cd "$split" && llvm-dwp-19 engine.dwo main.dwo -o libgame.so.dwp)
done

# dwz: what two libraries share is in a third file, tied to them by
# .gnu_debugaltlink or, in DWARF 5, by .debug_sup. before.so is one of them as it
# was.
for version in 4 5; do
	shared=$out/dwz-dw$version
	mkdir "$shared"
	for unit in engine main; do
		g++ -O2 -fno-exceptions -fno-rtti -ffreestanding -ffile-prefix-map="$work"=. -fPIC -gdwarf-$version -c "src/$unit.cpp" -o "$unit.o"
	done
	(
		cd "$shared"
		ld.lld-19 -shared --build-id=sha1 -soname libone.so --allow-shlib-undefined ../../engine.o ../../main.o -o libone.so
		ld.lld-19 -shared --build-id=sha1 -soname libtwo.so --allow-shlib-undefined ../../main.o ../../engine.o -o libtwo.so
		cp libone.so before.so
		if [ $version = 5 ]; then form=-5; else form=; fi
		dwz $form -m common.debug libone.so libtwo.so
		rm libtwo.so
	)
done

# Relocatable objects: addresses in debug sections are zero until relocated.
mkdir "$out/obj"
object() {
	name=$1 target=$2
	shift 2
	clang++-19 $flags --target="$target" -gdwarf-5 "$@" -c src/engine.cpp -o "$out/obj/engine-$name.o"
}
object x64 x86_64-linux-gnu
object arm64 aarch64-linux-gnu
object arm armv7a-linux-gnueabihf
object riscv64 riscv64-linux-gnu # lengths in its debug sections are pairs of relocations (SET, SUB)
object s390x s390x-linux-gnu     # big-endian

# MiniDebugInfo, as Android's system libraries carry it: the symbols that
# .dynsym lacks, in an ELF file of their own, xz, in a section of the stripped
# library.
mkdir "$out/minidebuginfo"
full=$out/libgame-x64-dw5.so
llvm-nm-19 -D --defined-only --format=posix "$full" | cut -d' ' -f1 | sort >dynamic
llvm-nm-19 --defined-only --format=posix "$full" | awk '$2 ~ /^[Tt]$/ { print $1 }' | sort >functions
comm -13 dynamic functions >keep
llvm-objcopy-19 --only-keep-debug "$full" inner.dbg
llvm-objcopy-19 --strip-all --remove-section=.comment --keep-symbols=keep inner.dbg inner.elf
xz -9e -T1 --check=crc64 -c inner.elf >inner.xz
llvm-objcopy-19 --strip-all --add-section=.gnu_debugdata=inner.xz "$full" "$out/minidebuginfo/libgame.so"

# Archives.
mkdir "$out/archive"
(cd "$out/obj" && llvm-ar-19 rcsD ../archive/libengine.a engine-x64.o engine-arm64.o)
mkdir -p apk/lib/arm64-v8a apk/lib/x86_64
cp "$out/libgame-arm64-dw5.so" apk/lib/arm64-v8a/libgame.so
cp "$out/libgame-x64-dw5.so" apk/lib/x86_64/libgame.so
echo '<manifest package="com.example.game"/>' >apk/AndroidManifest.xml
find apk -type f -exec chmod 644 {} +
find apk -exec touch -d @$SOURCE_DATE_EPOCH {} +
(cd apk && zip -q -X -0 ../game.apk lib/arm64-v8a/libgame.so && zip -q -X -9 ../game.apk lib/x86_64/libgame.so AndroidManifest.xml)
mv game.apk "$out/archive/"
mkdir -p symbols/x86 symbols/riscv64
cp "$out/libgame-x86-dw4.so" symbols/x86/libgame.so
cp "$out/libgame-riscv64-dw5.so" symbols/riscv64/libgame.so
tar --sort=name --format=ustar --mtime=@$SOURCE_DATE_EPOCH --owner=0 --group=0 --numeric-owner --mode=go=rX,u=rwX -cf symbols.tar symbols
gzip -n9 <symbols.tar >"$out/archive/symbols.tar.gz"
zstd -q -19 -c symbols.tar >"$out/archive/symbols.tar.zst"

find "$out" -type f -exec chmod 644 {} +
# Goldens stay: golden.sh makes them.
mkdir -p "$here/elf"
find "$here/elf" -type f ! -name '*.golden.json' -delete
cp -R "$out/." "$here/elf/"
