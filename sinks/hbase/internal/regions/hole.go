package regions

import (
	"slices"
	"time"
)

const (
	// doubt is how long keys must have no region before that is damage. A split or merge changes hbase:meta in one step.
	doubt = 4 * time.Second
	// belief is how long a hole is believed without another look.
	belief = 5 * time.Second
	// glance is how long a hole that is not believed yet is taken as it was, so that many keys in it cost one look.
	glance = 50 * time.Millisecond
	// maxHoles bounds the holes that a cache remembers.
	maxHoles = 256
)

// hole is a part of the table without a region, [start, end); end empty: no end.
type hole struct {
	start, end  []byte
	since, last time.Time
	seen        error // in words, as the last look found it
	damage      error // the same, once it is believed
}

// Missing notes that hbase:meta has no region for the keys [start, end), as seen says. It returns seen, or damage if the
// keys have had no region for some seconds.
func (g *Cache) Missing(start, end []byte, seen, damage error, now time.Time) error {
	return g.note(start, end, seen, damage, doubt, now)
}

// Bar notes that no region of [start, end) answers, as err says, and that waiting does not help.
func (g *Cache) Bar(start, end []byte, err error, now time.Time) {
	_ = g.note(start, end, err, err, 0, now)
}

func (g *Cache) note(start, end []byte, seen, damage error, after time.Duration, now time.Time) error {
	g.mu.Lock()
	defer g.mu.Unlock()
	i := slices.IndexFunc(g.holes, func(h hole) bool { return within(h.start, h.end, start) })
	if i >= 0 && now.Sub(g.holes[i].last) > doubt+belief { // no call looked meanwhile
		g.holes = slices.Delete(g.holes, i, i+1)
		i = -1
	}
	if i < 0 {
		if len(g.holes) == maxHoles {
			g.holes = g.holes[1:]
		}
		g.holes = append(g.holes, hole{since: now})
		i = len(g.holes) - 1
	}
	h := &g.holes[i]
	h.start, h.end, h.last, h.seen = start, end, now, seen
	if now.Sub(h.since) < after {
		return seen
	}
	h.damage = damage
	return damage
}

// Lost returns the last note on the hole that key lies in, if it is fresh, or nil.
func (g *Cache) Lost(key []byte, now time.Time) error {
	g.mu.RLock()
	defer g.mu.RUnlock()
	for i := range g.holes {
		switch h := &g.holes[i]; {
		case !within(h.start, h.end, key):
		case h.damage != nil && now.Sub(h.last) < belief:
			return h.damage
		case h.damage == nil && now.Sub(h.last) < glance:
			return h.seen
		}
	}
	return nil
}

// fill forgets the holes that a region lies in.
func (g *Cache) fill(r *Region) {
	if len(g.holes) > 0 {
		g.holes = slices.DeleteFunc(g.holes, func(h hole) bool { return r.Holds(h.start) || within(h.start, h.end, r.Start) })
	}
}
