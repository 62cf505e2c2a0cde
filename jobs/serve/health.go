package serve

import (
	"context"
	_ "embed"
	"net/http"

	"github.com/symlake/symlake/formats/symbol"
	"github.com/symlake/symlake/jobs/serve/page"
)

//go:embed openapi.json
var openAPI []byte

// openAPI describes this interface.
func (s *Server) openAPI(c *call) error {
	c.send(http.StatusOK, "application/json", openAPI)
	return nil
}

// healthz: the process answers.
func (s *Server) healthz(c *call) error {
	c.json(http.StatusOK, map[string]string{"status": "ok"})
	return nil
}

// readyz says whether a request of a new caller would be served: it goes the same way. It mentions a store that
// stopped answering and still says ready: caches serve on, and another instance would have the same store. Before
// the keys of the store were opened once, readyz refuses.
func (s *Server) readyz(c *call) error {
	if s.draining.Load() {
		return failed(http.StatusServiceUnavailable, "draining")
	}
	ctx, cancel := context.WithTimeout(c.ctx, readyTime)
	defer cancel()
	const probe = "readyz"
	if s.intake.Probe(ctx, probe) != nil || s.gate.ready(ctx, probe) != nil {
		return failed(http.StatusServiceUnavailable, "too many requests at once")
	}
	cat, err := s.o.Client.Catalog(ctx)
	if err != nil {
		return failed(http.StatusServiceUnavailable, "the store's keys are not open")
	}
	store := "ok"
	if _, err := cat.Artifacts.Get(ctx, symbol.ID{}); err != nil {
		store = "unavailable"
	}
	c.json(http.StatusOK, map[string]string{"status": "ready", "store": store})
	return nil
}

func (s *Server) metrics(c *call) error {
	s.o.Metrics.ServeHTTP(c, c.r)
	return nil
}

// page answers with a page for browsers, or with one of its assets.
func (s *Server) page(c *call) error { return page.Serve(c, c.r) }

// reasonHeader says in one word why a client of debuginfod gets no file. Such clients show no bodies.
const reasonHeader = "Symlake-Reason"

// build refuses a file of a build: the store keeps answers, not the files that they came from. A client of debuginfod asks
// its next server then.
func (s *Server) build(c *call) error {
	c.Header().Set(reasonHeader, "not-kept")
	return failed(http.StatusNotFound, "symlake keeps no debuginfo, executables and sources. Ask the server of debuginfod that your sources name, or ask for positions of the build: /v1/lookup")
}
