package main

import (
	"context"
	"time"
)

// bench is one run of the program.
type bench struct {
	ctx     context.Context
	symlake string
	old     string // an older symlake, "" for none
	peer    string // testdata/bench/peer, built; "" where cargo is not
	cache   string
	tmp     string // on tmpfs if there is one, to leave the disk out of the measurement
	pairs   int
	probes  int
	lasts   time.Duration
	misses  string // file for functions that names does not name rightly, "" for none
}
