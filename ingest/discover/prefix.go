package discover

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"
)

const (
	defaultLookBack = 3
	defaultFull     = 24 * time.Hour
)

// prefixes returns the prefixes below which a source is to be listed; nil: all of it.
func (l *Lister) prefixes(ctx context.Context, s *CheckedSource) ([]string, error) {
	if s.Dates != "" && !l.Force && !l.Renaming {
		state, err := l.Catalog.Sources.Get(ctx, l.stateOf(s))
		if err != nil {
			return nil, err
		}
		every := s.Full
		if every == 0 {
			every = defaultFull
		}
		now := l.Now()
		if since := now.Sub(state.Full); 0 <= since && since < every { // below 0: another clock wrote it
			return s.days(now)
		}
	}
	return literals(s.Include), nil
}

// stateOf returns the name under which the catalog keeps the state of a source, or of this shard of it.
func (l *Lister) stateOf(s *CheckedSource) string {
	if l.Shards > 1 {
		return fmt.Sprintf("%s#%d/%d", s.Prefix, l.Shard, l.Shards)
	}
	return s.Prefix
}

// noteWhole notes that a run listed all of a source at that time.
func (l *Lister) noteWhole(ctx context.Context, s *CheckedSource, at time.Time) error {
	if s.Dates == "" || l.DryRun || l.Renaming {
		return nil
	}
	state, err := l.Catalog.Sources.Get(ctx, l.stateOf(s))
	if err != nil {
		return err
	}
	state.Full = at
	return l.Catalog.Sources.Set(ctx, state)
}

// days returns the prefixes from LookBack days ago to tomorrow: uploaders' clocks and zones differ.
func (s *CheckedSource) days(now time.Time) ([]string, error) {
	back := s.LookBack
	if back == 0 {
		back = defaultLookBack
	}
	var all []string
	for d := -back; d <= 1; d++ {
		p, err := datePrefix(s.Dates, now.UTC().AddDate(0, 0, d))
		if err != nil {
			return nil, err
		}
		all = append(all, p)
	}
	return compactPrefixes(all), nil
}

// datePrefix fills %Y, %m and %d into a pattern.
func datePrefix(pattern string, day time.Time) (string, error) {
	if strings.ContainsAny(strings.NewReplacer("%Y", "", "%m", "", "%d", "").Replace(pattern), "%*?") || pattern != "" && !strings.Contains(pattern, "%") {
		return "", fmt.Errorf("dates %q: want a prefix with %%Y, %%m and %%d", pattern)
	}
	return strings.NewReplacer("%Y", day.Format("2006"), "%m", day.Format("01"), "%d", day.Format("02")).Replace(pattern), nil
}

// literals returns the folders that patterns begin with, before their first variable part; nil if a
// pattern begins with a variable part.
func literals(patterns []string) []string {
	var all []string
	for _, p := range patterns {
		n := strings.IndexAny(p, "*?{")
		if n < 0 {
			n = len(p)
		}
		if n = strings.LastIndexByte(p[:n], '/') + 1; n == 0 {
			return nil
		}
		all = append(all, p[:n])
	}
	return compactPrefixes(all)
}

// compactPrefixes sorts prefixes and drops each that another one covers.
func compactPrefixes(all []string) []string {
	slices.Sort(all)
	var kept []string
	for _, p := range all {
		if len(kept) == 0 || !strings.HasPrefix(p, kept[len(kept)-1]) {
			kept = append(kept, p)
		}
	}
	return kept
}
