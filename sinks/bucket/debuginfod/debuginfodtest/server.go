// Package debuginfodtest is a server that speaks as elfutils' debuginfod does, for tests.
package debuginfodtest

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"
)

// Server has files of builds. It knows no HEAD and no ranges, as elfutils' server.
type Server struct {
	// Source is the URL of the server as a source.
	Source string
	// Before, if set, may answer a request in the server's place. It returns true then. Set it before the first request.
	Before func(w http.ResponseWriter, r *http.Request) bool

	mu    sync.Mutex
	files map[string]file
	asked []string
}

type file struct {
	path  string
	bytes []byte
}

var buildPath = regexp.MustCompile(`^/buildid/([^/]*)/([a-z]+)$`)

// Start starts a server without files. It ends with the test.
func Start(t testing.TB) *Server {
	t.Helper()
	s := &Server{files: map[string]file{}}
	h := httptest.NewServer(s)
	t.Cleanup(h.Close)
	s.Source = strings.Replace(h.URL, "http://", "debuginfod+http://", 1)
	return s
}

// Put gives the server a file: kind is debuginfo or executable, path where the server found it.
func (s *Server) Put(id, kind, path string, bytes []byte) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.files["/buildid/"+id+"/"+kind] = file{path, bytes}
}

// Asked returns the paths that were asked for since the last call, in order.
func (s *Server) Asked() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	all := s.asked
	s.asked = nil
	return all
}

// ServeHTTP implements http.Handler.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	s.asked = append(s.asked, r.URL.Path)
	f, there := s.files[r.URL.Path]
	s.mu.Unlock()
	if s.Before != nil && s.Before(w, r) {
		return
	}
	refuse := func(code int, text string) {
		w.Header().Set("Content-Type", "text/plain")
		w.WriteHeader(code)
		fmt.Fprint(w, text)
	}
	m := buildPath.FindStringSubmatch(r.URL.Path)
	switch {
	case r.Method != http.MethodGet:
		refuse(http.StatusBadRequest, "we support GET only")
	case m == nil:
		refuse(http.StatusServiceUnavailable, "invalid webapi")
	case strings.Trim(m[1], "0123456789abcdef") != "" || len(m[1])%2 != 0:
		refuse(http.StatusServiceUnavailable, "invalid buildid")
	case !there:
		refuse(http.StatusNotFound, "not found")
	default:
		h := w.Header()
		h.Set("Content-Type", "application/octet-stream")
		h.Set("X-DEBUGINFOD-SIZE", fmt.Sprint(len(f.bytes)))
		h.Set("X-DEBUGINFOD-FILE", f.path)
		h.Set("Last-Modified", time.Unix(1_700_000_000, 0).UTC().Format(http.TimeFormat))
		h.Set("Content-Length", fmt.Sprint(len(f.bytes)))
		w.Write(f.bytes)
	}
}
