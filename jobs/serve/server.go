// Package serve is the thin client over HTTP: whole stacks, single positions,
// lists of artifacts, and the symbolication protocol of Mozilla's Tecken and
// Eliot. openapi.json describes it to the byte; doc comments here say why.
// Callers over gRPC, gRPC-Web and Connect reach the same answers, if the program brings package rpc.
//
// It leaves the answers to lookup, the forms to wire, and listener, store and
// tokens to its caller.
//
// Invariants:
//   - every request is answered: with statuses, or with a 4xx or 5xx and its
//     reason; sizes are checked before they cost anything;
//   - an answer that breaks off ends with an error in its own form and with the
//     trailer Symlake-Error: it is never cut silently;
//   - memory beside the client's caches is bounded for any request: bodies,
//     parsed forms, answers on their way;
//   - a request holds a slot once its body has come, and never while it waits for
//     its caller. Callers share slots and memory fairly (package fair);
//   - an artifact out of reach never looks like a missing one: unavailable
//     answers say so, with retry;
//   - the log has callers, artifact ids and counts. It has no names of functions
//     or files, and no text of a request.
package serve

import (
	"context"
	_ "embed"
	"log/slog"
	"sync/atomic"
	"time"

	"github.com/symlake/symlake/jobs/serve/browse"
	"github.com/symlake/symlake/jobs/serve/intake"
	"github.com/symlake/symlake/jobs/serve/protocol"
	"github.com/symlake/symlake/jobs/serve/relay"
	"github.com/symlake/symlake/sinks/answer"
)

// README is the document of this folder. The command line prints it as a help topic.
//
//go:embed README.md
var README string

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
	Tokens  Tokens // empty: a caller needs none
	Limits  Limits
	// Hosts are names that the server is reached by, beside localhost and its addresses. A server with tokens needs none.
	Hosts []string
	// Origins are sites with pages that may ask, as browsers spell them: https://profiler.firefox.com.
	Origins []string
	// RPC speaks gRPC, gRPC-Web and Connect; nil: the server speaks plain HTTP alone.
	RPC protocol.Speaker
	// Relay sends OpenTelemetry profiles on; nil: the server takes none.
	Relay *relay.Relay
}

// Server answers requests. Safe for concurrent use.
type Server struct {
	o        Options
	gate     *gate
	intake   *intake.Intake
	overview *browse.Overview
	draining atomic.Bool
	ending   context.Context // of streams
	end      context.CancelFunc
}

// Drain makes /readyz refuse new requests, and stops a survey of the store. The server still answers all that come.
func (s *Server) Drain() {
	s.draining.Store(true)
	s.overview.End()
}

// EndStreams ends each stream of stacks once the stack at hand is answered. Its caller is told to ask again.
func (s *Server) EndStreams() { s.end() }
