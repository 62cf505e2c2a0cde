package query

import (
	"time"

	"github.com/symlake/symlake/jobs/internal/exit"
	"github.com/symlake/symlake/sinks/answer"
)

// conversion writes method traces in another form, with the original names of their methods.
type conversion struct {
	traceFlags
	files     []string // none: standard input
	output    string   // its name tells the form
	json      bool     // records on standard output
	artifacts []string
	app       string
	strict    bool // a trace without calls, or with bad records, ends with exit code 3
	exploded  bool // the client has what --symbols named, and nothing else
	// client opens what the names are looked up in. cacheBytes bound what it keeps of a store.
	client func(cacheBytes int64) (c *answer.Client, close func() error, err error)
}

// traceFlags are the flags of symbolicate for method traces.
type traceFlags struct {
	JankStack time.Duration `help:"Print the stack of a jank: on each level the longest call of at least this time." placeholder:"100ms" group:"~Method traces"`
	From      time.Duration `help:"With --jank-stack: look from here on, by the clock of the trace." placeholder:"TIME" group:"~Method traces"`
	To        time.Duration `help:"With --jank-stack: look up to here." placeholder:"TIME" group:"~Method traces"`
}

func (f *traceFlags) check() error {
	switch {
	case f.JankStack < 0 || f.From < 0 || f.To < 0:
		return exit.Usage("--jank-stack, --from and --to take no negative time")
	case f.JankStack == 0 && (f.From != 0 || f.To != 0):
		return exit.Usage("--from and --to go with --jank-stack")
	case f.To != 0 && f.To <= f.From:
		return exit.Usage("--to %v is not behind --from %v", f.To, f.From)
	}
	return nil
}
