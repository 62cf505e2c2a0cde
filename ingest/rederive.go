package ingest

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/symlake/symlake/formats/symbol"
	"github.com/symlake/symlake/ingest/parallel"
	"github.com/symlake/symlake/sinks/catalog"
	"github.com/symlake/symlake/sinks/row"
)

// oldLoad is an object of whose artifacts some were read by an older parser.
type oldLoad struct {
	url   string
	score float64 // of its worst artifact
}

// rederive takes the objects of a source that an older parser made loads of, those with the worst quality first,
// within the run's limit and deadline.
func (j *job) rederive(ctx context.Context, s *source) error {
	versions := versions(j.o.Formats)
	worst := map[string]float64{}
	err := j.cat.Artifacts(ctx, func(rec *catalog.Record) error {
		p := rec.Published
		if p == nil || rec.State != catalog.Live || p.Parser >= versions[p.Format] {
			return nil
		}
		key, ok := cutPrefix(p.Source.URL, s)
		if !ok || !j.wants(s, key) {
			return nil
		}
		score := score(p.Quality)
		if old, ok := worst[p.Source.URL]; !ok || score < old {
			worst[p.Source.URL] = score
		}
		return nil
	})
	if err != nil {
		return err
	}
	list := make([]oldLoad, 0, len(worst))
	for url, score := range worst {
		list = append(list, oldLoad{url, score})
	}
	slices.SortFunc(list, func(a, b oldLoad) int { return cmp.Or(cmp.Compare(a.score, b.score), cmp.Compare(a.url, b.url)) })
	for len(list) > 0 && !j.late() && ctx.Err() == nil {
		some := list[:min(len(list), j.perRound)]
		list = list[len(some):]
		found := make([]*task, len(some))
		errs := make([]error, len(some))
		parallel.Do(len(some), func(i int) {
			key, _ := cutPrefix(some[i].url, s)
			t, err := j.keyTask(ctx, s, key, nil)
			if t != nil && t.old != nil && !t.fresh { // loaded: nothing else is to be done again
				switch t.old.State {
				case catalog.ObjectLoaded, catalog.ObjectKept:
					t.fresh = true
					t.sidecar = true // not asked for yet
				}
			}
			found[i], errs[i] = t, err
		})
		for i, err := range errs {
			if err != nil {
				return fmt.Errorf("derive %s again: %w", some[i].url, err)
			}
		}
		if err := j.known(ctx, found); err != nil {
			return err
		}
	}
	return nil
}

// score is what a load's quality is worth, from 0 to 1: of an image how much of it is covered, and with lines; of a mapping
// how many of its lines were read.
func score(q symbol.Quality) float64 {
	switch {
	case q.Text > 0:
		return min(1, (float64(q.Covered)+float64(q.WithLine))/(2*float64(q.Text)))
	case q.Lines > 0:
		return 1 - float64(q.BadLines)/float64(q.Lines)
	}
	return 1
}

// worse says why a load is not to take the place of the one that is published: it answers much less. "": it is not.
func (x *object) worse(rec *catalog.Record, l *row.Loaded) string {
	o, p := &x.j.o, rec.Published
	if p == nil || o.Force || o.MinQuality <= 0 || l.Rank < p.Rank || len(p.WrappedKey) == 0 {
		return ""
	}
	least := func(what string, now, was uint64) string {
		if float64(now) >= o.MinQuality*float64(was) {
			return ""
		}
		return fmt.Sprintf("min_quality %g: %s is %d, and %d in the published load; ingest --force takes it", o.MinQuality, what, now, was)
	}
	if l.Artifact.Kind == symbol.R8 {
		return cmp.Or(least("classes", l.Ranges, p.Ranges), least("members", l.Members, p.Members))
	}
	if l.Quality.WithLine > p.Quality.WithLine {
		return ""
	}
	return cmp.Or(least("bytes with a line", l.Quality.WithLine, p.Quality.WithLine), least("bytes covered", l.Quality.Covered, p.Quality.Covered))
}
