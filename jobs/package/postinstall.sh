#!/bin/sh
# After the files of a package are in place: the user and group symlake, its folder, and units that systemd reads anew.
# Nothing is started or enabled: symlake has no sources yet.
set -e
if ! id symlake >/dev/null 2>&1; then
  if command -v systemd-sysusers >/dev/null; then
    systemd-sysusers symlake.conf
  elif command -v useradd >/dev/null; then
    useradd --system --user-group --home-dir /var/lib/symlake --no-create-home --shell /usr/sbin/nologin symlake
  else # Alpine
    addgroup -S symlake 2>/dev/null || true # it may be left from before
    adduser -S -D -H -h /var/lib/symlake -s /sbin/nologin -G symlake symlake
  fi
fi
install -d -m 0700 -o symlake -g symlake /var/lib/symlake
if [ -d /run/systemd/system ]; then systemctl daemon-reload; fi
