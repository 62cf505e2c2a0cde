#!/usr/bin/env bash
# iceberg.sh DIR: the engines that read the Iceberg tables of a lake in tests, outside the tree: pyiceberg and Polars in
# DIR/iceberg/py, DuckDB with its extension in DIR/iceberg/duckdb, Spark in DIR/iceberg/spark, and the jars of Spark's
# runtime and of a REST catalog in DIR/iceberg/jars. Needs python3 with venv, mvn and Java 17 or newer. Does nothing when
# DIR already has these versions.
set -euo pipefail
[ $# = 1 ] || { echo "usage: iceberg.sh DIR" >&2; exit 2; }
here=$(cd "$(dirname "$0")" && pwd)
versions="pyiceberg==0.12.0 pyarrow==26.0.1 polars==2.1.0 duckdb==1.5.5 pyspark==4.1.4 iceberg==1.11.0"
mkdir -p "$1/iceberg"
dir=$(cd "$1/iceberg" && pwd)
if [ "$(cat "$dir/.versions" 2>/dev/null)" != "$versions" ]; then
  rm -rf "$dir"
  mkdir -p "$dir/jars"
  venv() { python3 -m venv "$dir/$1" && "$dir/$1/bin/pip" install --quiet --disable-pip-version-check "${@:2}"; }
  # shellcheck disable=SC2086
  set -- $versions
  d=${4##*=}
  (venv py "$1" "$2" "$3" && venv duckdb "$4" "duckdb-extension-iceberg==$d" "duckdb-extension-avro==$d" "duckdb-extension-httpfs==$d" "duckdb-extension-icu==$d") &
  py=$!
  venv spark "$5"
  mvn -q -B dependency:copy -Dartifact="org.apache.iceberg:iceberg-spark-runtime-4.1_2.13:${6##*=}" -DoutputDirectory="$dir/jars"
  mvn -q -B -f "$here/catalog/pom.xml" dependency:copy-dependencies -DoutputDirectory="$dir/jars/catalog"
  wait $py
  echo "$versions" > "$dir/.versions" # last: marks the folder as complete
fi
bash "$here/classes.sh" "$dir/spark"
