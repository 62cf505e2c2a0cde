#!/bin/sh
# fetch.sh DIR: copies the jars of a real HBase (about 120 MB) into DIR with Maven, for the tests that run one or
# use it as the judge of our HFiles. They look in SYMLAKE_HBASE_LIB, else where make test puts it.
# Needs mvn and a JDK 17. Does nothing when DIR already has what this pom.xml asks for.
set -eu
[ $# = 1 ] || { echo "usage: fetch.sh DIR" >&2; exit 2; }
here=$(cd "$(dirname "$0")" && pwd)
mkdir -p "$1"
lib=$(cd "$1" && pwd)
cmp -s "$here/pom.xml" "$lib/.pom.xml" && exit 0
mvn -B -q -f "$here/pom.xml" dependency:copy-dependencies -DincludeScope=runtime -DoutputDirectory="$lib"
cp "$here/pom.xml" "$lib/.pom.xml" # last: marks the folder as complete
