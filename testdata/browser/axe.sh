#!/usr/bin/env bash
# axe.sh DIR: axe-core, which finds what keeps people from using a page, in DIR, outside the tree. Needs npm. Does nothing
# when DIR already has this version.
set -euo pipefail
[ $# = 1 ] || { echo "usage: axe.sh DIR" >&2; exit 2; }
version=4.14.1
[ "$(cat "$1/.version" 2>/dev/null)" = "$version" ] && exit 0
rm -rf "$1"
mkdir -p "$1"
cd "$1"
npm pack --silent "axe-core@$version" >/dev/null
tar -xzf "axe-core-$version.tgz" --strip-components 1 package/axe.min.js package/LICENSE
rm "axe-core-$version.tgz"
echo "$version" > .version # last: marks the folder as complete
