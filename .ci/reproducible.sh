#!/usr/bin/env bash
# Build the release in bin/dist once more, in a clone elsewhere, and compare every file that both made.
# Usage: reproducible.sh CACHE [VERSION], as release.sh.
set -euo pipefail
cd "$(dirname "$0")/.."
again=$(mktemp -d)
trap 'rm -rf "$again"' EXIT
git clone -q . "$again/symlake"
bash "$again/symlake/.ci/release.sh" "$@"
cd bin/dist
compared=0
while read -r sum name; do
  [ -e "$again/symlake/bin/dist/$name" ] || continue # RELEASE_TARGETS left it out
  if ! echo "$sum  $again/symlake/bin/dist/$name" | sha256sum --quiet --check; then
    echo "reproducible: two builds of $name differ" >&2
    exit 1
  fi
  compared=$((compared + 1))
done < <(grep -v ' symlake\.rb$' checksums.txt)
[ $compared -gt 0 ] || { echo "reproducible: no file was built twice" >&2; exit 1; }
echo "reproducible: $compared files are equal in two builds"
