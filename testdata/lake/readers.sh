#!/usr/bin/env bash
# readers.sh DIR: the engines that read the lake in tests, outside the tree: pyarrow, DuckDB and Polars in
# DIR/py, Spark in DIR/spark, with pyarrow and pandas, and the key management mock of parquet-java in DIR. Needs python3 with venv, mvn
# and Java 17 or newer. Does nothing when DIR already has these versions.
set -euo pipefail
[ $# = 1 ] || { echo "usage: readers.sh DIR" >&2; exit 2; }
here=$(cd "$(dirname "$0")" && pwd)
versions="pyarrow==26.0.1 duckdb==2.0.0 polars==2.1.0 cryptography==50.0.2 pyspark==4.3.0 parquet-hadoop:1.17.0 pandas==2.3.3 3" # the last word counts changes of what goes where
mkdir -p "$1"
dir=$(cd "$1" && pwd)
if [ "$(cat "$dir/.versions" 2>/dev/null)" != "$versions" ]; then
  rm -rf "$dir/py" "$dir/spark" "$dir/.versions"
  pip() { "$1/bin/pip" install --quiet --disable-pip-version-check "${@:2}"; }
  # shellcheck disable=SC2086
  set -- $versions
  (python3 -m venv "$dir/py" && pip "$dir/py" "$1" "$2" "$3" "$4") &
  py=$!
  (python3 -m venv "$dir/spark" && pip "$dir/spark" "$5" "$4" "$1" "$7")
  wait $py
  mvn -q -B dependency:copy -Dartifact="org.apache.parquet:parquet-hadoop:${6##*:}:jar:tests" -DoutputDirectory="$dir"
  echo "$versions" > "$dir/.versions" # last: marks the folder as complete
fi
bash "$here/classes.sh" "$dir/spark"
