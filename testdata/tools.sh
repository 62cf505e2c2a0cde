#!/usr/bin/env bash
# Build the programs that only tests use into CACHE/bin, outside the tree.
# They have a module file of their own, so that users do not download them.
# Usage: tools.sh CACHE
set -euo pipefail
cache=$1
cd "$(dirname "$0")/.."
version=$(sed -n 's/.*versity\/versitygw \(v[0-9.]*\).*/\1/p' tools.mod | head -1)
mark=$cache/bin/.versitygw-$version
[ -e "$mark" ] && exit 0
mkdir -p "$cache/bin"
GOFLAGS= CGO_ENABLED=0 go build -modfile=tools.mod -o "$cache/bin/versitygw" github.com/versity/versitygw/cmd/versitygw
touch "$mark"
