#!/usr/bin/env bash
# schemathesis.sh DIR: the client that fuzzes symlake serve by its OpenAPI file, in DIR, outside the tree. Needs python3
# with venv. Does nothing when DIR already has this version.
set -euo pipefail
[ $# = 1 ] || { echo "usage: schemathesis.sh DIR" >&2; exit 2; }
version="schemathesis==4.32.5"
[ "$(cat "$1/.version" 2>/dev/null)" = "$version" ] && exit 0
rm -rf "$1"
python3 -m venv "$1"
"$1/bin/pip" install --quiet --disable-pip-version-check "$version"
echo "$version" > "$1/.version" # last: marks the folder as complete
