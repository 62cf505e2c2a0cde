#!/bin/sh
# Writes answers.tsv.zst: name, text of llvm-undname, its text with the flags of llvm-symbolizer. It needs clang-19, llvm-19 and zstd.
set -eu
cd "$(dirname "$0")"
work=$(mktemp -d)
trap 'rm -r "$work"' EXIT
for target in x86_64 i686; do
	clang++-19 --target=$target-pc-windows-msvc -std=c++20 -w -O0 -msse2 -fcxx-exceptions -fexceptions -c names.cpp -o "$work/$target.o"
	llvm-nm-19 "$work/$target.o" | sed 's/^.* [a-zA-Z] //'
done >"$work/all"
{
	grep '^?' "$work/all"
	sed -n 's/^??_R0\(.*\)@8$/.\1/p' "$work/all"
} | LC_ALL=C sort -u >"$work/names"
# llvm-undname prints the name, its text and an empty line; of a name that it cannot read no text
texts() { llvm-undname-19 "$@" <"$work/names" 2>/dev/null | awk 'BEGIN { RS = ""; FS = "\n" } NF == 2 { print $1 "\t" $2 }'; }
texts >"$work/full"
texts --no-access-specifier --no-calling-convention --no-return-type --no-member-type | cut -f2 >"$work/frame"
paste "$work/full" "$work/frame" | zstd -q -19 -f -o answers.tsv.zst
