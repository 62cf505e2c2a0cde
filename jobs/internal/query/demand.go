package query

import (
	"time"

	"github.com/symlake/symlake/formats/report"
	"github.com/symlake/symlake/formats/symbol"
	"github.com/symlake/symlake/ingest/wanted"
	"github.com/symlake/symlake/jobs/internal/session"
	"github.com/symlake/symlake/sinks/answer"
	"github.com/symlake/symlake/sinks/lookup"
)

// demand notes which artifacts look-ups asked for, and which were missing.
type demand struct {
	counts wanted.Demand
	seen   map[string]symbol.ID // images that led to an artifact, or to none
}

// stack counts the frames of a stack.
func (d *demand) stack(p *session.Session, client *answer.Client, s *report.Report, answers [][]symbol.Answer) {
	if d.seen == nil {
		d.seen = map[string]symbol.ID{}
	}
	now := time.Now().UTC()
	for t := range s.Threads {
		for i := range s.Threads[t].Frames {
			f := &s.Threads[t].Frames[i]
			if len(f.Image) == 0 {
				continue
			}
			switch name := f.Image[0]; answers[t][i].Status {
			case symbol.NoArtifact, symbol.Pending, symbol.Rejected:
				d.counts.Missing(name, f.File, s.Format(), now)
			case symbol.Found, symbol.Hole, symbol.Outside:
				if _, known := d.seen[name]; known || len(d.seen) >= maxNames {
					continue
				}
				d.seen[name] = symbol.ID{}
				if r := client.Resolve(p.Ctx, name, lookup.Narrow{Kind: f.Kind, Arch: f.Arch, Variants: true}); r.Record != nil {
					d.counts.Found(r.Record.ID)
				}
			}
		}
	}
}

// note writes the counts into the store, if this user may. A look-up needs no permission to write, so note logs what goes
// wrong, and returns no error.
func (d *demand) note(p *session.Session) {
	if d.counts.Empty() {
		return
	}
	s, err := p.OpenRecords(false)
	if err == nil {
		defer s.Close()
		err = d.counts.Note(p.Ctx, s.Catalog, time.Now().UTC())
	}
	if err != nil {
		p.Log.Debug("what was asked for is not noted", "reason", err)
	}
}

// maxNames bounds the images that one run remembers by name.
const maxNames = 4096
