package query

import (
	"bufio"
	"errors"
	"fmt"

	"github.com/symlake/symlake/formats/demangle"
	"github.com/symlake/symlake/jobs/internal/session"
)

// DemangleJob is the command demangle.
type DemangleJob struct {
	Simplified bool     `help:"Print Swift names without modules and types."`
	Full       bool     `help:"Print names of Microsoft's C++ with access, result and calling convention."`
	Names      []string `arg:"" optional:"" name:"name" help:"Mangled names. Without one, or with -, standard input has one a line."`
}

// WithoutConfig says that the command reads no configuration.
func (DemangleJob) WithoutConfig() {}

// Help returns the text below the flags.
func (DemangleJob) Help() string {
	return "Other text comes back unchanged. Write a name that begins with a dash behind --.\n\n" +
		"Example:\n  symlake demangle _ZN4game4Cart3addEi\n  symlake demangle -- '-[Cart add]'"
}

// Run prints one readable name a line, in order.
func (j DemangleJob) Run(p *session.Session) error {
	w := bufio.NewWriter(p.Out)
	d := new(demangle.Demangler)
	form := d.Name
	if j.Simplified {
		form = d.Simplified
	} else if j.Full {
		form = d.Full
	}
	reads := len(j.Names) == 0 || len(j.Names) == 1 && j.Names[0] == "-"
	for _, n := range j.Names {
		if !reads {
			fmt.Fprintln(w, form(n))
		}
	}
	if reads {
		lines := bufio.NewScanner(p.In)
		lines.Buffer(nil, 1<<20)
		for lines.Scan() {
			fmt.Fprintln(w, form(lines.Text()))
		}
		if err := lines.Err(); err != nil {
			return errors.Join(fmt.Errorf("read names: %w", err), w.Flush())
		}
	}
	return w.Flush()
}
