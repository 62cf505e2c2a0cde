#!/bin/sh
# After the files of a package are gone. /var/lib/symlake stays, and its owner with it: it holds the store, and the keyset
# without which no copy of the store can be read. Remove it by hand.
set -e
if [ -d /run/systemd/system ]; then systemctl daemon-reload; fi
if [ "${1:-}" = upgrade ] || [ "${1:-}" = 1 ]; then
  # A server that runs goes on with the new files.
  if [ -d /run/systemd/system ]; then systemctl try-restart symlake-serve.service; fi
fi
