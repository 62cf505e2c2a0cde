package ingest

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

// Each are those below which a source is to be listed; nil: all of it.
func (j *job) Each(ctx context.Context, s *source) ([]string, error) {
	if s.Dates != "" && !j.o.Force && !j.renaming {
		state, err := j.cat.Source(ctx, j.stateOf(s))
		if err != nil {
			return nil, err
		}
		every := s.Full
		if every == 0 {
			every = defaultFull
		}
		now := j.o.Now()
		if since := now.Sub(state.Full); 0 <= since && since < every { // below 0: it was another clock's
			return s.days(now)
		}
	}
	return literals(s.Include), nil
}

// stateOf is what the state of a source, or of this shard of it, is kept under.
func (j *job) stateOf(s *source) string {
	if j.o.Shards > 1 {
		return fmt.Sprintf("%s#%d/%d", s.prefix, j.o.Shard, j.o.Shards)
	}
	return s.prefix
}

// listed notes that a source was listed whole at that time.
func (j *job) listed(ctx context.Context, s *source, at time.Time) error {
	if s.Dates == "" || j.o.DryRun {
		return nil
	}
	state, err := j.cat.Source(ctx, j.stateOf(s))
	if err != nil {
		return err
	}
	state.Full = at
	return j.cat.SetSource(ctx, state)
}

// days are the prefixes from LookBack days ago to tomorrow: uploaders' clocks and zones differ.
func (s *source) days(now time.Time) ([]string, error) {
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

// literals are what the patterns begin with, before anything that may vary; nil if one of them may begin anyhow.
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

// compactPrefixes sorts prefixes and drops those that another covers.
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
