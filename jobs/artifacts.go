package jobs

import (
	"fmt"
	"strings"
	"text/tabwriter"

	"github.com/symlake/symlake/formats/symbol"
	"github.com/symlake/symlake/jobs/wire"
	"github.com/symlake/symlake/sinks/lookup"
	"github.com/symlake/symlake/sinks/row"
)

type artifactsJob struct {
	Artifact string `arg:"" optional:"" help:"Any name of it; all artifacts without."`
	App      string `help:"Only those of this APP@BUILD." placeholder:"APP@BUILD"`
	Wanted   bool   `help:"What stacks asked for and was missing, by demand."`
}

func (artifactsJob) Help() string { return "Example:\n  symlake artifacts libcart.so --json" }

// Run lists artifacts in the order of their ids.
func (j artifactsJob) Run(p *process) error {
	s, err := p.openRecords(true)
	if err != nil {
		return err
	}
	defer s.Close()
	if j.Wanted {
		return j.wanted(p, s)
	}
	table := tabwriter.NewWriter(p.out, 0, 4, 2, ' ', 0)
	show := func(r *row.Record) error {
		a := wire.NewArtifact(r)
		if r.State == row.Forgotten && j.Artifact == "" {
			return nil
		}
		if j.App != "" && !containsFold(a.Apps, j.App) {
			return nil
		}
		if p.flags.JSON {
			return p.printJSON(a)
		}
		file := ""
		for _, n := range r.Names {
			if n.Kind == symbol.NameFile {
				file = n.Text
			}
		}
		count, of := a.Ranges, "ranges"
		if a.Kind.HasClasses() {
			count, of = a.Classes, "classes"
		}
		_, err := fmt.Fprintf(table, "%s\t%s\t%s\t%s\t%d %s\t%d bytes\t%s\n", a.Artifact, a.Kind, a.Arch, file, count, of, a.Bytes, strings.Join(a.Apps, ","))
		return err
	}
	if j.Artifact != "" {
		err = j.one(p, s, show)
	} else {
		err = s.Artifacts(p.ctx, show)
	}
	if err != nil {
		return err
	}
	return table.Flush()
}

// one shows the artifacts that a name leads to; several are no error here.
func (j artifactsJob) one(p *process, s *records, show func(*row.Record) error) error {
	r := lookup.New(s.Store, s.kek, lookup.Options{}).Resolve(p.ctx, j.Artifact, lookup.Narrow{App: j.App})
	if r.Record != nil {
		return show(r.Record)
	}
	for _, id := range r.Candidates {
		rec, err := s.Artifact(p.ctx, id)
		if err != nil {
			return err
		}
		if rec != nil {
			if err := show(rec); err != nil {
				return err
			}
		}
	}
	if len(r.Candidates) == 0 {
		return fmt.Errorf("%s: %s: %s", j.Artifact, r.Status, wire.Reason(symbol.Answer{Status: r.Status, Err: r.Err}))
	}
	return nil
}

func containsFold(list []string, s string) bool {
	for _, l := range list {
		if strings.EqualFold(l, s) {
			return true
		}
	}
	return false
}
