// Package serve is the thin client over HTTP: whole stacks, single positions,
// what is stored, and the symbolication protocol of Mozilla's Tecken and Eliot.
// openapi.json describes it to the byte; doc comments here say why.
//
// It leaves to lookup every answer, to wire the words, and to its caller the
// listener, the store and where tokens come from.
//
// Invariants:
//   - whatever arrives is answered: with statuses, or a 4xx or 5xx whose body
//     says why; sizes are checked before they cost anything;
//   - an answer that was begun and cannot be finished ends with an error in its own form, and the trailer
//     Symlake-Error: it is never cut silently;
//   - memory beside the client's caches is bounded, whatever is asked: bodies, parsed forms, answers on their way;
//   - a slot is held by requests whose body is there, and never while a caller is waited for. Callers share slots and
//     memory fairly (package fair);
//   - what is out of reach never looks like what does not exist: unavailable
//     answers say so, with retry;
//   - the log has callers, artifact ids and counts, never names of functions or files, and no text that was sent.
package serve

import (
	"log/slog"
	"sync/atomic"
	"time"

	"github.com/symlake/symlake/jobs/serve/intake"
	"github.com/symlake/symlake/sinks/answer"
)

// A body must come, and an answer must be taken, at lowestRate bytes a second at least, over each rateWindow.
const (
	lowestRate = 8 << 10
	rateWindow = 10 * time.Second
)

// Options of a server.
type Options struct {
	Client  *answer.Client
	Metrics *Metrics // to be given the client's observer too
	Log     *slog.Logger
	Tokens  Tokens // empty: nobody is asked for one
	Limits  Limits
	// Hosts are names that the server is reached by, beside localhost and its addresses. A server with tokens needs none.
	Hosts []string
	// Origins are sites whose pages may ask, as browsers spell them: https://profiler.firefox.com.
	Origins []string
}

// Server answers requests. Safe for concurrent use.
type Server struct {
	o        Options
	gate     *gate
	intake   *intake.Intake
	draining atomic.Bool
}

// Drain makes /readyz say that no new requests are wanted; those that come are answered.
func (s *Server) Drain() { s.draining.Store(true) }
