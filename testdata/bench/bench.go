package main

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"time"
)

// bench is one run of the program.
type bench struct {
	ctx       context.Context
	symlake   string
	old       string // an older symlake, "" for none
	peer      string // testdata/bench/peer, built; "" where cargo is not
	cache     string
	tmp       string // on tmpfs if there is one, to leave the disk out of the measurement
	pairs     int
	probes    int
	lasts     time.Duration
	artifacts int    // of the largest store that growth measures
	entries   int    // of the largest ledger that growth measures
	stages    bool   // only where the time of an ingest goes
	misses    string // file for functions that names does not name rightly, "" for none
}

// tests runs the benchmarks that stand among the tests of a package, since they start servers: the store in HBase beside
// Puts and beside HBase's own client for Java, and its growth. They print what they measured.
func (b *bench) tests(pkg string, env ...string) error {
	cmd := exec.CommandContext(b.ctx, "go", "test", pkg, "-run", "^TestBench", "-v", "-count=1", "-timeout", "180m")
	cmd.Env = append(append(os.Environ(), "SYMLAKE_BENCH=1", "SYMLAKE_HBASE_LIB="+filepath.Join(b.cache, "hbase-lib"), "TMPDIR="+b.tmp), env...)
	cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
	return cmd.Run()
}
