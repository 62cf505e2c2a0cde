// Package relay answers profiles of OpenTelemetry on their way: it takes what an exporter of OTLP/HTTP or OTLP/gRPC
// sends, has its places answered, and sends the message on. The exporter gets the answer of the next receiver.
//
// It leaves looking up, bodies and limits to its caller.
//
// Invariants:
//   - a message is answered for once the next receiver has it, or has refused it: nothing waits in a queue, and nothing is lost silently;
//   - an exporter that may send again is told so, with the receiver's own delay;
//   - each message is counted once, by what became of it.
package relay

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"time"

	"github.com/symlake/symlake/formats/profile"
	"github.com/symlake/symlake/formats/profile/all"
	"github.com/symlake/symlake/formats/symbol"
)

// The paths of the receiver.
const (
	HTTPPath = "/v1development/profiles"
	GRPCPath = "/opentelemetry.proto.collector.profiles.v1development.ProfilesService/Export"
)

// Options of a relay.
type Options struct {
	URL     string      // of the next receiver, see Parse
	Header  http.Header // of each request to it
	Time    time.Duration
	Metrics *Metrics
	Log     *slog.Logger
	// Unanswered has messages sent on as they came while the store is out of reach. Otherwise the exporter is told to send again.
	Unanswered bool
}

// Relay sends profiles on. Safe for concurrent use.
type Relay struct {
	o  Options
	to target
}

// New returns a relay. The error names the fault of the URL.
func New(o Options) (*Relay, error) {
	to, err := parse(o.URL, o.Header)
	return &Relay{o, to}, err
}

// Message is what an exporter sent.
type Message struct {
	Body []byte
	JSON bool // else protobuf
	GRPC bool
}

// Reply is what the exporter is told.
type Reply struct {
	Code   int    // of HTTP
	Reason string // for a Code other than 200
	After  int    // seconds after which sending again can help; 0: not said
	Body   []byte // the receiver's message, in the message's encoding
}

// Work are the steps of a request that its server bounds.
type Work struct {
	// Profile begins the answering of a message, and returns the options for it.
	Profile func() (*profile.Options, error)
	// Most are the bytes that an answered message may have.
	Most int
	// Park is called before the receiver is waited for, and resume behind it.
	Park func() (resume func() error)
	// Refuse returns what an exporter is told about an error of these steps, or of looking up.
	Refuse func(err error) *Reply
}

// Send answers a message and sends it on. It returns what the exporter is to be told.
func (r *Relay) Send(ctx context.Context, m *Message, w Work) *Reply {
	began := time.Now()
	protocol := "http"
	if m.GRPC {
		protocol = "grpc"
	}
	counts, reply, err := r.send(ctx, m, w)
	if err != nil {
		reply = w.Refuse(err)
	}
	outcome := reply.outcome()
	r.o.Metrics.message(protocol, outcome, counts, len(m.Body), time.Since(began))
	args := []any{"protocol", protocol, "outcome", outcome, "bytes", len(m.Body)}
	if counts != nil {
		parts := uint64(0)
		for i := range counts.Kept {
			parts += counts.Kept[i].Parts
		}
		args = append(args, "samples", counts.Samples, "places", counts.Places, "answered", counts.Answered, "named", counts.Named, "kept", parts)
	}
	if reply.Code != http.StatusOK {
		args = append(args, "status", reply.Code, "reason", reply.Reason)
	}
	r.o.Log.Info("profiles", args...)
	return reply
}

// send is Send without its notes. counts are nil if nothing was asked for.
func (r *Relay) send(ctx context.Context, m *Message, w Work) (*profile.Counts, *Reply, error) {
	if m.JSON && r.to.grpc {
		return nil, &Reply{Code: http.StatusUnsupportedMediaType, Reason: "the next receiver speaks gRPC, which has no JSON: send protobuf"}, nil
	}
	o, err := w.Profile()
	if err != nil {
		return nil, nil, err
	}
	out := bounded{most: w.Most}
	err = profile.Answer(ctx, forms, profile.Bytes("the message", m.Body), &out, o)
	switch {
	case ctx.Err() != nil:
		return &o.Counts, nil, context.Cause(ctx)
	case errors.Is(err, profile.ErrFormat) || o.Counts.Format != "" && o.Counts.Format != forms[0].Name:
		if !isEmpty(m) {
			return &o.Counts, &Reply{Code: http.StatusBadRequest, Reason: "the message is none of profiles of OpenTelemetry"}, nil
		}
		out.Reset()
		out.Write(m.Body)
	case errors.Is(err, errLarge):
		return &o.Counts, &Reply{Code: http.StatusRequestEntityTooLarge, Reason: fmt.Sprintf("the answered message is larger than %d bytes: send smaller ones", w.Most)}, nil
	case err != nil:
		return &o.Counts, nil, err
	}
	if reason, away := outOfReach(&o.Counts); away {
		if !r.o.Unanswered {
			return &o.Counts, &Reply{Code: http.StatusServiceUnavailable, Reason: reason, After: 1}, nil
		}
		out.Reset()
		out.Write(m.Body)
	}
	resume := w.Park()
	within, cancel := context.WithTimeout(ctx, r.o.Time)
	reply := r.to.send(within, m, out.Bytes())
	cancel()
	_ = resume() // the message is with the receiver, or it is not: that alone counts now
	return &o.Counts, reply, nil
}

// outOfReach reports whether the store did not answer, and its reason.
func outOfReach(c *profile.Counts) (reason string, away bool) {
	for i := range c.Unanswered {
		if c.Unanswered[i].Status == symbol.Unavailable {
			return "the store does not answer: send again", true
		}
	}
	return "", false
}

// forms are profiles of OpenTelemetry, and the forms that they may have inside.
var forms = func() []*profile.Format {
	list := make([]*profile.Format, 1, len(all.Formats))
	for _, f := range all.Formats {
		if f.Name == "otlp" {
			list[0] = f
		} else {
			list = append(list, f)
		}
	}
	return list
}()

// isEmpty reports whether a message has no profiles and no tables, so that no form knows it.
func isEmpty(m *Message) bool {
	if m.JSON {
		return len(bytes.Trim(m.Body, " \t\r\n{}")) == 0 && bytes.ContainsRune(m.Body, '{')
	}
	return len(m.Body) == 0 || isResources(m.Body)
}

// errLarge says that an answered message has more bytes than one may have.
var errLarge = errors.New("the answered message is too large")

// bounded is a buffer with an end.
type bounded struct {
	bytes.Buffer
	most int
}

func (b *bounded) Write(p []byte) (int, error) {
	if b.Len()+len(p) > b.most {
		return 0, errLarge
	}
	return b.Buffer.Write(p)
}
