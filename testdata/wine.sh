#!/usr/bin/env bash
# Make a folder of Wine's, in which tests run the program for Windows. Usage: wine.sh FOLDER
# Go programs ask Windows for random bytes by ProcessPrng of bcryptprimitives.dll, which Wine has since 8.18. For an older
# one this makes the library: it takes the bytes from advapi32.dll.
set -euo pipefail
folder=$1
mark=$folder/.made-1
[ ! -e "$mark" ] || exit 0
wine=$(command -v wine64 || command -v /usr/lib/wine/wine64 || command -v wine)
rm -rf "$folder"
mkdir -p "$folder"
export WINEPREFIX=$folder WINEDEBUG=-all WINEDLLOVERRIDES="mscoree,mshtml="
"$wine" wineboot -i >/dev/null 2>&1
system=$folder/drive_c/windows/system32
if [ ! -e "$system/bcryptprimitives.dll" ]; then
  made=$(mktemp -d)
  trap 'rm -rf "$made"' EXIT
  cd "$made"
  cat > prng.c <<'C'
__declspec(dllimport) unsigned char SystemFunction036(void *bytes, unsigned long count);
__declspec(dllexport) int ProcessPrng(void *bytes, unsigned long long count) { return SystemFunction036(bytes, (unsigned long)count); }
C
  printf 'LIBRARY advapi32.dll\nEXPORTS\nSystemFunction036\n' > advapi32.def
  llvm-dlltool-19 -m i386:x86-64 -d advapi32.def -l advapi32.lib
  clang-19 --target=x86_64-pc-windows-msvc -O1 -c prng.c -o prng.o
  lld-link-19 /dll /noentry /out:"$system/bcryptprimitives.dll" prng.o advapi32.lib
fi
touch "$mark"
