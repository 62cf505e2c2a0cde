#!/usr/bin/env bash
# delta.sh DIR: deltalake, which reads Delta tables in tests, outside the tree, in DIR/delta, and in DIR/delta/jars the jars with
# which Spark 4.1 reads them. Needs python3 with venv, mvn and Java 17 or newer. Does nothing when DIR already has these versions.
set -euo pipefail
[ $# = 1 ] || { echo "usage: delta.sh DIR" >&2; exit 2; }
versions="deltalake==1.6.6 pyarrow==26.0.1 delta==4.4.0"
mkdir -p "$1"
dir=$(cd "$1" && pwd)/delta
[ "$(cat "$dir/.versions" 2>/dev/null)" = "$versions" ] && exit 0
rm -rf "$dir"
python3 -m venv "$dir"
# shellcheck disable=SC2086
set -- $versions
"$dir/bin/pip" install --quiet --disable-pip-version-check "$1" "$2"
for jar in delta-spark_4.1_2.13 delta-storage; do
  mvn -q -B dependency:copy -Dartifact="io.delta:$jar:${3##*=}" -DoutputDirectory="$dir/jars"
done
echo "$versions" > "$dir/.versions" # last: marks the folder as complete
