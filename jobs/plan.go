package jobs

import (
	"fmt"
	"text/tabwriter"

	"github.com/symlake/symlake/ingest"
)

type planJob struct {
	sourceFlags
	Shard string `help:"Only objects whose key hashes to I of N, from 0." placeholder:"I/N"`
	Limit int    `help:"Print at most N objects." default:"100000" placeholder:"N"`
}

func (planJob) Help() string {
	return "Each line is an object that ingest would take; ingest --only URL takes it.\n\n" +
		"Example:\n  symlake plan --json"
}

// Run prints the pending objects, for a scheduler to map over.
func (j planJob) Run(p *workspace) error {
	o, err := ingestJob{sourceFlags: j.sourceFlags, Shard: j.Shard}.options(p)
	if err != nil {
		return err
	}
	sources, unopened, err := j.open(p)
	if err != nil {
		return err
	}
	if len(unopened) > 0 {
		return fmt.Errorf("source %s: %s", unopened[0].URL, unopened[0].Error)
	}
	s, err := p.openRecords(true)
	if err != nil {
		return err
	}
	defer s.Close()
	o.Store, o.Keyring = s.Store, s.ring
	list, more, err := ingest.Plan(p.ctx, sources, o, max(j.Limit, 1))
	if err != nil {
		return err
	}
	table := tabwriter.NewWriter(p.out, 0, 4, 2, ' ', 0)
	for _, l := range list {
		if p.flags.JSON {
			err = p.printJSON(l)
		} else {
			_, err = fmt.Fprintf(table, "%d\t%s\t%s\t%s\n", l.Size, l.State, oneLine(l.URL), oneLine(l.Reason))
		}
		if err != nil {
			return err
		}
	}
	if more > 0 {
		p.log.Warn("more objects are pending", "objects", more)
	}
	return table.Flush()
}
