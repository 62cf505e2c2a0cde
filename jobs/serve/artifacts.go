package serve

import (
	"encoding/json"
	"errors"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/symlake/symlake/formats/symbol"
	"github.com/symlake/symlake/jobs/wire"
	"github.com/symlake/symlake/sinks/catalog"
	"github.com/symlake/symlake/sinks/lookup"
)

// A page of artifacts.
const (
	pageArtifacts    = 1000
	maxPageArtifacts = 10_000
	maxPageRead      = 100_000 // records that a page may pass over
)

// artifacts lists the artifacts that a name leads to, or all artifacts of the store, in pages.
func (s *Server) artifacts(c *call) error {
	q, err := url.ParseQuery(c.r.URL.RawQuery)
	if err != nil {
		return failed(http.StatusBadRequest, "the query is not encoded as it should be")
	}
	for name, values := range q {
		if !slices.Contains([]string{"name", "app", "limit", "from"}, name) || len(values) > 1 {
			return failed(http.StatusBadRequest, "want at most one each of name, app, limit and from")
		}
	}
	limit := pageArtifacts
	if v := q.Get("limit"); v != "" || q.Has("limit") {
		if limit, err = strconv.Atoi(v); err != nil || limit < 1 || limit > maxPageArtifacts {
			return failed(http.StatusBadRequest, "limit: want a number from 1 to %d", maxPageArtifacts)
		}
	}
	var from symbol.ID
	if v := q.Get("from"); v != "" || q.Has("from") {
		if from, err = symbol.ParseID(v); err != nil {
			return failed(http.StatusBadRequest, "from: want the id of an artifact")
		}
	}
	if err := c.enter(0); err != nil {
		return err
	}
	if q.Has("name") {
		return s.named(c, q.Get("name"), q.Get("app"))
	}
	cat, err := s.o.Client.Catalog(c.ctx)
	if err != nil {
		return err
	}
	list := newListing(c)
	read, listed, next := 0, 0, ""
	err = cat.Artifacts.From(c.ctx, from, func(r *catalog.Record) error {
		if read++; listed == limit || read > maxPageRead {
			next = r.ID.String()
			return errPage
		}
		a := wire.NewArtifact(r)
		if r.State == catalog.Forgotten || q.Get("app") != "" && !containsFold(a.Apps, q.Get("app")) {
			return c.done()
		}
		listed++
		return list.add(&a)
	})
	if errors.Is(err, errPage) {
		err = nil
	}
	return list.end(next, err)
}

// listing is a list of artifacts on its way.
type listing struct {
	c *call
	j *wire.JSON
}

func newListing(c *call) *listing {
	p := &listing{c: c, j: wire.NewJSON(c.answer("application/json"))}
	p.j.Begin("", '{')
	p.j.Begin("artifacts", '[')
	return p
}

// add sends one artifact.
func (p *listing) add(a *wire.Artifact) error {
	text, err := json.Marshal(a)
	if err != nil {
		return err
	}
	p.j.Value("", func(to []byte) []byte { return append(to, text...) })
	return p.j.Err()
}

// end ends the list, with where the next page begins; "": this is the last.
func (p *listing) end(next string, err error) error {
	if err == nil {
		err = p.c.done()
	}
	if err == nil {
		p.j.End()
		if next != "" {
			p.j.String("next", next)
		}
		p.j.End()
	}
	return p.c.finish(p.j, err)
}

// errPage ends a listing.
var errPage = errors.New("the page is full")

// named lists the artifacts that a name leads to.
func (s *Server) named(c *call, name, app string) error {
	r := s.o.Client.Resolve(c.ctx, name, lookup.Narrow{App: app})
	var found []wire.Artifact
	if r.Record != nil {
		c.used(r.Record.ID)
		found = append(found, wire.NewArtifact(r.Record))
	}
	if len(r.Candidates) > 0 {
		cat, err := s.o.Client.Catalog(c.ctx)
		if err != nil {
			return err
		}
		for _, id := range r.Candidates {
			rec, err := cat.Artifacts.Get(c.ctx, id)
			if err != nil {
				return err
			}
			if rec != nil {
				c.used(id)
				found = append(found, wire.NewArtifact(rec))
			}
		}
	}
	if len(found) == 0 {
		if err := c.done(); err != nil {
			return err
		}
		if r.Status == symbol.Unavailable {
			return failed(http.StatusServiceUnavailable, "the store does not answer")
		}
		return failed(http.StatusNotFound, "%s: %v", r.Status, r.Err)
	}
	list := newListing(c)
	for i := range found {
		if err := list.add(&found[i]); err != nil {
			return list.end("", err)
		}
	}
	return list.end("", nil)
}

func containsFold(list []string, s string) bool {
	return slices.ContainsFunc(list, func(l string) bool { return strings.EqualFold(l, s) })
}
