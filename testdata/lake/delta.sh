#!/usr/bin/env bash
# delta.sh DIR: deltalake, which reads Delta tables in tests, outside the tree, in DIR/delta. Needs python3 with venv. Does nothing
# when DIR already has this version.
set -euo pipefail
[ $# = 1 ] || { echo "usage: delta.sh DIR" >&2; exit 2; }
versions="deltalake==1.6.6 pyarrow==26.0.1"
mkdir -p "$1"
dir=$(cd "$1" && pwd)/delta
[ "$(cat "$dir/.versions" 2>/dev/null)" = "$versions" ] && exit 0
rm -rf "$dir"
python3 -m venv "$dir"
# shellcheck disable=SC2086
"$dir/bin/pip" install --quiet --disable-pip-version-check $versions
echo "$versions" > "$dir/.versions" # last: marks the folder as complete
