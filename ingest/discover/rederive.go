package discover

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/symlake/symlake/formats/symbol"
	"github.com/symlake/symlake/ingest/parallel"
	"github.com/symlake/symlake/sinks/catalog"
)

// oldLoad is an object with an artifact that an older parser read.
type oldLoad struct {
	url   string
	score float64 // of its worst artifact
}

// rederive gives the objects of a source that an older parser made loads of, worst quality first,
// within the run's limit and deadline.
func (l *Lister) rederive(ctx context.Context, s *CheckedSource, take Take) error {
	versions := Versions(l.Formats)
	worst := map[string]float64{}
	err := l.Catalog.Artifacts.Each(ctx, func(rec *catalog.Record) error {
		p := rec.Published
		if p == nil || rec.State != catalog.Live || p.Parser >= versions[p.Format] {
			return nil
		}
		key, ok := s.cutPrefix(p.Source.URL)
		if !ok || !l.wants(s, key) {
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
	for len(list) > 0 && !l.Late() && ctx.Err() == nil {
		some := list[:min(len(list), l.roundObjects())]
		list = list[len(some):]
		found := make([]*Task, len(some))
		errs := make([]error, len(some))
		parallel.Do(len(some), func(i int) {
			key, _ := s.cutPrefix(some[i].url)
			t, err := l.keyTask(ctx, s, key, nil)
			if t != nil && t.Ledger != nil && !t.Fresh { // loaded: nothing else is to be done again
				switch t.Ledger.State {
				case catalog.ObjectLoaded, catalog.ObjectKept:
					t.Fresh = true
					t.Sidecar = true // not asked for yet
				}
			}
			found[i], errs[i] = t, err
		})
		for i, err := range errs {
			if err != nil {
				return fmt.Errorf("derive %s again: %w", some[i].url, err)
			}
		}
		if err := take(ctx, roundOf(found)); err != nil {
			return err
		}
	}
	return nil
}

// score rates a load's quality from 0 to 1: for an image, the share that is covered, and with lines;
// for a mapping, the share of its lines that the parser read.
func score(q symbol.Quality) float64 {
	switch {
	case q.Text > 0:
		return min(1, (float64(q.Covered)+float64(q.WithLine))/(2*float64(q.Text)))
	case q.Lines > 0:
		return 1 - float64(q.BadLines)/float64(q.Lines)
	}
	return 1
}
