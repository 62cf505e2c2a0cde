package serve

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/symlake/symlake/formats"
	"github.com/symlake/symlake/formats/profile"
	"github.com/symlake/symlake/formats/report"
	"github.com/symlake/symlake/formats/symbol"
	"github.com/symlake/symlake/jobs/internal/profiles"
	"github.com/symlake/symlake/jobs/serve/intake"
	"github.com/symlake/symlake/jobs/serve/relay"
	"github.com/symlake/symlake/jobs/wire"
	"github.com/symlake/symlake/sinks/answer"
)

// Memory of a profile beside its body, in bytes: all of it, and the parts of its form, of the answered profile and of its
// samples in a conversion.
const (
	profileBytes         = 56 << 20
	profileFormBytes     = 16 << 20
	profileAnsweredBytes = 20 << 20
	profileSampleBytes   = 20 << 20
)

// profiles answers a profile with a profile, in its own form or in another.
func (s *Server) profiles(c *call) error {
	q, err := url.ParseQuery(c.r.URL.RawQuery)
	if err != nil {
		return failed(http.StatusBadRequest, "the query is not encoded as it should be")
	}
	for name, values := range q {
		if !slices.Contains([]string{"app", "build", "platform", "frame0", "artifact", "output"}, name) || len(values) > 1 && name != "artifact" {
			return failed(http.StatusBadRequest, "want app, build, platform, frame0 and output at most once, and artifact")
		}
	}
	raw := rawStack{App: q.Get("app"), Build: q.Get("build"), Platform: q.Get("platform"), Frame0: q.Get("frame0"), Artifacts: q["artifact"]}
	split, o, err := s.options(c, 0, &raw)
	if err != nil {
		return err
	}
	text, err := c.text()
	if err != nil {
		return err
	}
	in := profile.Bytes("the profile", text)
	form, to, err := profileOutput(c, in, q.Get("output"))
	if err != nil {
		return err
	}
	if err := c.enter(0); err != nil {
		return err
	}
	if err := c.turn.take(profileBytes); err != nil {
		return err
	}
	c.stacks++
	asker := s.asker(c, split, &o, profileFormBytes)
	c.Header().Set("Content-Security-Policy", "sandbox allow-scripts") // pages and pictures have nothing to do with this server
	out := c.answerNoted(profileKind(form, to, text), wire.SummaryHeader)
	questions := asker.Profile()
	err = errors.Join(profiles.Write(c.ctx, in, out, to, questions, profiles.Memory(profileAnsweredBytes), profileSampleBytes), c.done())
	if err == nil {
		out.Annotate(wire.NewProfile(&questions.Counts).Header())
		return out.Finish()
	}
	switch {
	case errors.Is(err, formats.ErrLimit):
		err = failed(http.StatusRequestEntityTooLarge, "%v", err)
	case formats.Rejects(err):
		err = failed(http.StatusBadRequest, "%v", err)
	}
	if out.Begun() {
		out.Fail(nil, c.reason(err))
	}
	return err
}

// profileOutput returns the form of a profile, and the output that a request asks for: by its query, else by its header.
func profileOutput(c *call, in *profile.Input, name string) (form *profile.Format, to profiles.Output, err error) {
	if form, err = profiles.Of(in); err != nil {
		return nil, to, err
	}
	if form == nil {
		return nil, to, failed(http.StatusBadRequest, "no profile of a known form")
	}
	if name == "" {
		return form, profiles.Accepted(form, c.r.Header.Get("Accept")), nil
	}
	if to, err = profiles.Named(form, name); err != nil {
		return nil, to, failed(http.StatusBadRequest, "output: %v", err)
	}
	return form, to, nil
}

// profileKind returns the media type of an answer.
func profileKind(form *profile.Format, to profiles.Output, body []byte) string {
	if to.Form != nil {
		form = to.Form
	} else if _, _, packing, err := profile.Unpack(profile.Bytes("", body)); err == nil && packing == profile.Gzip {
		return "application/gzip"
	}
	switch {
	case len(form.Media) == 0:
		return "application/octet-stream"
	case form.Media[0] == "text/html":
		return "text/html; charset=utf-8"
	}
	return form.Media[0]
}

// The memory of a message of OpenTelemetry profiles: eight times its body and relayBytes, at most relayMost. Twice the body of it
// is for the answered message, as it is and packed.
const (
	relayBytes = 8 << 20
	relayMost  = 96 << 20
)

// relayHTTP takes a message of OTLP/HTTP.
func (s *Server) relayHTTP(c *call) error {
	return s.relay(c, &relay.Message{JSON: c.mediaType() == "application/json"}, "application/x-protobuf", "application/protobuf", "application/json")
}

// relayGRPC takes a message of OTLP/gRPC.
func (s *Server) relayGRPC(c *call) error {
	return s.relay(c, &relay.Message{GRPC: true}, "application/grpc", "application/grpc+proto")
}

// relay answers a message of one of these media types by the reply of the next receiver.
func (s *Server) relay(c *call, m *relay.Message, kinds ...string) error {
	if s.o.Relay == nil {
		return failed(http.StatusNotFound, "this server sends no profiles on: start it with --otlp-forward URL, or ask /v1/profiles")
	}
	if !slices.Contains(kinds, c.mediaType()) {
		return failed(http.StatusUnsupportedMediaType, "want a Content-Type of %s", strings.Join(kinds, ", "))
	}
	refuse := func(err error) *relay.Reply {
		f := c.reason(err)
		return &relay.Reply{Code: f.code, Reason: f.reason, After: f.after()}
	}
	reply := (*relay.Reply)(nil)
	err := c.relayBody(m)
	if err == nil {
		reply = s.o.Relay.Send(c.r.Context(), m, relay.Work{Most: int(c.limits.AnswerBytes), Refuse: refuse,
			Profile: func() (*profile.Options, error) { return s.relayed(c, m) },
			Park:    func() func() error { return c.turn.park() }})
	} else {
		reply = refuse(err)
	}
	if reply.Code != http.StatusOK {
		c.said = reply.Code
	}
	reply.Write(c, m)
	return nil
}

// relayBody reads a message.
func (c *call) relayBody(m *relay.Message) (err error) {
	if m.Body, err = c.text(); err != nil || !m.GRPC {
		return err
	}
	if len(m.Body) > 0 && m.Body[0]&1 != 0 { // it inflates beside the body
		ctx, cancel := context.WithTimeout(c.r.Context(), c.limits.Time)
		defer cancel()
		if err := c.s.intake.Hold(ctx, c.shared, c.body, true, int64(len(m.Body))); err != nil {
			return err
		}
	}
	if m.Body, err = relay.Unframe(m.Body, c.r.Header.Get("Grpc-Encoding"), c.limits.BodyBytes); errors.Is(err, relay.ErrLarge) {
		return intake.ErrTooLarge
	} else if err != nil {
		return failed(http.StatusBadRequest, "%v", err)
	}
	return nil
}

// relayed enters for a message, and returns the options by which its places are asked for.
func (s *Server) relayed(c *call, m *relay.Message) (*profile.Options, error) {
	room := min(relayBytes+8*int64(len(m.Body)), relayMost)
	if err := c.enter(room); err != nil {
		return nil, err
	}
	q := c.r.URL.Query()
	split, o, err := s.options(c, 0, &rawStack{App: q.Get("app"), Artifacts: q["artifact"]})
	if err != nil {
		return nil, err
	}
	c.stacks++
	return s.asker(c, split, &o, room-2*int64(len(m.Body))).Profile(), nil
}

// asker asks for the places of a profile, and has other requests take turns between.
func (s *Server) asker(c *call, split report.Options, o *answer.Options, memory int64) *profiles.Asker {
	held := c.turn.held
	return profiles.New(profiles.Options{Artifacts: o.Artifacts, App: o.App, Kind: o.Kind, Frame0: split.Frame0, Memory: memory, Used: o.Used,
		Open: func() (*answer.Client, func() error, error) { return s.o.Client, nil, nil },
		Asked: func(r *report.Report, _ [][]symbol.Answer) error {
			if c.frames += r.Frames(); c.frames > c.limits.Frames {
				return failed(http.StatusRequestEntityTooLarge, "more than %d places", c.limits.Frames)
			}
			c.turn.back(held)
			return errors.Join(c.done(), c.turn.yield())
		}})
}
