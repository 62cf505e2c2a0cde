package jobs

import (
	"errors"
	"fmt"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/symlake/symlake/formats/symbol"
	"github.com/symlake/symlake/ingest/wanted"
	"github.com/symlake/symlake/jobs/internal/session"
	"github.com/symlake/symlake/jobs/internal/term"
	"github.com/symlake/symlake/jobs/internal/workspace"
	"github.com/symlake/symlake/jobs/wire"
	"github.com/symlake/symlake/sinks/catalog"
	"github.com/symlake/symlake/sinks/lookup"
)

type artifactsJob struct {
	Artifact string `arg:"" optional:"" help:"Any name of it. Without one: all artifacts."`
	App      string `help:"List artifacts of this build." placeholder:"APP@BUILD"`
	Wanted   bool   `help:"List names that look-ups asked for in vain, by demand."`
}

func (artifactsJob) Help() string {
	return "Names are build ids, UUIDs, debug ids, map ids, file names and APP@BUILD.\n\nExample:\n  symlake artifacts libcart.so --json\n  symlake artifacts --wanted"
}

// Run lists artifacts in the order of their ids.
func (j artifactsJob) Run(p *workspace.Workspace) error {
	lines := tabwriter.NewWriter(p.Out, 0, 4, 2, ' ', 0)
	table := p.Table(term.Column{Name: "ARTIFACT", Least: 11, Whole: true, Ink: term.Loud}, term.Column{Name: "KIND"}, term.Column{Name: "ARCH", Spare: 3}, term.Column{Name: "FILE", Least: 12},
		term.Column{Name: "ANSWERS", Right: true, Spare: 2}, term.Column{Name: "STORED", Right: true}, term.Column{Name: "COVERED", Right: true, Spare: 4},
		term.Column{Name: "LOADED", Right: true, Spare: 5}, term.Column{Name: "APPS", Least: 10, Spare: 1})
	now, shown := time.Now(), 0
	show := func(a wire.Artifact) error {
		if a.State == string(catalog.Forgotten) && j.Artifact == "" {
			return nil
		}
		if j.App != "" && !containsFold(a.Apps, j.App) {
			return nil
		}
		if p.Flags.JSON {
			return p.PrintJSON(a)
		}
		count, of := a.Ranges, "ranges"
		if a.Kind.HasClasses() {
			count, of = a.Classes, "classes"
		}
		if shown++; table != nil {
			return table.Row(a.Artifact, string(a.Kind), a.Arch, a.File, term.Count(count)+" "+of, term.Size(a.Bytes), covered(&a), loadedAge(&a, now), strings.Join(a.Apps, ", "))
		}
		_, err := fmt.Fprintf(lines, "%s\t%s\t%s\t%s\t%d %s\t%d bytes\t%s\n", a.Artifact, a.Kind, a.Arch, term.OneLine(a.File), count, of, a.Bytes, term.OneLine(strings.Join(a.Apps, ",")))
		return err
	}
	server, err := p.Remote()
	switch {
	case err != nil:
	case j.Wanted:
		err = j.listWanted(p)
	case server == nil:
		err = j.stored(p, func(r *catalog.Record) error { return show(wire.NewArtifact(r)) })
	case j.Artifact == "":
		err = p.Refusal(server.EachArtifact(p.Ctx, j.App, show))
	default:
		var found []wire.Artifact
		found, err = server.Artifacts(p.Ctx, j.Artifact, j.App)
		for _, a := range found {
			err = errors.Join(err, show(a))
		}
		err = p.Refusal(err)
	}
	if err != nil {
		return err
	}
	if table == nil || j.Wanted {
		return lines.Flush()
	}
	if shown == 0 {
		_, err = fmt.Fprintln(p.Out, "No artifact is stored: symlake ingest loads symbol files.")
	}
	return errors.Join(err, table.Flush())
}

// covered returns the share of an artifact's code that has an answer; "-": the artifact does not say.
func covered(a *wire.Artifact) string {
	if a.Quality == nil || a.Quality.TextCovered == 0 {
		return "-"
	}
	return term.Percent(a.Quality.TextCovered)
}

// loadedAge returns how long ago the published load of an artifact was made.
func loadedAge(a *wire.Artifact, now time.Time) string {
	for _, l := range a.Loads {
		if l.Published && l.At != nil {
			return term.Age(*l.At, now)
		}
	}
	return "-"
}

// listWanted shows the names that look-ups asked for in vain.
func (j artifactsJob) listWanted(p *workspace.Workspace) error {
	s, err := p.OpenRecords(true)
	if err != nil {
		return err
	}
	defer s.Close()
	return j.wanted(p, s)
}

// stored shows what the store holds.
func (j artifactsJob) stored(p *workspace.Workspace, show func(*catalog.Record) error) error {
	s, err := p.OpenRecords(true)
	if err != nil {
		return err
	}
	defer s.Close()
	if j.Artifact != "" {
		return j.one(p, s, show)
	}
	return s.Artifacts.Each(p.Ctx, show)
}

// one shows the artifacts that a name leads to; several are no error here.
func (j artifactsJob) one(p *workspace.Workspace, s *session.Records, show func(*catalog.Record) error) error {
	r := lookup.New(s.Store, s.KEK, lookup.Options{}).Resolve(p.Ctx, j.Artifact, lookup.Narrow{App: j.App})
	if r.Record != nil {
		return show(r.Record)
	}
	for _, id := range r.Candidates {
		rec, err := s.Artifacts.Get(p.Ctx, id)
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
		return fmt.Errorf("%s: %s: %s", j.Artifact, r.Status, symbol.Answer{Status: r.Status, Err: r.Err}.Reason())
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

// wanted prints the names that stacks asked for and missed, by demand.
func (j artifactsJob) wanted(p *workspace.Workspace, s *session.Records) error {
	list, err := wanted.All(p.Ctx, s.Catalog)
	if err != nil {
		return err
	}
	lines := tabwriter.NewWriter(p.Out, 0, 4, 2, ' ', 0)
	table := p.Table(term.Column{Name: "ASKED", Right: true}, term.Column{Name: "LAST", Right: true}, term.Column{Name: "FIRST", Right: true, Spare: 2},
		term.Column{Name: "STACKS", Spare: 1}, term.Column{Name: "NAME", Least: 16, Whole: true, Ink: term.Loud}, term.Column{Name: "FILE", Least: 12})
	now := time.Now()
	for _, w := range list {
		if j.Artifact != "" && !strings.EqualFold(w.Name, j.Artifact) {
			continue
		}
		switch {
		case table != nil:
			err = table.Row(term.Count(w.Asked), term.Age(w.Last, now), term.Age(w.First, now), w.Kind, w.Name, w.File)
		case p.Flags.JSON:
			err = p.PrintJSON(wire.NewWanted(w))
		default:
			_, err = fmt.Fprintf(lines, "%d\t%s\t%s\t%s\t%s\n", w.Asked, w.Last.Format(time.DateOnly), w.Kind, w.Name, w.File)
		}
		if err != nil {
			return err
		}
	}
	if table != nil {
		return table.Flush()
	}
	return lines.Flush()
}
