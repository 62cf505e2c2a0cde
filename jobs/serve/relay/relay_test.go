package relay_test

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"go.opentelemetry.io/collector/pdata/pprofile"

	"github.com/symlake/symlake/formats/profile"
	"github.com/symlake/symlake/formats/report"
	"github.com/symlake/symlake/formats/symbol"
	"github.com/symlake/symlake/jobs/serve/relay"
)

// message is a profile with one place.
func message(t *testing.T) []byte {
	t.Helper()
	p := pprofile.NewProfiles()
	d := p.Dictionary()
	d.StringTable().Append("", "app", "samples", "count")
	d.MappingTable().AppendEmpty()
	d.MappingTable().AppendEmpty().SetFilenameStrindex(1)
	d.LocationTable().AppendEmpty()
	l := d.LocationTable().AppendEmpty()
	l.SetMappingIndex(1)
	l.SetAddress(0x1234)
	one := p.ResourceProfiles().AppendEmpty().ScopeProfiles().AppendEmpty().Profiles().AppendEmpty()
	one.SampleType().SetTypeStrindex(2)
	one.Samples().AppendEmpty().Values().Append(1)
	out, err := (&pprofile.ProtoMarshaler{}).MarshalProfiles(p)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// work answers each place with a.
func work(a symbol.Answer) relay.Work {
	return relay.Work{Most: 1 << 20, Park: func() func() error { return func() error { return nil } },
		Refuse: func(err error) *relay.Reply {
			return &relay.Reply{Code: http.StatusServiceUnavailable, Reason: err.Error()}
		},
		Profile: func() (*profile.Options, error) {
			return &profile.Options{Ask: func(_ context.Context, frames []report.Frame, answer func(int, *symbol.Answer)) error {
				for i := range frames {
					answer(i, &a)
				}
				return nil
			}}, nil
		}}
}

// While the store is out of reach, exporters are told to send again, unless profiles are to go on as they came.
func TestOutOfReach(t *testing.T) {
	t.Parallel()
	var got []byte
	receiver := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { got, _ = io.ReadAll(r.Body) }))
	defer receiver.Close()
	away := work(symbol.Answer{Status: symbol.Unavailable, Err: errors.New("away")})
	for _, unanswered := range []bool{false, true} {
		r, err := relay.New(relay.Options{URL: receiver.URL, Time: time.Minute, Log: slog.New(slog.DiscardHandler), Unanswered: unanswered})
		if err != nil {
			t.Fatal(err)
		}
		m := &relay.Message{Body: message(t)}
		reply := r.Send(t.Context(), m, away)
		if unanswered && (reply.Code != http.StatusOK || string(got) != string(m.Body)) || !unanswered && (reply.Code != http.StatusServiceUnavailable || reply.After == 0 || got != nil) {
			t.Errorf("unanswered %v: %+v, %d bytes came", unanswered, reply, len(got))
		}
	}
}

// A message that grows too large is refused, and so are replies that are none.
func TestReplies(t *testing.T) {
	t.Parallel()
	status := http.StatusOK
	receiver := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(status) }))
	defer receiver.Close()
	found := work(symbol.Answer{Status: symbol.Found, Frames: []symbol.Frame{{Function: "main", File: "main.c", Line: 1}}})
	send := func(url string, w relay.Work) *relay.Reply {
		r, err := relay.New(relay.Options{URL: url, Time: time.Minute, Log: slog.New(slog.DiscardHandler)})
		if err != nil {
			t.Fatal(err)
		}
		return r.Send(t.Context(), &relay.Message{Body: message(t)}, w)
	}
	small := found
	small.Most = 16
	if reply := send(receiver.URL, small); reply.Code != http.StatusRequestEntityTooLarge {
		t.Errorf("a large message: %+v", reply)
	}
	for _, c := range []struct{ says, want int }{{200, 200}, {202, 200}, {301, 502}, {401, 502}, {404, 502}, {413, 413}, {422, 400}, {500, 502}, {502, 502}} {
		status = c.says
		if reply := send(receiver.URL, found); reply.Code != c.want {
			t.Errorf("HTTP %d: %+v, want %d", c.says, reply, c.want)
		}
	}
	if reply := send("grpc"+receiver.URL[len("http"):], found); reply.Code < 500 {
		t.Errorf("a receiver without gRPC: %+v", reply)
	}
}

// FuzzUnframe reads bodies of gRPC, which come from anywhere.
func FuzzUnframe(f *testing.F) {
	f.Add([]byte("\x00\x00\x00\x00\x02ab"), "identity")
	f.Add([]byte("\x01\x00\x00\x00\x02\x1f\x8b"), "gzip")
	f.Fuzz(func(t *testing.T, body []byte, encoding string) {
		const most = 1 << 16
		if message, err := relay.Unframe(body, encoding, most); err == nil && len(message) > max(most, len(body)) {
			t.Errorf("%d bytes became %d", len(body), len(message))
		}
	})
}
