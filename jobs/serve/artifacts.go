package serve

import (
	"errors"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/symlake/symlake/formats/symbol"
	"github.com/symlake/symlake/jobs/wire"
	"github.com/symlake/symlake/sinks/lookup"
	"github.com/symlake/symlake/sinks/row"
)

// A page of artifacts.
const (
	pageArtifacts    = 1000
	maxPageArtifacts = 10_000
	maxPageRead      = 100_000 // records that a page may pass over
)

type artifactsPage struct {
	Artifacts []wire.Artifact `json:"artifacts"`
	Next      string          `json:"next,omitempty"` // where the next page begins; "": this is the last
}

// artifacts lists what is stored: the artifacts that a name leads to, or all, in pages.
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
	if q.Has("name") {
		return s.named(c, q.Get("name"), q.Get("app"))
	}
	catalog, err := s.o.Client.Catalog(c.ctx)
	if err != nil {
		return err
	}
	page := artifactsPage{Artifacts: []wire.Artifact{}}
	read := 0
	err = catalog.ArtifactsFrom(c.ctx, from, func(r *row.Record) error {
		if read++; len(page.Artifacts) == limit || read > maxPageRead {
			page.Next = r.ID.String()
			return errPage
		}
		if a := wire.NewArtifact(r); r.State != row.Forgotten && (q.Get("app") == "" || containsFold(a.Apps, q.Get("app"))) {
			page.Artifacts = append(page.Artifacts, a)
		}
		return nil
	})
	if err != nil && !errors.Is(err, errPage) {
		return err
	}
	c.json(http.StatusOK, page)
	return nil
}

// errPage ends a listing.
var errPage = errors.New("the page is full")

// named lists the artifacts that a name leads to.
func (s *Server) named(c *call, name, app string) error {
	r := s.o.Client.Resolve(c.ctx, name, lookup.Narrow{App: app})
	page := artifactsPage{Artifacts: []wire.Artifact{}}
	if r.Record != nil {
		c.used(r.Record.ID)
		page.Artifacts = append(page.Artifacts, wire.NewArtifact(r.Record))
	}
	if len(r.Candidates) > 0 {
		catalog, err := s.o.Client.Catalog(c.ctx)
		if err != nil {
			return err
		}
		for _, id := range r.Candidates {
			rec, err := catalog.Artifact(c.ctx, id)
			if err != nil {
				return err
			}
			if rec != nil {
				c.used(id)
				page.Artifacts = append(page.Artifacts, wire.NewArtifact(rec))
			}
		}
	}
	if len(page.Artifacts) == 0 {
		if err := c.ctx.Err(); err != nil {
			return err
		}
		if r.Status == symbol.Unavailable {
			return failed(http.StatusServiceUnavailable, "the store does not answer")
		}
		return failed(http.StatusNotFound, "%s: %v", r.Status, r.Err)
	}
	c.json(http.StatusOK, page)
	return nil
}

func containsFold(list []string, s string) bool {
	return slices.ContainsFunc(list, func(l string) bool { return strings.EqualFold(l, s) })
}
