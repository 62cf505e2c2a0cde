package jobs

import (
	"crypto/rand"
	"fmt"
	"os"
	"time"
)

// What ingest and load share: who runs, the store they write, the report they end with.

// runID is the id given, or a new one.
func runID(given string) string {
	if given != "" {
		return given
	}
	return time.Now().UTC().Format("20060102T150405Z-") + rand.Text()[:6]
}

// owner names this process in leases, for people.
func owner(run string) string {
	host, err := os.Hostname()
	if err != nil {
		host = "unknown"
	}
	return fmt.Sprintf("%s/%d/%s", host, os.Getpid(), run)
}

// createLocked makes what the store lacks, and locks it in the way given; errSkipLocked as lockStore.
func (p *process) createLocked(lock func() (unlock func(), err error)) (s *records, unlock func(), err error) {
	if err := p.createTables(false); err != nil {
		return nil, nil, err
	}
	if unlock, err = lock(); err != nil {
		return nil, nil, err
	}
	if s, err = p.createStore(); err != nil {
		unlock()
		return nil, nil, err
	}
	return s, unlock, nil
}
