package serve

import (
	"net/http"
	"net/url"
	"slices"
	"strconv"

	"github.com/symlake/symlake/formats/symbol"
	"github.com/symlake/symlake/jobs/wire"
	"github.com/symlake/symlake/sinks/lookup"
)

// lookupRequest is the JSON body of POST /v1/lookup.
type lookupRequest struct {
	Queries []lookupQuery `json:"queries"`
	App     string        `json:"app"`     // APP@BUILD that ambiguous names belong to
	Arch    string        `json:"arch"`    // architecture that they belong to
	Context lines         `json:"context"` // lines of source before and behind each frame's, where they are kept
}

// lines is a number of them.
type lines uint32

// UnmarshalJSON reads an integer.
func (l *lines) UnmarshalJSON(text []byte) error {
	n, err := integer(text)
	if err != nil || n > maxContext {
		return failed(http.StatusBadRequest, "context: want a number of lines, at most %d", maxContext)
	}
	*l = lines(n)
	return nil
}

type lookupQuery struct {
	Artifact string `json:"artifact"` // any name of it
	Position string `json:"position"` // as people write it
}

// maxContext bounds the lines of source around a frame's.
const maxContext = 100

// lookupGet answers positions of one artifact.
func (s *Server) lookupGet(c *call) error {
	q, err := url.ParseQuery(c.r.URL.RawQuery)
	if err != nil {
		return failed(http.StatusBadRequest, "the query is not encoded as it should be")
	}
	for name, values := range q {
		if !slices.Contains([]string{"artifact", "position", "app", "arch", "context"}, name) || len(values) > 1 && name != "position" {
			return failed(http.StatusBadRequest, "want one artifact, positions, and perhaps one app, arch and context")
		}
	}
	req := lookupRequest{App: q.Get("app"), Arch: q.Get("arch")}
	if v := q.Get("context"); v != "" {
		n, err := strconv.ParseUint(v, 10, 32)
		if err != nil {
			return failed(http.StatusBadRequest, "context: want a number of lines")
		}
		req.Context = lines(n)
	}
	if q.Get("artifact") == "" || len(q["position"]) == 0 {
		return failed(http.StatusBadRequest, "want artifact and position")
	}
	for _, pos := range q["position"] {
		req.Queries = append(req.Queries, lookupQuery{q.Get("artifact"), pos})
	}
	if err := c.enter(6 * int64(len(c.r.URL.RawQuery))); err != nil {
		return err
	}
	return s.lookup(c, &req)
}

// lookupPost answers positions of many artifacts.
func (s *Server) lookupPost(c *call) error {
	if c.mediaType() != "application/json" {
		return failed(http.StatusUnsupportedMediaType, "want Content-Type application/json")
	}
	text, err := c.text()
	if err != nil {
		return err
	}
	n := count(text)
	if n.null {
		return errNull()
	}
	if most := s.o.Limits.Positions; n.objects > most+1 || n.commas > 4*most+16 {
		return failed(http.StatusRequestEntityTooLarge, "more than %d positions: so many are answered at once", most)
	}
	if err := c.enter(6 * int64(len(text))); err != nil {
		return err
	}
	var req lookupRequest
	if err := decode(text, &req, true); err != nil {
		return err
	}
	if req.Queries == nil {
		return failed(http.StatusBadRequest, "want queries")
	}
	return s.lookup(c, &req)
}

func (s *Server) lookup(c *call, req *lookupRequest) error {
	if err := s.checkLookup(c, req); err != nil {
		return err
	}
	j := wire.NewJSON(c.answer("application/json"))
	j.Begin("", '{')
	j.Begin("answers", '[')
	err := s.positions(c, req, func(one *wire.Question, a *symbol.Answer, source excerpts) (int64, error) {
		return 0, one.Write(j, a, source)
	})
	if err == nil {
		j.End()
		j.End()
	}
	return c.finish(j, err)
}

// checkLookup refuses a request with something wrong in it.
func (s *Server) checkLookup(c *call, req *lookupRequest) error {
	if len(req.Queries) > s.o.Limits.Positions {
		return failed(http.StatusRequestEntityTooLarge, "%d positions: at most %d are answered at once", len(req.Queries), s.o.Limits.Positions)
	}
	if req.Context > maxContext {
		return failed(http.StatusBadRequest, "context: at most %d lines are given", maxContext)
	}
	check := wire.Asker{Client: s.o.Client, Narrow: lookup.Narrow{App: req.App, Arch: req.Arch}}
	for i, q := range req.Queries {
		if q.Artifact == "" {
			return failed(http.StatusBadRequest, "queries[%d]: want artifact", i)
		}
		if err := check.Check(c.ctx, q.Artifact, q.Position); err != nil {
			return failed(http.StatusBadRequest, "queries[%d]: %v", i, err)
		}
	}
	c.frames = len(req.Queries)
	return nil
}

// excerpts reads the source of a frame; nil: none is wanted.
type excerpts func(f *symbol.Frame) (lookup.Excerpt, error)

// looked takes an answer, and returns how many bytes of it stay in memory.
type looked func(one *wire.Question, a *symbol.Answer, source excerpts) (int64, error)

// answeredAtOnce is how many positions are looked up together: the answers of all of them are held.
const answeredAtOnce = 512

// positions answers the queries of a checked request, in order.
func (s *Server) positions(c *call, req *lookupRequest, emit looked) error {
	for from := 0; from < len(req.Queries); from += answeredAtOnce {
		if err := s.someOf(c, req, from, min(from+answeredAtOnce, len(req.Queries)), emit); err != nil {
			return err
		}
	}
	return nil
}

// someOf answers the queries [from, to).
func (s *Server) someOf(c *call, req *lookupRequest, from, to int, emit looked) error {
	defer c.turn.fresh()
	asker := wire.Asker{Client: s.o.Client, Narrow: lookup.Narrow{App: req.App, Arch: req.Arch}}
	asked, answers := make([]wire.Question, to-from), make([]symbol.Answer, to-from)
	var queries []lookup.Query
	var at []int
	for i := range asked {
		q := &req.Queries[from+i]
		var err error
		if asked[i], err = asker.Ask(c.ctx, q.Artifact, q.Position); err != nil {
			return failed(http.StatusBadRequest, "queries[%d]: %v", from+i, err)
		}
		if r := asked[i].Found.Record; r != nil {
			c.used(r.ID)
		}
		if a := asked[i].Answer; a != nil {
			answers[i] = *a
			continue
		}
		queries, at = append(queries, asked[i].Query), append(at, i)
	}
	if err := s.o.Client.Frames(c.ctx, queries, func(k int, a symbol.Answer) { answers[at[k]] = a }); err != nil {
		return err
	}
	if err := c.done(); err != nil {
		return err
	}
	held := c.turn.held
	for i := range asked {
		one := &asked[i]
		var source excerpts
		if req.Context > 0 && one.Answer == nil {
			source = func(f *symbol.Frame) (lookup.Excerpt, error) {
				c.turn.held = held // the excerpt before is on its way
				return s.o.Client.Excerpt(c.ctx, one.Found.Record.ID, f.File, f.Line, uint32(req.Context))
			}
		}
		kept, err := emit(one, &answers[i], source)
		if err != nil {
			return err
		}
		if kept > 0 {
			c.turn.held = held
			if err := c.turn.take(kept); err != nil {
				return err
			}
			held = c.turn.held
			c.turn.base += kept
		}
	}
	return c.turn.yield()
}
