#!/usr/bin/env bash
# Run the tests of sinks and ingest under the race detector, which slows them five to ten times.
# make test runs all tests. Here those are left out in which no goroutines meet, and those that wait for a real HBase.
#
#   race.sh GO
set -euo pipefail
cd "$(dirname "$0")/.."
go=$1
packages=(
  sinks/hbase sinks/hbase/hbasetest # a real HBase
  sinks/internal/hfile sinks/internal/entropy sinks/internal/avro sinks/internal/opentable sinks/lake/journal
  sinks/row/classes sinks/row/texts sinks/answer ingest/build/sweep
)
tests=(
  TestPowerLoss TestCrashPoints TestDeaths TestMortal TestEveryDeath TestDiskFullAnywhere # deaths, one after the other
  TestManyCommits TestCost TestLinear                                                     # sizes
  TestBlockOnce TestClasses TestClassesComeBack TestCompactedGroups TestEncode TestEveryPosition TestRolledBack TestWrongRow
)
skip="^($(IFS='|' && echo "${tests[*]}"))\$"
leave=$(printf '/%s$|' "${packages[@]}")
mapfile -t list < <("$go" list ./sinks/... ./ingest/... | grep -Ev "${leave%|}")
CGO_ENABLED=1 "$go" test -race -short -vet=off -ldflags='-s -w' -parallel 4 -skip "$skip" "${list[@]}"
