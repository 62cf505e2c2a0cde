package jobs

import (
	"crypto/rand"
	"encoding/json"
	"fmt"
	"io"
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
	if err := p.createTables(); err != nil {
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

// report writes a run's report, its last word: to a file, to standard output
// (-), or where --json says.
func (p *process) report(to string, r any) error {
	text, err := json.Marshal(r)
	if err != nil {
		return err
	}
	var w io.Writer = p.err
	switch to {
	case "":
		if p.flags.JSON {
			w = p.out
		}
	case "-":
		w = p.out
	default:
		if err := os.WriteFile(to, append(text, '\n'), 0o644); err != nil {
			return fmt.Errorf("write report: %w", err)
		}
		return nil
	}
	_, err = w.Write(append(text, '\n'))
	return err
}
