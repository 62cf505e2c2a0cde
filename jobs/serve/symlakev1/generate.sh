#!/usr/bin/env bash
# generate.sh CLIENTS [OUT]: the Go form of symlake.proto, into this folder or into OUT. CLIENTS is the
# folder that make clients fills: protoc comes with its grpcio-tools. The plugins are built of the
# versions in go.mod, so that generated code and library agree.
set -euo pipefail
[ $# = 1 ] || [ $# = 2 ] || { echo "usage: generate.sh CLIENTS [OUT]" >&2; exit 2; }
clients=$(cd "$1" && pwd)
cd "$(dirname "$0")"
out=$(cd "${2:-.}" && pwd)
plugins=$(mktemp -d)
trap 'rm -rf "$plugins"' EXIT
go build -o "$plugins/" google.golang.org/protobuf/cmd/protoc-gen-go connectrpc.com/connect/cmd/protoc-gen-connect-go
PATH=$plugins:$PATH "$clients/py/bin/python" -m grpc_tools.protoc -I. \
  --go_out="$out" --go_opt=paths=source_relative \
  --connect-go_out="$out" --connect-go_opt=paths=source_relative symlake.proto
