package client

import (
	"bytes"
	"errors"
	"slices"
	"sort"
	"sync"
)

// regionCache holds the regions of one table, as far as they were looked up.
type regionCache struct {
	looking chan struct{} // of size 1: one look-up of a table at a time

	mu   sync.RWMutex
	list []*Region // by Start, disjoint
	full bool      // whether the whole table was looked up once
}

func (g *regionCache) find(key []byte) *Region {
	g.mu.RLock()
	defer g.mu.RUnlock()
	i := sort.Search(len(g.list), func(i int) bool { return bytes.Compare(g.list[i].Start, key) > 0 }) - 1
	if i >= 0 && g.list[i].Holds(key) {
		return g.list[i]
	}
	return nil
}

// put enters regions in place of all that overlap them.
func (g *regionCache) put(regions ...*Region) {
	g.mu.Lock()
	defer g.mu.Unlock()
	for _, r := range regions {
		g.list = slices.DeleteFunc(g.list, func(o *Region) bool {
			return (len(r.End) == 0 || bytes.Compare(o.Start, r.End) < 0) && (len(o.End) == 0 || bytes.Compare(r.Start, o.End) < 0)
		})
		i := sort.Search(len(g.list), func(i int) bool { return bytes.Compare(g.list[i].Start, r.Start) > 0 })
		g.list = slices.Insert(g.list, i, r)
	}
}

// moved forgets a region that is not where it was, and no other; if the server said where it is, enters that.
func (g *regionCache) moved(r *Region, err error) {
	var server *ServerError
	to := ""
	if errors.As(err, &server) && server.Class == "exceptions.RegionMovedException" {
		to = server.movedTo
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	i := slices.Index(g.list, r) // another caller may have put a new one
	switch {
	case i < 0:
	case to != "" && to != r.Server:
		there := *r
		there.Server = to
		g.list[i] = &there
	default:
		g.list = slices.Delete(g.list, i, i+1)
	}
}
