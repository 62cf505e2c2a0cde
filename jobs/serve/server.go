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
	"fmt"
	"log/slog"
	"net/http"
	"runtime"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/symlake/symlake/jobs/serve/intake"
	"github.com/symlake/symlake/sinks/lookup"
)

// Limits bound what one request may cost; 0 means the default.
type Limits struct {
	BodyBytes   int64 // of a request, inflated: 16 MiB
	AnswerBytes int64 // 64 MiB
	Stacks      int   // of a request: 10,000
	Frames      int   // of a request, over all its stacks: 250,000
	Positions   int   // of a look-up request: 10,000
	Jobs        int   // of a request to /symbolicate/v5: 10, as Eliot has it
	// Time bounds the body's way here, and then the work on the answer, waiting for a turn included: 30 s each. The
	// answer's way back does not count.
	Time       time.Duration
	Concurrent int // requests at work at once: four a processor; the others wait
}

// A body must come, and an answer must be taken, at lowestRate bytes a second at least, over each rateWindow.
const (
	lowestRate = 8 << 10
	rateWindow = 10 * time.Second
)

func (l *Limits) defaults() {
	set := func(v *int, n int) {
		if *v <= 0 {
			*v = n
		}
	}
	if l.BodyBytes <= 0 {
		l.BodyBytes = 16 << 20
	}
	if l.AnswerBytes <= 0 {
		l.AnswerBytes = 64 << 20
	}
	if l.Time <= 0 {
		l.Time = 30 * time.Second
	}
	set(&l.Stacks, 10_000)
	set(&l.Frames, 250_000)
	set(&l.Positions, 10_000)
	set(&l.Jobs, 10)
	set(&l.Concurrent, 4*runtime.GOMAXPROCS(0))
}

// Options of a server.
type Options struct {
	Client  *lookup.Client
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
	routes   map[string]route
	gate     *gate
	intake   *intake.Intake
	draining atomic.Bool
}

// route is what a path does, by method.
type route struct {
	open    bool // no token is asked for
	free    bool // a probe or a description: it takes no slot
	cors    bool // browsers of sites that are allowed may ask
	methods map[string]func(*call) error
}

// New makes a server.
func New(o Options) *Server {
	o.Limits.defaults()
	for i := range o.Origins {
		o.Origins[i] = strings.ToLower(o.Origins[i])
	}
	s := &Server{o: o, gate: newGate(&o.Limits),
		intake: intake.New(intake.Limits{Bytes: o.Limits.BodyBytes, Time: o.Limits.Time, Rate: lowestRate, Window: rateWindow})}
	get := func(f func(*call) error) map[string]func(*call) error {
		return map[string]func(*call) error{http.MethodGet: f, http.MethodHead: f}
	}
	post := func(f func(*call) error) map[string]func(*call) error {
		return map[string]func(*call) error{http.MethodPost: f}
	}
	s.routes = map[string]route{
		"/symbolicate/v5": {methods: post(s.tecken), cors: true},
		"/v1/symbolicate": {methods: post(s.symbolicate)},
		"/v1/lookup":      {methods: map[string]func(*call) error{http.MethodGet: s.lookupGet, http.MethodHead: s.lookupGet, http.MethodPost: s.lookupPost}},
		"/v1/artifacts":   {methods: get(s.artifacts)},
		"/healthz":        {methods: get(s.healthz), open: true, free: true},
		"/readyz":         {methods: get(s.readyz), open: true, free: true},
		"/metrics":        {methods: get(s.metrics), free: true},
		"/openapi.json":   {methods: get(s.openAPI), open: true, free: true},
	}
	return s
}

// Drain makes /readyz say that no new requests are wanted; those that come are answered.
func (s *Server) Drain() { s.draining.Store(true) }

// ServeHTTP answers one request.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	began := time.Now()
	c := &call{s: s, ResponseWriter: w, r: r, ctx: r.Context(), limits: &s.o.Limits}
	path := r.URL.Path
	to, known := s.routes[path]
	if !known {
		path = "other"
	}
	defer func() {
		defer c.close()
		v := recover()
		if v == http.ErrAbortHandler {
			panic(v)
		}
		if v != nil {
			s.o.Log.Error("panic", "path", path, "value", fmt.Sprint(v), "stack", string(debug.Stack()))
			c.refuse(failed(http.StatusInternalServerError, "internal error"))
		}
		s.done(c, path, to, time.Since(began))
		if v != nil && c.cut != "" { // the caller sees the connection break off, not an answer that looks whole
			panic(http.ErrAbortHandler)
		}
	}()
	if r.ContentLength != 0 { // net/http reads on when a body was not read, and would wait for it without end
		http.NewResponseController(w).SetReadDeadline(began.Add(s.o.Limits.Time))
	}
	if err := s.route(c, to, known); err != nil {
		c.refuse(err)
	}
}

func (s *Server) route(c *call, to route, known bool) error {
	r := c.r
	if !known {
		return failed(http.StatusNotFound, "no such path; see /openapi.json")
	}
	other, err := s.origin(r)
	if err != nil && !to.open {
		return err
	}
	if len(s.o.Tokens) == 0 && !to.open {
		if err := s.host(r); err != nil {
			return err
		}
	}
	if to.cors {
		c.Header().Add("Vary", "Origin")
		if other {
			c.Header().Set("Access-Control-Allow-Origin", r.Header.Get("Origin"))
		}
		if r.Method == http.MethodOptions && other {
			c.Header().Set("Access-Control-Allow-Methods", allowed(to))
			c.Header().Set("Access-Control-Allow-Headers", "Content-Type, Authorization")
			c.Header().Set("Access-Control-Max-Age", "86400")
			c.WriteHeader(http.StatusNoContent)
			return nil
		}
	}
	f := to.methods[r.Method]
	if f == nil {
		c.Header().Set("Allow", allowed(to))
		return failed(http.StatusMethodNotAllowed, "want %s", allowed(to))
	}
	if !to.open {
		var ok bool
		if c.caller, ok = s.o.Tokens.caller(r); !ok {
			c.Header().Set("WWW-Authenticate", "Bearer")
			return failed(http.StatusUnauthorized, "want Authorization: Bearer TOKEN")
		}
	}
	c.shared = s.share(c)
	return f(c)
}

func allowed(to route) string {
	var all []string
	for m := range to.methods {
		all = append(all, m)
	}
	slices.Sort(all)
	return strings.Join(all, ", ")
}

// done counts and logs a request.
func (s *Server) done(c *call, path string, to route, took time.Duration) {
	s.o.Metrics.request(path, c.status, took)
	if to.free && c.status < 400 {
		return // probes
	}
	ids := make([]string, len(c.artifacts))
	for i, id := range c.artifacts {
		ids[i] = id.String()
	}
	s.o.Log.Info("request", "method", method(c.r), "path", path, "status", c.status, "caller", c.caller, "from", c.r.RemoteAddr,
		"stacks", c.stacks, "frames", c.frames, "artifacts", ids, "more_artifacts", c.more, "bytes", c.bytes, "cut", c.cut, "ms", strconv.FormatFloat(float64(took.Microseconds())/1000, 'f', 2, 64))
}

// method is the request's method, if it is one that is known: it is the caller's text.
func method(r *http.Request) string {
	switch r.Method {
	case http.MethodGet, http.MethodHead, http.MethodPost, http.MethodPut, http.MethodDelete, http.MethodOptions, http.MethodPatch, http.MethodTrace:
		return r.Method
	}
	return "other"
}
