#!/usr/bin/env bash
# schema.sh DIR: the schema of Perfetto's trace format, as its Python package publishes it, in a virtual environment in
# DIR. Needs python3 with venv. Does nothing when DIR already has these versions.
set -euo pipefail
[ $# = 1 ] || { echo "usage: schema.sh DIR" >&2; exit 2; }
versions="perfetto==0.59.1 protobuf==7.36.2"
mkdir -p "$1"
dir=$(cd "$1" && pwd)
[ "$(cat "$dir/.versions" 2>/dev/null)" = "$versions" ] && exit 0
rm -rf "$dir/py" "$dir/.versions"
python3 -m venv "$dir/py"
# shellcheck disable=SC2086
"$dir/py/bin/pip" install --quiet --disable-pip-version-check $versions
echo "$versions" > "$dir/.versions" # last: marks the folder as complete
