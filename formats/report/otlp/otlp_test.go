package otlp_test

import (
	"bytes"
	"encoding/binary"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	common "go.opentelemetry.io/proto/otlp/common/v1"
	logs "go.opentelemetry.io/proto/otlp/logs/v1"
	resource "go.opentelemetry.io/proto/otlp/resource/v1"
	trace "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/testing/protocmp"

	"github.com/symlake/symlake/formats/report"
	"github.com/symlake/symlake/formats/report/all"
	"github.com/symlake/symlake/formats/report/otlp"
	"github.com/symlake/symlake/formats/symbol"
)

const (
	scriptStack = "Error: x\n    at f (https://h.example/app.min.js:1:44)\n    at g (https://h.example/app.min.js:1:99)\n"
	javaStack   = "s.c: cannot pay: 2\n\tat s.b.a(SourceFile:8)\n\tat s.b.b(SourceFile:5)\n"
	nativeStack = "backtrace:\n      #00 pc 00000000000047d4  /data/app/libcart.so (BuildId: 564bb6c8)\n"
)

// pair returns an attribute.
func pair(key, value string) *common.KeyValue {
	return &common.KeyValue{Key: key, Value: text(value)}
}

func text(value string) *common.AnyValue {
	return &common.AnyValue{Value: &common.AnyValue_StringValue{StringValue: value}}
}

var shop = &resource.Resource{Attributes: []*common.KeyValue{pair("service.name", "shop"), pair("telemetry.sdk.language", "webjs")}}

// someLogs are logs with stacks in attributes, bodies, and values of values.
func someLogs() *logs.LogsData {
	nested := &common.AnyValue{Value: &common.AnyValue_KvlistValue{KvlistValue: &common.KeyValueList{Values: []*common.KeyValue{
		pair("exception.type", "s.c"), {Key: "n", Value: &common.AnyValue{Value: &common.AnyValue_IntValue{IntValue: -1}}}, pair("exception.stacktrace", javaStack),
	}}}}
	return &logs.LogsData{ResourceLogs: []*logs.ResourceLogs{{
		Resource: shop, SchemaUrl: "https://opentelemetry.io/schemas/1.26.0",
		ScopeLogs: []*logs.ScopeLogs{{
			Scope: &common.InstrumentationScope{Name: "app", Version: "1"},
			LogRecords: []*logs.LogRecord{
				{TimeUnixNano: 1e18, SeverityNumber: 17, SeverityText: "ERROR", Body: text("no stack"), TraceId: make([]byte, 16), SpanId: make([]byte, 8), Flags: 1,
					Attributes: []*common.KeyValue{pair("exception.type", "Error"), pair("exception.message", "x"), pair("exception.stacktrace", scriptStack)}},
				{ObservedTimeUnixNano: 1e18, Body: text(nativeStack), EventName: "device.crash", DroppedAttributesCount: 3},
				{TimeUnixNano: 1, Body: nested},
				{TimeUnixNano: 2, Attributes: []*common.KeyValue{pair("exception.stacktrace", javaStack), pair("exception.type", "s.c")}},
			},
		}},
	}, {Resource: &resource.Resource{}, ScopeLogs: []*logs.ScopeLogs{{LogRecords: []*logs.LogRecord{{Body: &common.AnyValue{Value: &common.AnyValue_ArrayValue{ArrayValue: &common.ArrayValue{Values: []*common.AnyValue{text(scriptStack)}}}}}}}}}}}
}

// someSpans are spans with the same stacks.
func someSpans() *trace.TracesData {
	return &trace.TracesData{ResourceSpans: []*trace.ResourceSpans{{
		Resource: shop,
		ScopeSpans: []*trace.ScopeSpans{{Spans: []*trace.Span{{
			TraceId: bytes.Repeat([]byte{7}, 16), SpanId: bytes.Repeat([]byte{8}, 8), ParentSpanId: bytes.Repeat([]byte{9}, 8), TraceState: "a=b", Name: "pay", Kind: 3,
			StartTimeUnixNano: 1, EndTimeUnixNano: 2, Flags: 256, Status: &trace.Status{Message: "why", Code: 2},
			Links: []*trace.Span_Link{{TraceId: bytes.Repeat([]byte{1}, 16), SpanId: bytes.Repeat([]byte{2}, 8)}},
			Events: []*trace.Span_Event{{Name: "exception", TimeUnixNano: 3, Attributes: []*common.KeyValue{
				pair("exception.type", "s.c"), pair("exception.stacktrace", javaStack), pair("more", scriptStack),
			}}},
		}}}},
	}}}
}

// answered splits a file and prints it with an answer for each frame, or without.
func answered(t testing.TB, in []byte, function string) (out []byte, frames int) {
	t.Helper()
	var b bytes.Buffer
	err := report.Split(t.Context(), bytes.NewReader(in), all.Dialects, report.Options{}, func(r *report.Report) error {
		frames += r.Frames()
		var answers [][]symbol.Answer
		for i := range r.Threads {
			list := make([]symbol.Answer, len(r.Threads[i].Frames))
			for k := range list {
				if f := &r.Threads[i].Frames[k]; function != "" {
					list[k] = symbol.Answer{Status: symbol.Found, Frames: []symbol.Frame{{Function: function, File: "a.b", Line: 7, Column: 3}}}
					if f.Managed != nil && f.Managed.Method == "" {
						list[k].Frames[0] = symbol.Frame{Function: "com.shop.BadInput"}
					}
				}
			}
			answers = append(answers, list)
		}
		return report.Print(&b, r, answers)
	})
	if err != nil {
		t.Fatal(err)
	}
	return b.Bytes(), frames
}

// framings are the ways in which messages stand in files.
var framings = map[string]func(to, message []byte) []byte{
	"alone": func(to, message []byte) []byte { return append(to, message...) },
	"delimited": func(to, message []byte) []byte {
		return append(binary.AppendUvarint(to, uint64(len(message))), message...)
	},
	"file exporter": func(to, message []byte) []byte {
		return append(binary.BigEndian.AppendUint32(to, uint32(len(message))), message...)
	},
	"gRPC": func(to, message []byte) []byte {
		return append(binary.BigEndian.AppendUint32(append(to, 0), uint32(len(message))), message...)
	},
}

// unframed takes the messages of a file apart.
func unframed(t *testing.T, name string, b []byte) (messages [][]byte) {
	t.Helper()
	for len(b) > 0 {
		size := len(b)
		switch name {
		case "delimited":
			v, n := protowire.ConsumeVarint(b)
			b, size = b[n:], int(v)
		case "file exporter":
			b, size = b[4:], int(binary.BigEndian.Uint32(b))
		case "gRPC":
			b, size = b[5:], int(binary.BigEndian.Uint32(b[1:]))
		}
		if size > len(b) {
			t.Fatalf("a length of %d, %d bytes are left", size, len(b))
		}
		messages, b = append(messages, b[:size]), b[size:]
	}
	return messages
}

// TestMessages answers the stacks of logs and spans in each kind of file, and compares all else. Requests of a collector
// are the same messages.
func TestMessages(t *testing.T) {
	t.Parallel()
	for name, frame := range framings {
		for kind, m := range map[string]proto.Message{"logs": someLogs(), "spans": someSpans()} {
			t.Run(name+", "+kind, func(t *testing.T) {
				t.Parallel()
				b, err := proto.Marshal(m)
				if err != nil {
					t.Fatal(err)
				}
				in := frame(frame(nil, b), b)
				same, frames := answered(t, in, "")
				if want := map[string]int{"logs": 22, "spans": 10}[kind]; frames != want {
					t.Errorf("%d frames, want %d", frames, want)
				}
				if !bytes.Equal(same, in) {
					t.Error("the bytes changed without an answer")
				}
				out, _ := answered(t, in, "toy.Named.call")
				if bytes.Equal(out, in) {
					t.Fatal("no answer")
				}
				messages := unframed(t, name, out)
				if want := 2; name != "alone" && len(messages) != want {
					t.Fatalf("%d messages, want %d", len(messages), want)
				}
				for _, b := range messages {
					got := proto.Clone(m)
					proto.Reset(got)
					if err := proto.Unmarshal(b, got); err != nil {
						t.Fatal(err)
					}
					want := proto.Clone(m)
					if name == "alone" { // two messages are one with the elements of both
						proto.Merge(want, m)
					}
					answer := cmp.FilterValues(func(a, b string) bool { return isAnswer(a, b) || isAnswer(b, a) }, cmp.Ignore())
					if diff := cmp.Diff(want, got, protocmp.Transform(), answer); diff != "" {
						t.Error(diff)
					}
					if n := bytes.Count(b, []byte("toy.Named")); n < frames/3 {
						t.Errorf("%d answers for %d frames", n, frames)
					}
					if n := bytes.Count(b, []byte("com.shop.BadInput")); n < 2 {
						t.Errorf("%d classes", n)
					}
				}
			})
		}
	}
}

// isAnswer reports whether a string is another one with answers.
func isAnswer(before, after string) bool {
	switch before {
	case scriptStack, javaStack, nativeStack:
		return strings.Contains(after, "Named")
	case "s.c":
		return after == "com.shop.BadInput"
	}
	return false
}

// TestNoMessages passes on what only looks like messages.
func TestNoMessages(t *testing.T) {
	t.Parallel()
	b, err := proto.Marshal(someLogs())
	if err != nil {
		t.Fatal(err)
	}
	for name, in := range map[string][]byte{
		"text":      []byte("\n\n\n\nat f (https://h.example/app.min.js:1:44)\n"),
		"one lines": []byte("\n\t\n\x05\n\x03abc\n"),
		"cut":       b[:len(b)-5],
		"odd end":   append(bytes.Clone(b), "\x0a\x05abcde and more"...),
		"metrics":   append([]byte{0x0a, 0x0e, 0x0a, 0x00, 0x12, 0x0a, 0x12, 0x08}, "\x0a\x06metric"...),
		"too long":  append([]byte{0x0a, 0xff, 0xff, 0xff, 0xff, 0x07}, "\x0a\x00"...),
	} {
		out, _ := answered(t, in, "")
		if !bytes.Equal(out, in) {
			t.Errorf("%s: %q became %q", name, in, out)
		}
	}
}

// TestLongRecord passes on a record that is too long, and reads the one behind it.
func TestLongRecord(t *testing.T) {
	t.Parallel()
	long := someLogs()
	long.ResourceLogs[0].ScopeLogs[0].LogRecords[0].Body = text(strings.Repeat("long ", 1<<14))
	b, err := proto.Marshal(long)
	if err != nil {
		t.Fatal(err)
	}
	var out []byte
	var why []report.Unread
	frames := 0
	err = report.Split(t.Context(), bytes.NewReader(b), all.Dialects, report.Options{DocumentBytes: 1 << 14}, func(r *report.Report) error {
		out, why, frames = append(out, r.Text...), append(why, r.Unread...), frames+r.Frames()
		return nil
	})
	if err != nil || !bytes.Equal(out, b) || frames != 2 || len(why) != 1 || why[0].Why != report.WhyPart {
		t.Errorf("%d of %d bytes, %d frames, %v: %v", len(out), len(b), frames, why, err)
	}
}

// isFile reports whether all of a file are records without prefixes.
func isFile(in []byte) bool {
	f := &otlp.Dialect.Files[0]
	if !f.Begins(in[:min(len(in), 64)]) {
		return false
	}
	for len(in) > 0 {
		n, ok := f.Record(in[:min(len(in), 64)])
		if !ok || n > int64(len(in)) || f.Parts(in[:n]) == nil {
			return false
		}
		in = in[n:]
	}
	return true
}

// FuzzMessages: any bytes come out unchanged, and messages stay messages when they are answered.
func FuzzMessages(f *testing.F) {
	for _, m := range []proto.Message{someLogs(), someSpans()} {
		b, err := proto.Marshal(m)
		if err != nil {
			f.Fatal(err)
		}
		for _, frame := range framings {
			f.Add(frame(nil, b))
		}
	}
	f.Fuzz(func(t *testing.T, in []byte) {
		same, _ := answered(t, in, "")
		if !isFile(in) { // text that is decoded, perhaps
			return
		}
		if !bytes.Equal(same, in) {
			t.Fatalf("%q became %q", in, same)
		}
		if proto.Unmarshal(in, &logs.LogsData{}) != nil {
			return
		}
		if out, frames := answered(t, in, "toy.Named.call"); frames > 0 {
			if err := proto.Unmarshal(out, &logs.LogsData{}); err != nil {
				t.Fatalf("%q became %q: %v", in, out, err)
			}
		}
	})
}
