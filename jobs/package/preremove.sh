#!/bin/sh
# Before the files of a package go: units end. An upgrade, which says so in its first argument, leaves them alone.
set -e
case "${1:-remove}" in
  remove | 0) if [ -d /run/systemd/system ]; then systemctl disable --now symlake-ingest.timer symlake-serve.service; fi ;;
esac
