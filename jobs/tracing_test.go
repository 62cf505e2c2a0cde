package jobs

import (
	"bytes"
	"compress/gzip"
	"io"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	tracepb "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/proto"
)

// A run is one trace: its span, one of each object under it, and the stages of the object under that.
func TestTraces(t *testing.T) {
	var mu sync.Mutex
	var spans []*tracepb.Span
	var service string
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var body io.Reader = r.Body
		if r.Header.Get("Content-Encoding") == "gzip" {
			var err error
			if body, err = gzip.NewReader(r.Body); err != nil {
				t.Error(err)
				return
			}
		}
		text, err := io.ReadAll(body)
		var q tracepb.TracesData // with the fields of the service's request
		if err == nil {
			err = proto.Unmarshal(text, &q)
		}
		if err != nil || r.URL.Path != "/v1/traces" {
			t.Errorf("%s: %v", r.URL.Path, err)
			return
		}
		mu.Lock()
		defer mu.Unlock()
		for _, resource := range q.ResourceSpans {
			for _, a := range resource.Resource.Attributes {
				if a.Key == "service.name" {
					service = a.Value.GetStringValue()
				}
			}
			for _, scope := range resource.ScopeSpans {
				spans = append(spans, scope.Spans...)
			}
		}
	}))
	defer server.Close()
	t.Setenv("OTEL_EXPORTER_OTLP_ENDPOINT", server.URL)
	store := filepath.Join(t.TempDir(), "store")
	mustRun(t, []int{3}, "--store", store, "ingest", someObjects(t), "--run", "monday")
	if service != "symlake" {
		t.Errorf("the service is %q", service)
	}
	byID := map[string]*tracepb.Span{}
	count := map[string]int{}
	for _, s := range spans {
		byID[string(s.SpanId)] = s
		count[s.Name]++
	}
	failed := 0
	for _, s := range spans {
		parent := byID[string(s.ParentSpanId)]
		switch {
		case s.Name == "ingest" && len(s.ParentSpanId) == 0:
			if len(s.Attributes) != 1 || s.Attributes[0].Key != "symlake.run" || s.Attributes[0].Value.GetStringValue() != "monday" {
				t.Errorf("the run has %v", s.Attributes)
			}
		case parent == nil:
			t.Errorf("%s has no parent", s.Name)
		case !bytes.Equal(s.TraceId, parent.TraceId) || s.StartTimeUnixNano < parent.StartTimeUnixNano:
			t.Errorf("%s is no part of %s", s.Name, parent.Name)
		}
		if s.Status.GetCode() == tracepb.Status_STATUS_CODE_ERROR {
			failed++
		}
	}
	if count["ingest"] != 1 || count["object"] != 4 || count["explode"] < 2 || count["publish"] == 0 || failed == 0 {
		t.Errorf("spans %v, %d failed", count, failed)
	}

	// A collector that is away costs the run nothing but a warning, and little time.
	t.Setenv("OTEL_EXPORTER_OTLP_ENDPOINT", "http://"+closedPort(t))
	_, said := mustRun(t, []int{0}, "--store", store, "ingest", someObjects(t), "--rejected-code", "0")
	if !strings.Contains(said, "traces were not sent") {
		t.Errorf("said %s", said)
	}
}
