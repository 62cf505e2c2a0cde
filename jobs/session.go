package jobs

import (
	"context"
	"io"
	"log/slog"
	"sync"
	"time"

	"github.com/symlake/symlake/formats"
	"github.com/symlake/symlake/jobs/garbage"
)

// process is what a job has of the outside world.
type process struct {
	ctx      context.Context
	began    time.Time
	in       io.Reader
	out      io.Writer // machine output
	err      io.Writer // everything else
	log      *slog.Logger
	flags    *flags
	config   Config
	garbage  *garbage.Collections
	args     []string               // of the command line
	said     func(flag string) bool // whether the command line itself has a flag, not the environment
	known    []*formats.Format      // that ingest reads
	heard    *notices               // for a job that reports them; nil: nobody does
	worker   bool                   // a supervisor waits for this process
	reported bool                   // the job wrote its report, or its metrics where it has none
}

// notices are what a store said during a job; it says it from any goroutine.
type notices struct {
	mu   sync.Mutex
	list []string
}

// notice logs what the store has to say, and keeps it for the report of a job that has one.
func (p *process) notice(text string) {
	p.log.Info("store", "notice", text)
	if p.heard != nil {
		p.heard.mu.Lock()
		defer p.heard.mu.Unlock()
		p.heard.list = append(p.heard.list, text)
	}
}

// printJSON writes one NDJSON record to standard output.
func (p *process) printJSON(v any) error { return writeJSON(p.out, v) }
