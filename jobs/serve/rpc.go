package serve

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/symlake/symlake/formats/symbol"
	"github.com/symlake/symlake/jobs/serve/intake"
	"github.com/symlake/symlake/jobs/serve/outlet"
	"github.com/symlake/symlake/jobs/serve/protocol"
	"github.com/symlake/symlake/jobs/wire"
	"github.com/symlake/symlake/sinks/lookup"
)

// streamIdle is how long a stream may be without a stack on its way.
const streamIdle = 5 * time.Minute

// speaks refuses a call that the server cannot answer: no protocol has its media type, or the program speaks none.
func (s *Server) speaks(c *call, kinds ...string) error {
	if s.o.RPC == nil {
		return failed(http.StatusNotFound, "this program answers over plain HTTP alone: start symlake serve for gRPC")
	}
	kind := c.mediaType()
	for _, known := range kinds {
		if kind == known || strings.HasPrefix(kind, known+"+") || kind == known+"proto" || kind == known+"json" {
			c.Header().Set("X-Content-Type-Options", "nosniff")
			c.Header().Set("Cache-Control", "no-store")
			return nil
		}
	}
	return failed(http.StatusUnsupportedMediaType, "want the Content-Type of gRPC, gRPC-Web or Connect, with messages of protobuf or JSON")
}

// over returns the error that ends a call of a protocol because of err.
func (c *call) over(ctx context.Context, err error) error {
	if errors.Is(ctx.Err(), context.DeadlineExceeded) {
		return c.fault(&fail{http.StatusGatewayTimeout, "the caller's time is over"})
	}
	return c.fault(c.reason(err))
}

// writeBy sets the time until which the caller must take the answer; the zero time: no deadline.
func (c *call) writeBy(at time.Time) error {
	err := http.NewResponseController(c).SetWriteDeadline(at)
	if errors.Is(err, http.ErrNotSupported) {
		return nil
	}
	return err
}

// rpcLookup answers positions.
func (s *Server) rpcLookup(c *call) error {
	if err := s.speaks(c, "application/grpc", "application/grpc-web", "application/"); err != nil {
		return err
	}
	text, err := c.text()
	if err != nil {
		return err
	}
	const head = 5
	if strings.HasPrefix(c.mediaType(), "application/grpc") && len(text) >= head && text[0]&1 != 0 {
		ctx, cancel := context.WithTimeout(c.r.Context(), c.limits.Time)
		defer cancel()
		if err := s.intake.Hold(ctx, c.shared, c.body, true, int64(len(text))); err != nil {
			return err
		}
	}
	r := c.r.Clone(c.r.Context())
	r.Body, r.ContentLength = io.NopCloser(bytes.NewReader(text)), int64(len(text))
	r.Header.Del("Content-Encoding")
	s.o.RPC.Lookup(c, r, func(ctx context.Context, m protocol.Message, out protocol.Answers) error {
		c.r = c.r.WithContext(ctx)
		err := s.lookMessage(c, m, out)
		if err == nil {
			c.turn.park()
			err = c.writeBy(time.Now().Add(c.limits.last()))
		}
		if err != nil {
			return c.over(ctx, err)
		}
		return nil
	})
	return nil
}

func (s *Server) lookMessage(c *call, m protocol.Message, out protocol.Answers) error {
	if err := c.enter(6 * int64(m.Len())); err != nil {
		return err
	}
	asked, err := m.Lookup(s.o.Limits.Positions)
	if errors.Is(err, protocol.ErrParts) {
		return failed(http.StatusRequestEntityTooLarge, "more than %d positions: so many are answered at once", s.o.Limits.Positions)
	} else if err != nil {
		return failed(http.StatusBadRequest, "%v", err)
	}
	req := lookupRequest{App: asked.App, Arch: asked.Arch, Context: lines(min(asked.Context, maxContext+1))}
	for i, name := range asked.Artifacts {
		req.Queries = append(req.Queries, lookupQuery{name, asked.Positions[i]})
	}
	if err := s.checkLookup(c, &req); err != nil {
		return err
	}
	total := int64(0)
	return s.positions(c, &req, func(one *wire.Question, a *symbol.Answer, source excerpts) (int64, error) {
		var read []lookup.Excerpt
		for i := 0; source != nil && i < len(a.Frames); i++ {
			x, err := source(&a.Frames[i])
			if err != nil {
				return 0, err
			}
			read = append(read, x)
		}
		size := out.Add(one, a, read)
		if total += size; total > c.limits.AnswerBytes {
			return 0, outlet.ErrLimit
		}
		return 4 * size, nil // as a tree, encoded, and on its way
	})
}

// rpcSymbolicate answers a stream of raw stacks. The gate is entered for each stack, not for the stream.
func (s *Server) rpcSymbolicate(c *call) error {
	if err := s.speaks(c, "application/grpc", "application/grpc-web", "application/connect+"); err != nil {
		return err
	}
	if c.r.ProtoMajor < 2 {
		return failed(http.StatusHTTPVersionNotSupported, "a stream in both directions wants HTTP/2: over HTTP/1.1, ask /v1/symbolicate")
	}
	if err := c.writeBy(time.Time{}); err != nil {
		return err
	}
	messages := s.intake.Messages(c.r.Context(), c.shared, c, c.r, streamIdle)
	defer messages.Close()
	defer context.AfterFunc(s.ending, messages.End)()
	r := c.r.Clone(c.r.Context())
	r.Body = messages
	s.o.RPC.Symbolicate(c, r, func(ctx context.Context, in protocol.Stream) error {
		for i := uint64(0); ; i++ {
			m, err := in.Receive()
			if ended := messages.Err(); ended != nil {
				return c.over(ctx, ended)
			}
			if errors.Is(err, io.EOF) {
				return nil
			}
			if errors.Is(err, protocol.ErrSize) {
				return c.over(ctx, intake.ErrTooLarge)
			}
			if err != nil { // a message that is not formed as it should be
				c.said = http.StatusBadRequest
				return err
			}
			if err := s.inPlace(ctx, c, i, m, in); err != nil {
				return c.over(ctx, err)
			}
		}
	})
	return nil
}

// inPlace answers one raw stack, with a failure in its place if need be. The error ends the stream.
func (s *Server) inPlace(ctx context.Context, of *call, i uint64, m protocol.Message, to protocol.Stream) error {
	c := &call{s: s, ResponseWriter: of.ResponseWriter, r: of.r.WithContext(ctx), ctx: ctx, limits: of.limits, caller: of.caller, shared: of.shared}
	defer c.close()
	defer func() {
		of.stacks++
		of.frames += c.frames
		of.more += c.more
		for _, id := range c.artifacts {
			of.used(id)
		}
	}()
	gone, last := false, time.Now().Add(c.limits.Time+c.limits.last())
	p := to.Answer(protocol.Options{Index: i, Limit: c.limits.AnswerBytes, Err: outlet.ErrLimit, Send: func(more bool, send func() error) error {
		resume := func() error { return nil }
		if c.turn != nil {
			if again := c.turn.park(); more {
				resume = again
			}
		}
		err := c.writeBy(last)
		if err == nil && send() != nil {
			err = outlet.ErrSlow
		}
		if err == nil {
			err = c.writeBy(time.Time{})
		}
		gone = err != nil
		return errors.Join(err, resume())
	}})
	err := s.oneStack(c, i, m, p)
	if err == nil {
		err = p.End()
	}
	if err == nil || gone || ctx.Err() != nil {
		return err
	}
	why := c.reason(err)
	return p.Fail(&protocol.Status{Code: why.code, Reason: why.reason, After: why.after()})
}

// oneStack answers one raw stack into parts.
func (s *Server) oneStack(c *call, i uint64, m protocol.Message, p protocol.Parts) error {
	if err := c.enter(4 * int64(m.Len())); err != nil {
		return err
	}
	said, err := m.Stack()
	if err != nil {
		return failed(http.StatusBadRequest, "stacks[%d]: %v", i, err)
	}
	if !slices.Contains([]string{"", "records", "text", "both"}, said.Output) {
		return failed(http.StatusBadRequest, "stacks[%d]: output: want records, text or both", i)
	}
	p.Forms(said.Output != "text", said.Output == "text" || said.Output == "both")
	w, err := s.newWork(c, int(i), &rawStack{App: said.App, Build: said.Build, Platform: said.Platform, Frame0: said.Frame0, Artifacts: said.Artifacts,
		Reading: said.Reading, Dart: said.Dart}, len(said.Text), func() io.Reader { return bytes.NewReader(said.Text) })
	if err != nil {
		return err
	}
	if s.mayExceed(len(said.Text)) {
		if _, err := w.countFrames(0); err != nil {
			return err
		}
	}
	return w.run(p.Add)
}
