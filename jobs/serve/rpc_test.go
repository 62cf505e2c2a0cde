package serve

import (
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/symlake/symlake/jobs/serve/protocol"
)

// A server of a program without package rpc refuses its calls, and names the program that answers them.
func TestNoRPC(t *testing.T) {
	h := httptest.NewServer(New(Options{Metrics: NewMetrics(), Log: slog.New(slog.DiscardHandler)}))
	defer h.Close()
	for _, path := range []string{protocol.SymbolicatePath, protocol.LookupPath} {
		res, err := http.Post(h.URL+path, "application/grpc", strings.NewReader(""))
		if err != nil {
			t.Fatal(err)
		}
		text, err := io.ReadAll(res.Body)
		res.Body.Close()
		if err != nil || res.StatusCode != http.StatusNotFound || !strings.Contains(string(text), "symlake serve for gRPC") {
			t.Errorf("%s: %d %s, %v", path, res.StatusCode, text, err)
		}
	}
}
