package serve

import (
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// A panic in the middle of an answer breaks the connection off: the answer does not look whole. One before it is a 500.
func TestPanicUnderWay(t *testing.T) {
	s := New(Options{Metrics: NewMetrics(), Log: slog.New(slog.DiscardHandler)})
	for path, bytes := range map[string]int{"/early": 10, "/late": 100_000} {
		routes[path] = route{open: true, methods: map[string]handler{http.MethodGet: func(_ *Server, c *call) error {
			if err := c.enter(0); err != nil {
				return err
			}
			io.WriteString(c.answer("text/plain"), strings.Repeat("x", bytes))
			panic("of a test")
		}}}
		defer delete(routes, path)
	}
	h := httptest.NewServer(s)
	defer h.Close()
	for path, want := range map[string]int{"/early": http.StatusInternalServerError, "/late": http.StatusOK} {
		res, err := http.Get(h.URL + path)
		if err != nil {
			t.Fatal(err)
		}
		_, err = io.ReadAll(res.Body)
		res.Body.Close()
		if res.StatusCode != want || (err == nil) != (want != http.StatusOK) {
			t.Errorf("%s: %d, %v", path, res.StatusCode, err)
		}
	}
	if err := s.gate.ready(t.Context(), "probe"); err != nil {
		t.Errorf("a turn is lost: %v", err)
	}
}
