#!/usr/bin/env bash
# Run golangci-lint, by the rules in .ci/golangci.yml. It is built into CACHE/bin first: other versions
# have other rules. Usage: lint.sh CACHE [FLAG...]
set -euo pipefail
version=v2.15.0
cache=$1
shift
cd "$(dirname "$0")/.."

mark=$cache/bin/.golangci-lint-$version
if [ ! -e "$mark" ]; then
  mkdir -p "$cache/bin"
  GOFLAGS= CGO_ENABLED=0 GOBIN=$cache/bin go install "github.com/golangci/golangci-lint/v2/cmd/golangci-lint@$version"
  touch "$mark"
fi
"$cache/bin/golangci-lint" run --config .ci/golangci.yml "$@" ./... ./testdata/bench/... ./testdata/steps ./testdata/profile/raw
