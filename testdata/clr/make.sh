#!/bin/sh
# Builds the assemblies of this folder again; see README.md.
set -e
cd "$(dirname "$0")"
out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT
mcs -debug -out:"$out/demo.exe" demo.cs
mcs -r:/usr/lib/mono/gac/Mono.Cecil/0.11.0.0__0738eb9f132ed756/Mono.Cecil.dll -r:/usr/lib/mono/4.5/Mono.CompilerServices.SymbolWriter.dll \
  -out:"$out/convert.exe" convert.cs
mono "$out/convert.exe" "$out/demo.exe" demo.exe portable
mono "$out/convert.exe" "$out/demo.exe" embedded.exe embedded
mono --debug demo.exe >demo.lines.txt
cp demo.exe "$out/bare.exe"
mono "$out/bare.exe" >demo.txt
