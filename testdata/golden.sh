#!/bin/sh
# Records X.golden.json beside the objects of elf/, macho/, pe/ and pdb/: what llvm-symbolizer-19 and
# llvm-cxxfilt-19 answer. Needs Go, llvm-19 and lld-19. stacks/X.expected.txt
# follow from them: go test ./formats/report/all -update. Review changes like code.
set -eu
cd "$(dirname "$0")"
exec go run ./golden.go ./goldenmacho.go ./goldenpe.go ./goldenpdb.go
