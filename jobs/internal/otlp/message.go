package otlp

import (
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/sdk/instrumentation"
	"go.opentelemetry.io/otel/sdk/resource"
	sdk "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"
	commonpb "go.opentelemetry.io/proto/otlp/common/v1"
	resourcepb "go.opentelemetry.io/proto/otlp/resource/v1"
	tracepb "go.opentelemetry.io/proto/otlp/trace/v1"
)

// resourceSpans groups spans by the resource and the scope that made them, in the order of their first span.
func resourceSpans(spans []sdk.ReadOnlySpan) []*tracepb.ResourceSpans {
	type place struct {
		resource attribute.Distinct
		scope    instrumentation.Scope
	}
	var all []*tracepb.ResourceSpans
	byResource := map[attribute.Distinct]*tracepb.ResourceSpans{}
	byScope := map[place]*tracepb.ScopeSpans{}
	for _, s := range spans {
		key := s.Resource().Equivalent()
		of := byResource[key]
		if of == nil {
			of = &tracepb.ResourceSpans{Resource: resourceOf(s.Resource()), SchemaUrl: s.Resource().SchemaURL()}
			byResource[key], all = of, append(all, of)
		}
		scope := s.InstrumentationScope()
		in := byScope[place{key, scope}]
		if in == nil {
			in = &tracepb.ScopeSpans{Scope: &commonpb.InstrumentationScope{Name: scope.Name, Version: scope.Version}, SchemaUrl: scope.SchemaURL}
			byScope[place{key, scope}], of.ScopeSpans = in, append(of.ScopeSpans, in)
		}
		in.Spans = append(in.Spans, span(s))
	}
	return all
}

func resourceOf(r *resource.Resource) *resourcepb.Resource {
	return &resourcepb.Resource{Attributes: attributes(r.Attributes())}
}

// span returns a span with its events and links. Times are nanoseconds since 1970.
func span(s sdk.ReadOnlySpan) *tracepb.Span {
	id, trace := s.SpanContext().SpanID(), s.SpanContext().TraceID()
	out := &tracepb.Span{TraceId: trace[:], SpanId: id[:], TraceState: s.SpanContext().TraceState().String(), Name: s.Name(), Kind: kind(s.SpanKind()),
		StartTimeUnixNano: uint64(s.StartTime().UnixNano()), EndTimeUnixNano: uint64(s.EndTime().UnixNano()), Attributes: attributes(s.Attributes()),
		DroppedAttributesCount: uint32(s.DroppedAttributes()), DroppedEventsCount: uint32(s.DroppedEvents()), DroppedLinksCount: uint32(s.DroppedLinks()),
		Status: &tracepb.Status{Code: status(s.Status().Code), Message: s.Status().Description}}
	if parent := s.Parent().SpanID(); parent.IsValid() {
		out.ParentSpanId = parent[:]
	}
	for _, e := range s.Events() {
		out.Events = append(out.Events, &tracepb.Span_Event{Name: e.Name, TimeUnixNano: uint64(e.Time.UnixNano()), Attributes: attributes(e.Attributes), DroppedAttributesCount: uint32(e.DroppedAttributeCount)})
	}
	for _, l := range s.Links() {
		id, trace := l.SpanContext.SpanID(), l.SpanContext.TraceID()
		out.Links = append(out.Links, &tracepb.Span_Link{TraceId: trace[:], SpanId: id[:], TraceState: l.SpanContext.TraceState().String(), Attributes: attributes(l.Attributes), DroppedAttributesCount: uint32(l.DroppedAttributeCount)})
	}
	return out
}

func kind(k trace.SpanKind) tracepb.Span_SpanKind {
	switch k {
	case trace.SpanKindServer:
		return tracepb.Span_SPAN_KIND_SERVER
	case trace.SpanKindClient:
		return tracepb.Span_SPAN_KIND_CLIENT
	case trace.SpanKindProducer:
		return tracepb.Span_SPAN_KIND_PRODUCER
	case trace.SpanKindConsumer:
		return tracepb.Span_SPAN_KIND_CONSUMER
	}
	return tracepb.Span_SPAN_KIND_INTERNAL
}

func status(c codes.Code) tracepb.Status_StatusCode {
	switch c {
	case codes.Ok:
		return tracepb.Status_STATUS_CODE_OK
	case codes.Error:
		return tracepb.Status_STATUS_CODE_ERROR
	}
	return tracepb.Status_STATUS_CODE_UNSET
}

func attributes(list []attribute.KeyValue) []*commonpb.KeyValue {
	var out []*commonpb.KeyValue
	for _, a := range list {
		out = append(out, &commonpb.KeyValue{Key: string(a.Key), Value: value(a.Value)})
	}
	return out
}

func value(v attribute.Value) *commonpb.AnyValue {
	switch v.Type() {
	case attribute.BOOL:
		return &commonpb.AnyValue{Value: &commonpb.AnyValue_BoolValue{BoolValue: v.AsBool()}}
	case attribute.INT64:
		return &commonpb.AnyValue{Value: &commonpb.AnyValue_IntValue{IntValue: v.AsInt64()}}
	case attribute.FLOAT64:
		return &commonpb.AnyValue{Value: &commonpb.AnyValue_DoubleValue{DoubleValue: v.AsFloat64()}}
	case attribute.STRINGSLICE:
		list := &commonpb.ArrayValue{}
		for _, s := range v.AsStringSlice() {
			list.Values = append(list.Values, &commonpb.AnyValue{Value: &commonpb.AnyValue_StringValue{StringValue: s}})
		}
		return &commonpb.AnyValue{Value: &commonpb.AnyValue_ArrayValue{ArrayValue: list}}
	}
	return &commonpb.AnyValue{Value: &commonpb.AnyValue_StringValue{StringValue: v.String()}}
}
