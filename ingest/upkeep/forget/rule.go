package forget

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/symlake/symlake/formats/symbol"
	"github.com/symlake/symlake/ingest/record"
	"github.com/symlake/symlake/sinks/catalog"
)

// candidate is an artifact as rules see it.
type candidate struct {
	id     symbol.ID
	builds []string // APP@BUILDs, in lower case
	at     time.Time
	asked  time.Time
}

// choose applies the rules to all published artifacts. It picks an artifact that is as old and as
// unasked-for as the rules say, if all its builds go. If some of its builds stay, the artifact loses
// the names of the others.
func (f *forgetter) choose(ctx context.Context) error {
	asked, err := f.asked(ctx)
	if err != nil {
		return err
	}
	var all []candidate
	latest, err := f.builtAt(ctx)
	if err != nil {
		return err
	}
	err = f.cat.Artifacts.Each(ctx, func(r *catalog.Record) error {
		if r.Published == nil || r.State.Removed() {
			return nil
		}
		c := candidate{id: r.ID, at: r.Published.At, asked: r.Published.At}
		if t, ok := asked[r.ID]; ok && t.After(c.asked) {
			c.asked = t
		}
		c.builds = record.Builds(r.Names)
		for i, b := range c.builds {
			if latest[b].IsZero() { // its objects are of another store
				latest[b] = c.at
			}
			if i == 0 || latest[b].After(c.at) {
				c.at = latest[b] // a load may be newer than what it was made of
			}
		}
		all = append(all, c)
		return nil
	})
	if err != nil {
		return err
	}
	going := f.going(latest)
	byBuild := f.App != "" || f.KeepLast > 0
	for _, c := range all {
		if f.OlderThan > 0 && f.Now().Sub(c.at) < f.OlderThan || f.UnaskedFor > 0 && f.Now().Sub(c.asked) < f.UnaskedFor {
			continue
		}
		if !byBuild {
			f.doomed[c.id] = true
			continue
		}
		var lost []string
		for _, b := range c.builds {
			if going[b] {
				lost = append(lost, b)
			}
		}
		switch {
		case len(lost) == 0:
		case len(lost) == len(c.builds):
			f.doomed[c.id] = true
		default:
			f.builds[c.id] = lost
		}
	}
	return nil
}

// builtAt returns when each build came: the time at which its last object was first seen.
func (f *forgetter) builtAt(ctx context.Context) (map[string]time.Time, error) {
	at := map[string]time.Time{}
	err := f.cat.Ledger.Each(ctx, "", func(o *catalog.Object) error {
		if b := strings.ToLower(o.App); b != "" && o.First.After(at[b]) {
			at[b] = o.First
		}
		return nil
	})
	return at, err
}

// going returns the builds to remove of the app, or of every app: all but the builds loaded last.
func (f *forgetter) going(latest map[string]time.Time) map[string]bool {
	apps := map[string][]string{}
	want := strings.ToLower(f.App)
	for b := range latest {
		app, _, _ := strings.Cut(b, "@")
		if want == "" || want == app || want == b {
			apps[app] = append(apps[app], b)
		}
	}
	going := map[string]bool{}
	for _, builds := range apps {
		slices.SortFunc(builds, func(a, b string) int {
			if c := latest[b].Compare(latest[a]); c != 0 {
				return c
			}
			return strings.Compare(b, a)
		})
		for _, b := range builds[min(f.KeepLast, len(builds)):] {
			going[b] = true
		}
	}
	return going
}

// asked returns when artifacts were last looked up, if there is a rule about that.
func (f *forgetter) asked(ctx context.Context) (map[symbol.ID]time.Time, error) {
	if f.UnaskedFor == 0 {
		return nil, nil
	}
	at := map[symbol.ID]time.Time{}
	if err := f.cat.Demand.EachAsked(ctx, func(id symbol.ID, t time.Time) error { at[id] = t; return nil }); err != nil {
		return nil, err
	}
	since, ok := at[symbol.ID{}]
	if !ok {
		return nil, fmt.Errorf("%w: look-ups may not write to the store, so they noted no demand", ErrUnasked)
	}
	if age := f.Now().Sub(since); age < f.UnaskedFor {
		return nil, fmt.Errorf("%w: only since %s", ErrUnasked, since.UTC().Format(time.DateOnly))
	}
	return at, nil
}
