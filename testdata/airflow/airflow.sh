#!/usr/bin/env bash
# airflow.sh DIR: the versions of Airflow that jobs/airflow is tested on, outside the tree: DIR/3 and DIR/2, as
# requirements-3.txt and requirements-2.txt name them. Needs python3 with venv; its packages come by uv, which
# installs either in seconds. Does nothing when DIR already has these versions.
#
# To raise a version: install apache-airflow==VERSION with its providers amazon and openlineage, run the tests, and
# freeze it into its file.
set -euo pipefail
[ $# = 1 ] || { echo "usage: airflow.sh DIR" >&2; exit 2; }
here=$(cd "$(dirname "$0")" && pwd)
mkdir -p "$1"
dir=$(cd "$1" && pwd)
for major in 3 2; do
  want=$(sha256sum < "$here/requirements-$major.txt")
  [ "$(cat "$dir/$major/.versions" 2>/dev/null)" = "$want" ] && continue
  if [ ! -x "$dir/uv/bin/uv" ] || [ ! -x "$dir/uv/bin/hatchling" ]; then
    python3 -m venv "$dir/uv"
    "$dir/uv/bin/pip" install --quiet --disable-pip-version-check uv==0.13.9 hatchling==1.33.0
  fi
  rm -rf "${dir:?}/$major"
  "$dir/uv/bin/uv" venv --quiet --python "$(command -v python3)" "$dir/$major"
  VIRTUAL_ENV=$dir/$major "$dir/uv/bin/uv" pip install --quiet --compile-bytecode --requirement "$here/requirements-$major.txt"
  echo "$want" > "$dir/$major/.versions" # last: marks the folder as complete
done
