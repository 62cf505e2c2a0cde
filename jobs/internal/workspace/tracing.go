package workspace

import (
	"context"
	"os"
	"time"

	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	sdk "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"

	"github.com/symlake/symlake/jobs/internal/otlp"
)

// flushTime bounds how long a job waits for the collector of its traces when its own work is done.
const flushTime = 5 * time.Second

// tracing sends the spans of a run to a collector, over OTLP and HTTP; nil: the environment names no collector. Where to, and
// under which name, is in OpenTelemetry's own variables.
type tracing struct {
	p        *Workspace
	provider *sdk.TracerProvider
	tracer   trace.Tracer
	root     trace.Span
}

// Traced begins the trace of a run, if OTEL_EXPORTER_OTLP_ENDPOINT says where it goes.
func (p *Workspace) Traced(job, run, shard string) (context.Context, *tracing) {
	if !otlp.Asked() {
		return p.Ctx, nil
	}
	if os.Getenv("OTEL_SERVICE_NAME") == "" {
		os.Setenv("OTEL_SERVICE_NAME", "symlake")
	}
	otel.SetErrorHandler(otel.ErrorHandlerFunc(func(err error) { p.Log.Warn("traces were not sent", "error", err.Error()) }))
	exporter, err := otlp.New(flushTime)
	if err != nil {
		p.Log.Warn("traces are not sent", "error", err.Error())
		return p.Ctx, nil
	}
	t := &tracing{p: p, provider: sdk.NewTracerProvider(sdk.WithBatcher(exporter))}
	t.tracer = t.provider.Tracer("github.com/symlake/symlake")
	attributes := []attribute.KeyValue{attribute.String("symlake.run", run)}
	if shard != "" {
		attributes = append(attributes, attribute.String("symlake.shard", shard))
	}
	ctx, root := t.tracer.Start(p.Ctx, job, trace.WithAttributes(attributes...))
	t.root = root
	return ctx, t
}

// Span is one stage of the run.
func (t *tracing) Span(ctx context.Context, stage, of string) (context.Context, func(error)) {
	var attributes []attribute.KeyValue
	if of != "" {
		attributes = append(attributes, attribute.String("symlake.of", of))
	}
	ctx, s := t.tracer.Start(ctx, stage, trace.WithAttributes(attributes...))
	return ctx, func(err error) { finish(s, err) }
}

func finish(s trace.Span, err error) {
	if err != nil {
		s.SetStatus(codes.Error, err.Error())
	}
	s.End()
}

// End ends the run's span and sends what has not been sent.
func (t *tracing) End(err error) {
	if t == nil {
		return
	}
	finish(t.root, err)
	ctx, cancel := context.WithTimeout(context.WithoutCancel(t.p.Ctx), flushTime)
	defer cancel()
	if err := t.provider.Shutdown(ctx); err != nil {
		t.p.Log.Warn("traces were not sent", "error", err.Error())
	}
}
