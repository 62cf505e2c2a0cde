#!/usr/bin/env bash
# clients.sh DIR: what the clients of symlake serve are made, checked and tried with, in DIR, outside the tree: gRPC's
# own client and protoc, mypy, pytest and setuptools in DIR/py. Needs python3 with venv. Does nothing when DIR already
# has these versions.
set -euo pipefail
[ $# = 1 ] || { echo "usage: clients.sh DIR" >&2; exit 2; }
versions="grpcio==1.85.1 grpcio-tools==1.85.1 protobuf==7.36.2 setuptools==84.2.1 mypy==2.4.1 pytest==9.2.0"
[ "$(cat "$1/.versions" 2>/dev/null)" = "$versions" ] && exit 0
rm -rf "$1/py" "$1/.versions"
python3 -m venv "$1/py"
# shellcheck disable=SC2086
"$1/py/bin/pip" install --quiet --disable-pip-version-check $versions
echo "$versions" > "$1/.versions" # last: marks the folder as complete
