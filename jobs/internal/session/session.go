// Package session is one command at work: its streams, its settings, and the store that it opens.
package session

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"sync"
	"time"

	"github.com/symlake/symlake/formats"
	"github.com/symlake/symlake/jobs/internal/collector"
	"github.com/symlake/symlake/jobs/internal/settings"
	"github.com/symlake/symlake/jobs/internal/term"
	"github.com/symlake/symlake/sinks"
	"github.com/symlake/symlake/sinks/kek/kms"
	"github.com/symlake/symlake/sinks/stores"
)

// Session holds the outside world of one command.
type Session struct {
	Ctx    context.Context // ends with SIGINT or SIGTERM
	Began  time.Time
	In     io.Reader
	Out    io.Writer // for machines
	ErrOut io.Writer // for people
	Log    *slog.Logger

	OutView term.View // how Out is read: by a person or a script
	ErrView term.View // how ErrOut is read

	Flags  *settings.Flags
	Config settings.Config
	// ConfigText is the configuration that came from standard input; nil: it came from a file.
	ConfigText []byte
	Args       []string               // the command line
	Given      func(flag string) bool // whether the command line itself has a flag; the environment does not count

	FlagText func(flag string) string // the value of a flag of the command
	Wrong    error                    // fault of the configuration, for a command that tells it itself

	// Stores opens the store at a URL, as stores.Open does.
	Stores func(ctx context.Context, url string, o stores.Options) (*sinks.Store, error)
	// Credentials finds credentials for a key of AWS KMS; nil: as kms.Open does by itself.
	Credentials kms.Credentials

	Formats   []*formats.Format // that the program reads; none in a program that only looks up
	Collector *collector.Collector
	Heard     *Notices // keeps the notices of the store for a command that reports them; nil: they are only logged
	Worker    bool     // a supervisor waits for this process
	Reported  bool     // the command wrote its report, or its metrics where it has no report
}

// Notices are the notices of a store during a command. Any goroutine may add one.
type Notices struct {
	mu   sync.Mutex
	List []string
}

// notice logs a notice of the store, and keeps it for the report of a command that has one.
func (p *Session) notice(text string) {
	p.Log.Info("store", "notice", text)
	if p.Heard != nil {
		p.Heard.mu.Lock()
		defer p.Heard.mu.Unlock()
		p.Heard.List = append(p.Heard.List, text)
	}
}

// Table returns a table of people on standard output; nil: a script reads it.
func (p *Session) Table(columns ...term.Column) *term.Table {
	if !p.OutView.People {
		return nil
	}
	return term.NewTable(p.Out, p.OutView, columns...)
}

// Watch starts showing the progress of a job: by a bar on a terminal, else by log lines.
func (p *Session) Watch(job string) *term.Progress {
	return term.NewProgress(p.ErrOut, p.Log, job, p.Flags.NoProgress)
}

// WatchBar starts showing the progress of a job by a bar. Where no terminal is, nothing tells of it.
func (p *Session) WatchBar(job string) *term.Progress {
	return term.NewProgress(p.ErrOut, nil, job, p.Flags.NoProgress)
}

// summaryWidth bounds the lines of a paragraph: wider ones are hard to read.
const summaryWidth = 100

// Say prints a paragraph for the person that reads w, which v sees.
func Say(w io.Writer, v term.View, text string) error {
	_, err := fmt.Fprintln(w, term.Wrap(text, min(v.Width(), summaryWidth)))
	return err
}

// PrintJSON writes one NDJSON record to standard output.
func (p *Session) PrintJSON(v any) error { return term.WriteJSON(p.Out, v) }
