package otlp

import (
	"context"
	"encoding/pem"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"testing"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	sdk "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"
	tracepb "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/proto"
)

// spans makes a parent with a child, an event, and an error.
func spans(t *testing.T, e *Exporter) error {
	t.Helper()
	var failed error
	p := sdk.NewTracerProvider(sdk.WithSyncer(exporterFunc(func(ctx context.Context, list []sdk.ReadOnlySpan) error {
		if err := e.ExportSpans(ctx, list); err != nil {
			failed = err
		}
		return nil
	})))
	ctx, parent := p.Tracer("test").Start(t.Context(), "parent", trace.WithAttributes(attribute.Int("n", 3), attribute.Bool("b", true), attribute.StringSlice("l", []string{"x", "y"})))
	_, child := p.Tracer("test").Start(ctx, "child", trace.WithSpanKind(trace.SpanKindClient))
	child.AddEvent("met", trace.WithAttributes(attribute.Float64("f", 0.5)))
	child.SetStatus(codes.Error, "broken")
	child.End()
	parent.End()
	if err := p.Shutdown(t.Context()); err != nil {
		t.Error(err)
	}
	return failed
}

type exporterFunc func(context.Context, []sdk.ReadOnlySpan) error

func (f exporterFunc) ExportSpans(ctx context.Context, s []sdk.ReadOnlySpan) error { return f(ctx, s) }
func (exporterFunc) Shutdown(context.Context) error                                { return nil }

// Spans arrive as they were made, with the headers of the environment, over TLS, and after a collector was overloaded.
func TestExport(t *testing.T) {
	var got []*tracepb.Span
	calls := 0
	server := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if calls++; calls == 1 {
			w.WriteHeader(http.StatusServiceUnavailable)
			return
		}
		body, err := io.ReadAll(r.Body)
		var data tracepb.TracesData
		if err == nil {
			err = proto.Unmarshal(body, &data)
		}
		if err != nil || r.URL.Path != "/v1/traces" || r.Header.Get("Authorization") != "Bearer a b" || len(data.ResourceSpans) != 1 {
			t.Errorf("%s %v: %v", r.URL.Path, r.Header, err)
			return
		}
		got = append(got, data.ResourceSpans[0].ScopeSpans[0].Spans...)
	}))
	defer server.Close()
	ca := filepath.Join(t.TempDir(), "ca.pem")
	if err := os.WriteFile(ca, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw}), 0o600); err != nil {
		t.Fatal(err)
	}
	t.Setenv("OTEL_EXPORTER_OTLP_ENDPOINT", server.URL+"/")
	t.Setenv("OTEL_EXPORTER_OTLP_HEADERS", "authorization=Bearer%20a%20b,other=x")
	t.Setenv("OTEL_EXPORTER_OTLP_CERTIFICATE", ca)
	e, err := New(time.Minute)
	if err != nil || !Asked() {
		t.Fatal(err)
	}
	if err := spans(t, e); err != nil {
		t.Fatal(err)
	}
	if len(got) != 2 || got[0].Name != "child" || got[1].Name != "parent" {
		t.Fatalf("spans %v", got)
	}
	child, parent := got[0], got[1]
	if string(child.ParentSpanId) != string(parent.SpanId) || string(child.TraceId) != string(parent.TraceId) || child.Kind != tracepb.Span_SPAN_KIND_CLIENT ||
		child.Status.Code != tracepb.Status_STATUS_CODE_ERROR || child.Status.Message != "broken" || len(child.Events) != 1 || child.Events[0].Attributes[0].Value.GetDoubleValue() != 0.5 {
		t.Errorf("child %v", child)
	}
	if a := parent.Attributes; len(a) != 3 || a[0].Value.GetIntValue() != 3 || !a[1].Value.GetBoolValue() || a[2].Value.GetArrayValue().Values[1].GetStringValue() != "y" {
		t.Errorf("attributes %v", a)
	}
}

// A refusal is an error at once. A collector that stays away is one after the time-out.
func TestExportFails(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { http.Error(w, "no such tenant", http.StatusForbidden) }))
	t.Setenv("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", server.URL)
	e, err := New(time.Minute)
	if err != nil {
		t.Fatal(err)
	}
	if err := spans(t, e); err == nil {
		t.Error("a refusal is no error")
	}
	server.Close()
	t.Setenv("OTEL_EXPORTER_OTLP_TIMEOUT", "1")
	if e, err = New(time.Minute); err != nil {
		t.Fatal(err)
	}
	if err := spans(t, e); err == nil {
		t.Error("a collector that is away is no error")
	}
}

// Settings that make no sense are errors.
func TestSettings(t *testing.T) {
	for name, value := range map[string]string{"ENDPOINT": "collector:4317", "PROTOCOL": "grpc", "TIMEOUT": "soon", "HEADERS": "a=%zz", "CERTIFICATE": "/does/not/exist", "CLIENT_CERTIFICATE": "/does/not/exist"} {
		t.Run(name, func(t *testing.T) {
			t.Setenv("OTEL_EXPORTER_OTLP_ENDPOINT", "http://localhost:4318")
			t.Setenv("OTEL_EXPORTER_OTLP_"+name, value)
			if _, err := New(time.Second); err == nil {
				t.Errorf("%s is taken", value)
			}
		})
	}
}
