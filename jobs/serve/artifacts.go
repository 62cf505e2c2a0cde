package serve

import (
	"net/http"
	"slices"
	"strings"

	"github.com/symlake/symlake/formats/symbol"
	"github.com/symlake/symlake/jobs/serve/browse"
	"github.com/symlake/symlake/jobs/wire"
	"github.com/symlake/symlake/sinks/catalog"
	"github.com/symlake/symlake/sinks/lookup"
)

// A page of artifacts.
const (
	pageArtifacts    = 1000
	maxPageArtifacts = 10_000
)

// kinds are the kinds of artifacts that a list may be narrowed to.
var kinds = []string{"", string(symbol.ELF), string(symbol.MachO), string(symbol.R8), string(symbol.SourceMap), string(symbol.DartNames)}

// artifacts lists the artifacts that a name leads to, or all artifacts of the store, in pages.
func (s *Server) artifacts(c *call) error {
	q, err := c.query("name", "find", "app", "kind", "limit", "from")
	if err != nil {
		return err
	}
	limit, err := pageLimit(q, pageArtifacts, maxPageArtifacts)
	if err != nil {
		return err
	}
	want := browse.ArtifactQuery{App: q.Get("app"), Text: q.Get("find"), Kind: symbol.Kind(q.Get("kind")), Limit: limit}
	if !slices.Contains(kinds, q.Get("kind")) {
		return failed(http.StatusBadRequest, "kind: want one of %s", strings.Join(kinds[1:], ", "))
	}
	if q.Has("from") {
		if want.From, err = symbol.ParseID(q.Get("from")); err != nil {
			return failed(http.StatusBadRequest, "from: want the id of an artifact")
		}
	}
	if err := c.enter(0); err != nil {
		return err
	}
	cat, err := s.o.Client.Catalog(c.ctx)
	if err != nil {
		return err
	}
	if q.Has("name") {
		return s.named(c, cat, q.Get("name"), want)
	}
	if want.Text != "" { // what it names exactly stands first
		r := s.o.Client.Resolve(c.ctx, want.Text, lookup.Narrow{App: want.App})
		if want.First = r.Candidates; r.Record != nil {
			want.First = []symbol.ID{r.Record.ID}
		}
		if err := c.done(); err != nil {
			return err
		}
	}
	l := newList(c, "artifacts")
	return l.end(browse.Artifacts(c.ctx, cat, want, func(a *wire.Artifact) error { return l.add(a) }))
}

// named lists the artifacts that a name leads to and that the query wants.
func (s *Server) named(c *call, cat *catalog.Catalog, name string, want browse.ArtifactQuery) error {
	r := s.o.Client.Resolve(c.ctx, name, lookup.Narrow{App: want.App})
	want.App = "" // it has narrowed the name already
	var found []*catalog.Record
	if r.Record != nil {
		found = append(found, r.Record)
	}
	for _, id := range r.Candidates {
		rec, err := cat.Artifacts.Get(c.ctx, id)
		if err != nil {
			return err
		}
		if rec != nil {
			found = append(found, rec)
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
	l := newList(c, "artifacts")
	for _, rec := range found {
		c.used(rec.ID)
		if !want.Fits(rec) {
			continue
		}
		if err := l.add(wire.NewArtifact(rec)); err != nil {
			return l.end(browse.End{}, err)
		}
	}
	return l.end(browse.End{Passed: len(found)}, nil)
}
