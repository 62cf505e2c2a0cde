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
	return s.lookup(c, &req)
}

// lookupPost answers positions of many artifacts.
func (s *Server) lookupPost(c *call) error {
	if c.mediaType() != "application/json" {
		return failed(http.StatusUnsupportedMediaType, "want Content-Type application/json")
	}
	var req lookupRequest
	if err := c.parse(&req, true); err != nil {
		return err
	}
	if req.Queries == nil {
		return failed(http.StatusBadRequest, "want queries")
	}
	return s.lookup(c, &req)
}

func (s *Server) lookup(c *call, req *lookupRequest) error {
	if len(req.Queries) > s.o.Limits.Positions {
		return failed(http.StatusRequestEntityTooLarge, "%d positions: at most %d are answered at once", len(req.Queries), s.o.Limits.Positions)
	}
	if req.Context > maxContext {
		return failed(http.StatusBadRequest, "context: at most %d lines are given", maxContext)
	}
	asker := wire.Asker{Client: s.o.Client, Narrow: lookup.Narrow{App: req.App, Arch: req.Arch}}
	out := struct {
		Answers []wire.Answer `json:"answers"`
	}{make([]wire.Answer, len(req.Queries))}
	asked := make([]wire.Question, len(req.Queries))
	var queries []lookup.Query
	var to []int
	for i, q := range req.Queries {
		if q.Artifact == "" {
			return failed(http.StatusBadRequest, "queries[%d]: want artifact", i)
		}
		var err error
		if asked[i], err = asker.Ask(c.ctx, q.Artifact, q.Position); err != nil {
			return failed(http.StatusBadRequest, "queries[%d]: %v", i, err)
		}
		if r := asked[i].Found.Record; r != nil {
			c.used(r.ID)
		}
		if a := asked[i].Answer; a != nil {
			out.Answers[i] = asked[i].Of(*a, nil)
			continue
		}
		queries, to = append(queries, asked[i].Query), append(to, i)
	}
	c.frames = len(req.Queries)
	err := s.o.Client.Each(c.ctx, queries, func(k int, a *symbol.Answer) error {
		one := &asked[to[k]]
		excerpts, err := one.Excerpts(c.ctx, s.o.Client, a.Frames, uint32(req.Context))
		if err == nil {
			out.Answers[to[k]] = one.Of(*a, excerpts)
		}
		return err
	})
	if err == nil {
		err = c.ctx.Err() // an answer given under way may be the end's
	}
	if err != nil {
		return err
	}
	c.json(http.StatusOK, out)
	return nil
}
