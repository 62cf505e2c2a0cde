package serve

import (
	"encoding/json"
	"errors"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/symlake/symlake/formats/symbol"
	"github.com/symlake/symlake/jobs/serve/browse"
	"github.com/symlake/symlake/jobs/wire"
	"github.com/symlake/symlake/sinks/catalog"
	"github.com/symlake/symlake/sinks/lookup"
)

const (
	pageLines    = 100 // elements of a page
	maxPageLines = 1000

	pageArtifacts    = 1000
	maxPageArtifacts = 10_000

	// listBytes is about the memory of a page of objects or wanted names before it is sent.
	listBytes = 8 << 20
	// surveyPatience is how long a caller waits for the first survey of a store.
	surveyPatience = 10 * time.Second
)

// states are the states of objects that a list may be narrowed to.
var states = []string{"", string(catalog.ObjectPending), string(catalog.ObjectLoading), string(catalog.ObjectLoaded), string(catalog.ObjectPublished), string(catalog.ObjectKept),
	string(catalog.ObjectConflict), string(catalog.ObjectSkipped), string(catalog.ObjectRejected), string(catalog.ObjectFailed), string(catalog.ObjectGone)}

// query reads the parameters of a call: one each at most of these.
func (c *call) query(names ...string) (url.Values, error) {
	q, err := url.ParseQuery(c.r.URL.RawQuery)
	if err != nil {
		return nil, failed(http.StatusBadRequest, "the query is not encoded as it should be")
	}
	for name, values := range q {
		if !slices.Contains(names, name) || len(values) > 1 {
			return nil, failed(http.StatusBadRequest, "want at most one each of %s", strings.Join(names, ", "))
		}
	}
	return q, nil
}

// pageLimit reads the parameter limit.
func pageLimit(q url.Values, usual, most int) (int, error) {
	if !q.Has("limit") {
		return usual, nil
	}
	n, err := strconv.Atoi(q.Get("limit"))
	if err != nil || n < 1 || n > most {
		return 0, failed(http.StatusBadRequest, "limit: want a number from 1 to %d", most)
	}
	return n, nil
}

// list is a page of elements on its way.
type list struct {
	c *call
	j *wire.JSON
}

func newList(c *call, name string) *list {
	l := &list{c: c, j: wire.NewJSON(c.answer("application/json"))}
	l.j.Begin("", '{')
	l.j.Begin(name, '[')
	return l
}

// add sends one element.
func (l *list) add(v any) error {
	if err := l.c.done(); err != nil {
		return err
	}
	text, err := json.Marshal(v)
	if err != nil {
		return err
	}
	l.j.Value("", func(to []byte) []byte { return append(to, text...) })
	return l.j.Err()
}

// end ends the page, with the place where the next one begins.
func (l *list) end(e browse.End, err error) error {
	if err == nil {
		err = l.c.done()
	}
	if errors.Is(err, browse.ErrCursor) {
		err = failed(http.StatusBadRequest, "from: %v", err)
	}
	if err == nil {
		l.j.End()
		if e.Next != "" {
			l.j.String("next", e.Next)
		}
		l.j.Value("passed", func(to []byte) []byte { return strconv.AppendInt(to, int64(e.Passed), 10) })
		l.j.End()
	}
	return l.c.finish(l.j, err)
}

// objects lists the ledger in the order of URLs.
func (s *Server) objects(c *call) error {
	q, err := c.query("prefix", "state", "run", "from", "until", "limit")
	if err != nil {
		return err
	}
	limit, err := pageLimit(q, pageLines, maxPageLines)
	if err != nil {
		return err
	}
	if !slices.Contains(states, q.Get("state")) {
		return failed(http.StatusBadRequest, "state: want one of %s", strings.Join(states[1:], ", "))
	}
	if err := c.enter(listBytes); err != nil {
		return err
	}
	cat, err := s.o.Client.Catalog(c.ctx)
	if err != nil {
		return err
	}
	l := newList(c, "objects")
	return l.end(browse.Objects(c.ctx, cat, browse.ObjectQuery{Prefix: q.Get("prefix"), From: q.Get("from"), Until: q.Get("until"),
		State: catalog.ObjectState(q.Get("state")), Run: q.Get("run"), Limit: limit}, func(o *wire.Object) error { return l.add(o) }))
}

// wanted lists the names that stacks asked for in vain.
func (s *Server) wanted(c *call) error {
	q, err := c.query("find", "from", "limit")
	if err != nil {
		return err
	}
	limit, err := pageLimit(q, pageLines, maxPageLines)
	if err != nil {
		return err
	}
	if err := c.enter(listBytes); err != nil {
		return err
	}
	cat, err := s.o.Client.Catalog(c.ctx)
	if err != nil {
		return err
	}
	l := newList(c, "wanted")
	return l.end(browse.Wanted(c.ctx, cat, browse.WantedQuery{Text: q.Get("find"), From: q.Get("from"), Limit: limit}, func(w *wire.Wanted) error { return l.add(w) }))
}

// runs lists the last runs, newest first.
func (s *Server) runs(c *call) error {
	q, err := c.query("from", "limit")
	if err != nil {
		return err
	}
	limit, err := pageLimit(q, pageLines, maxPageLines)
	if err != nil {
		return err
	}
	if err := c.enter(0); err != nil {
		return err
	}
	taken, err := s.overview.Survey(c.ctx, surveyPatience)
	if err != nil {
		return taking(err)
	}
	l := newList(c, "runs")
	return l.end(browse.Runs(taken, browse.RunQuery{From: q.Get("from"), Limit: limit}, func(r *wire.Run) error { return l.add(r) }))
}

// run tells of one run.
func (s *Server) run(c *call) error {
	q, err := c.query("id")
	if err != nil {
		return err
	}
	if q.Get("id") == "" {
		return failed(http.StatusBadRequest, "want id")
	}
	if err := c.enter(listBytes); err != nil {
		return err
	}
	taken, err := s.overview.Survey(c.ctx, surveyPatience)
	if err != nil {
		return taking(err)
	}
	cat, err := s.o.Client.Catalog(c.ctx)
	if err != nil {
		return err
	}
	detail, err := browse.Run(c.ctx, cat, taken, q.Get("id"))
	if err != nil {
		return err
	}
	if detail == nil {
		return failed(http.StatusNotFound, "no run is called so, or later runs touched all of its objects")
	}
	c.json(http.StatusOK, detail)
	return nil
}

// status sums the store up.
func (s *Server) status(c *call) error {
	if _, err := c.query(); err != nil {
		return failed(http.StatusBadRequest, "want no parameters")
	}
	if err := c.enter(0); err != nil {
		return err
	}
	taken, err := s.overview.Survey(c.ctx, surveyPatience)
	if err != nil {
		return taking(err)
	}
	c.json(http.StatusOK, wire.NewStatus(taken, time.Now()))
	return nil
}

// taking makes an error of the overview an answer.
func taking(err error) error {
	if errors.Is(err, browse.ErrTaking) || errors.Is(err, browse.ErrEnded) {
		return failed(http.StatusServiceUnavailable, "%v", err)
	}
	return err
}

// kinds are the kinds of artifacts that a list may be narrowed to.
var kinds = []string{"", string(symbol.ELF), string(symbol.MachO), string(symbol.PE), string(symbol.R8), string(symbol.SourceMap), string(symbol.DartNames)}

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
