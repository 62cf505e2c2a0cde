package serve

import (
	"context"
	"fmt"
	"net/http"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/symlake/symlake/jobs/serve/browse"
	"github.com/symlake/symlake/jobs/serve/intake"
	"github.com/symlake/symlake/jobs/serve/page"
	"github.com/symlake/symlake/jobs/serve/protocol"
	"github.com/symlake/symlake/jobs/serve/relay"
	"github.com/symlake/symlake/sinks/catalog"
)

// handler answers a call.
type handler func(*Server, *call) error

// route says how a path is answered, by method.
type route struct {
	open    bool // a caller needs no token
	free    bool // a probe or a description: it takes no slot
	cors    bool // browsers may ask from pages of allowed sites
	rpc     bool // errors go in the form of its protocol
	methods map[string]handler
}

var routes = map[string]route{
	"/symbolicate/v5": {methods: post((*Server).tecken), cors: true},
	"/v1/symbolicate": {methods: post((*Server).symbolicate)},
	"/v1/trace":       {methods: post((*Server).trace)},
	"/v1/profiles":    {methods: post((*Server).profiles)},
	"/v1/lookup": {methods: map[string]handler{
		http.MethodGet: (*Server).lookupGet, http.MethodHead: (*Server).lookupGet, http.MethodPost: (*Server).lookupPost,
	}},
	"/v1/artifacts":          {methods: get((*Server).artifacts)},
	"/v1/wanted":             {methods: get((*Server).wanted)},
	"/v1/objects":            {methods: get((*Server).objects)},
	"/v1/runs":               {methods: get((*Server).runs)},
	"/v1/run":                {methods: get((*Server).run)},
	"/v1/status":             {methods: get((*Server).status)},
	protocol.SymbolicatePath: {methods: post((*Server).rpcSymbolicate), cors: true, rpc: true},
	protocol.LookupPath:      {methods: post((*Server).rpcLookup), cors: true, rpc: true},
	relay.HTTPPath:           {methods: post((*Server).relayHTTP)},
	relay.GRPCPath:           {methods: post((*Server).relayGRPC), rpc: true},
	"/healthz":               {methods: get((*Server).healthz), open: true, free: true},
	"/readyz":                {methods: get((*Server).readyz), open: true, free: true},
	"/metrics":               {methods: get((*Server).metrics), free: true},
	"/openapi.json":          {methods: get((*Server).openAPI), open: true, free: true},
}

// pages answers what a browser shows. Names of pages and assets come from package page.
var pages = route{methods: get((*Server).page), open: true, free: true}

// builds answers clients of debuginfod, which send no token.
var builds = route{methods: get((*Server).build), open: true, free: true}

// find returns the route of a path, and its name in logs and metrics.
func find(path string) (to route, name string, known bool) {
	if to, known = routes[path]; known {
		return to, path, true
	}
	if page.Has(path) {
		return pages, "page", true
	}
	if strings.HasPrefix(path, "/buildid/") {
		return builds, "/buildid/", true
	}
	return to, "other", false
}

func get(f handler) map[string]handler {
	return map[string]handler{http.MethodGet: f, http.MethodHead: f}
}

func post(f handler) map[string]handler { return map[string]handler{http.MethodPost: f} }

// New returns a server with these options.
func New(o Options) *Server {
	o.Limits.defaults()
	for i := range o.Origins {
		o.Origins[i] = strings.ToLower(o.Origins[i])
	}
	s := &Server{o: o, gate: newGate(&o.Limits), overview: browse.NewOverview(func(ctx context.Context) (*catalog.Catalog, error) { return o.Client.Catalog(ctx) }),
		intake: intake.New(intake.Limits{Bytes: o.Limits.BodyBytes, Time: o.Limits.Time, Rate: lowestRate, Window: rateWindow})}
	s.ending, s.end = context.WithCancel(context.Background())
	return s
}

// ServeHTTP answers one request.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	began := time.Now()
	c := &call{s: s, ResponseWriter: w, r: r, ctx: r.Context(), limits: &s.o.Limits}
	to, path, known := find(r.URL.Path)
	c.rpc = to.rpc
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
			c.Header().Set("Access-Control-Expose-Headers", "Retry-After, Grpc-Status, Grpc-Message, Grpc-Status-Details-Bin")
		}
		if r.Method == http.MethodOptions && other {
			c.Header().Set("Access-Control-Allow-Methods", allowed(to))
			c.Header().Set("Access-Control-Allow-Headers", "Content-Type, Authorization, X-Grpc-Web, X-User-Agent, Grpc-Timeout, Connect-Protocol-Version, Connect-Timeout-Ms")
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
	return f(s, c)
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
	status := c.status
	if c.said != 0 {
		status = c.said
	}
	s.o.Metrics.request(path, status, took)
	if to.free && c.status < 400 {
		return // probes
	}
	ids := make([]string, len(c.artifacts))
	for i, id := range c.artifacts {
		ids[i] = id.String()
	}
	s.o.Log.Info("request", "method", method(c.r), "path", path, "status", status, "caller", c.caller, "from", c.r.RemoteAddr,
		"stacks", c.stacks, "frames", c.frames, "artifacts", ids, "more_artifacts", c.more, "bytes", c.bytes, "cut", c.cut, "ms", strconv.FormatFloat(float64(took.Microseconds())/1000, 'f', 2, 64))
}

// method returns the request's method for logs, "other" if it is unknown: it is the caller's text.
func method(r *http.Request) string {
	switch r.Method {
	case http.MethodGet, http.MethodHead, http.MethodPost, http.MethodPut, http.MethodDelete, http.MethodOptions, http.MethodPatch, http.MethodTrace:
		return r.Method
	}
	return "other"
}
