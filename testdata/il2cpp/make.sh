#!/bin/sh
# Builds libil2cpp.so and its maps from src/, and asks llvm-symbolizer for the golden: what the places in C++ are in C#, by reading
# the marks in src/ again. Running it twice gives identical bytes. Tools: Debian's clang-19, lld-19, llvm-19, Python.
set -eu
cd "$(dirname "$0")"
here=$PWD
for f in Assembly-CSharp Generics; do
	clang++-19 -O2 -g -gdwarf-4 -std=c++17 -fno-exceptions -fno-rtti -ffreestanding -nostdlib -fPIC --target=aarch64-linux-android21 \
		-ffile-prefix-map="$here/src=/build/il2cppOutput" -c "$here/src/$f.cpp" -o "/tmp/il2cpp-$$-$f.o"
done
ld.lld-19 -shared --build-id=sha1 -soname libil2cpp.so -z max-page-size=16384 "/tmp/il2cpp-$$-Assembly-CSharp.o" "/tmp/il2cpp-$$-Generics.o" -o libil2cpp.so
rm "/tmp/il2cpp-$$-"*.o
printf '%s\t%s\t%s\n' \
	Player_Update_mBAE6F283CF1BF849003C4A07636457CD26794A4A 'System.Void Game.Player::Update(System.Single)' Assembly-CSharp \
	Player_Hit_m3F2A1B4C5D6E7F8091A2B3C4D5E6F708192A3B4C 'System.Void Game.Player::Hit(System.Int32)' Assembly-CSharp \
	Player_get_Health_m0123456789ABCDEF0123456789ABCDEF01234567 'System.Int32 Game.Player::get_Health()' Assembly-CSharp \
	Inventory_1_get_Item_m00112233445566778899AABBCCDDEEFF00112233_gshared 'T Game.Inventory`1<System.Int32>::get_Item(System.Int32)' Assembly-CSharp \
	NULL 'System.Void Game.Unused::Abstract()' Assembly-CSharp >MethodMap.tsv
python3 golden.py
