package serve

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"mime"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/symlake/symlake/formats/report"
	"github.com/symlake/symlake/formats/room"
	"github.com/symlake/symlake/formats/symbol"
	"github.com/symlake/symlake/jobs/serve/fair"
	"github.com/symlake/symlake/jobs/serve/intake"
	"github.com/symlake/symlake/jobs/serve/outlet"
	"github.com/symlake/symlake/jobs/serve/protocol"
	"github.com/symlake/symlake/jobs/wire"
)

// fail is an answer other than 200.
type fail struct {
	code   int
	reason string
}

func (f *fail) Error() string { return f.reason }

func failed(code int, format string, args ...any) error {
	return &fail{code, fmt.Sprintf(format, args...)}
}

// after is the seconds after which asking again can help; 0: it cannot.
func (f *fail) after() int {
	if f.code == http.StatusServiceUnavailable || f.code == http.StatusTooManyRequests {
		return 1
	}
	return 0
}

// call is one request on its way.
type call struct {
	http.ResponseWriter
	s      *Server
	r      *http.Request
	ctx    context.Context // of the turn, once it has come
	limits *Limits
	status int
	bytes  int64
	body   *intake.Body
	turn   *turn
	out    *outlet.Answer
	cut    string // why a streamed answer ended early
	rpc    bool   // errors go in the form of its protocol
	said   int    // the status of an error that was sent in the form of its protocol

	// For log and metrics.
	caller    string
	shared    string // the party that answers for it
	stacks    int
	frames    int
	artifacts []symbol.ID // the first few
	more      int         // artifacts that are not listed
}

// WriteHeader notes the status.
func (c *call) WriteHeader(code int) {
	if c.status == 0 {
		c.status = code
	}
	c.ResponseWriter.WriteHeader(code)
}

// Write counts the sent bytes.
func (c *call) Write(b []byte) (int, error) {
	if c.status == 0 {
		c.status = http.StatusOK
	}
	n, err := c.ResponseWriter.Write(b)
	c.bytes += int64(n)
	return n, err
}

// Flush sends what waits, as package connect wants it.
func (c *call) Flush() { http.NewResponseController(c.ResponseWriter).Flush() }

// Unwrap is for http.ResponseController.
func (c *call) Unwrap() http.ResponseWriter { return c.ResponseWriter }

// used notes an artifact that was asked for.
func (c *call) used(id symbol.ID) {
	const listed = 16
	if slices.Contains(c.artifacts, id) {
		return
	}
	if len(c.artifacts) == listed {
		c.more++
		return
	}
	c.artifacts = append(c.artifacts, id)
}

// text reads the request's body whole. No slot is held meanwhile.
func (c *call) text() ([]byte, error) {
	ctx, cancel := context.WithTimeout(c.r.Context(), c.limits.Time)
	defer cancel()
	body, err := c.s.intake.Read(ctx, c.shared, c, c.r)
	if err != nil {
		return nil, err
	}
	c.body = body
	return body.Text, nil
}

// enter waits for the call's turn to work. bytes is about the memory of the parsed form, and stays taken.
func (c *call) enter(bytes int64) (err error) {
	if c.turn, err = c.s.gate.enter(c.r.Context(), c.shared, bytes, c.limits.Time); err == nil {
		c.ctx = room.With(c.turn.ctx, c.turn.take)
	}
	return err
}

// answer begins an answer of that kind.
func (c *call) answer(kind string) *outlet.Answer { return c.answerNoted(kind, "") }

// answerNoted begins an answer that goes with a note.
func (c *call) answerNoted(kind, note string) *outlet.Answer {
	c.out = outlet.New(c, kind, outlet.Options{Note: note, Limit: c.limits.AnswerBytes, Window: rateWindow, Last: c.limits.last(),
		Head: c.r.Method == http.MethodHead, Park: c.turn.park})
	return c.out
}

// finish ends an answer of JSON. An error that comes too late for a status ends the object well-formed, with the reason.
func (c *call) finish(j *wire.JSON, err error) error {
	if err == nil {
		err = j.Err()
	}
	if err == nil {
		c.out.Write([]byte{'\n'})
		return c.out.Finish()
	}
	if c.out.Begun() {
		why := errors.New(c.reason(err).reason)
		c.out.Fail(j.Closing(why), why)
	}
	return err
}

// done is the error of the call's turn, or of its context. Answers that were given under way may be the end's.
func (c *call) done() error {
	if c.turn.err != nil {
		return c.turn.err
	}
	return c.ctx.Err()
}

// close gives back what the call holds. It may be called again.
func (c *call) close() {
	if c.turn != nil {
		c.turn.leave()
		c.turn = nil
	}
	if c.body != nil {
		c.body.Close()
		c.body = nil
	}
}

// reason puts an error into words for the caller.
func (c *call) reason(err error) *fail {
	var f *fail
	if c.turn != nil && c.turn.err != nil {
		err = c.turn.err
	}
	switch {
	case errors.As(err, &f):
		return f
	case errors.As(err, new(memoryError)), errors.Is(err, outlet.ErrLimit), errors.Is(err, intake.ErrRatio), errors.Is(err, intake.ErrWindow), errors.Is(err, report.ErrExpression):
		return &fail{http.StatusRequestEntityTooLarge, err.Error()}
	case errors.Is(err, intake.ErrTooLarge):
		return &fail{http.StatusRequestEntityTooLarge, fmt.Sprintf("the body is larger than %d bytes", c.limits.BodyBytes)}
	case errors.Is(err, intake.ErrEncoding):
		return &fail{http.StatusUnsupportedMediaType, err.Error()}
	case errors.Is(err, intake.ErrEnded):
		return &fail{http.StatusServiceUnavailable, err.Error()}
	case errors.Is(err, intake.ErrSlow), errors.Is(err, outlet.ErrSlow), errors.Is(err, intake.ErrIdle):
		return &fail{http.StatusRequestTimeout, err.Error()}
	case errors.Is(err, intake.ErrBroken):
		return &fail{http.StatusBadRequest, err.Error()}
	case errors.Is(err, fair.ErrShare):
		return &fail{http.StatusTooManyRequests, "your other requests hold all that you may have at once"}
	case errors.Is(err, fair.ErrFull):
		return &fail{http.StatusServiceUnavailable, "too many requests at once"}
	case errors.Is(err, errTime), c.turn != nil && errors.Is(context.Cause(c.turn.ctx), errTime), errors.Is(err, context.DeadlineExceeded):
		return &fail{http.StatusServiceUnavailable, "no answer within " + c.limits.Time.String()}
	case errors.Is(err, context.Canceled): // the caller is gone
		return &fail{499, "the caller gave up"}
	}
	return &fail{http.StatusServiceUnavailable, "the store does not answer"}
}

// refuse answers with an error, unless an answer has begun. The call gives back what it holds before: net/http may wait
// for the rest of the caller's body.
func (c *call) refuse(err error) {
	f := c.reason(err)
	c.close()
	if c.status != 0 {
		c.cut = f.reason
		return
	}
	if f.code == http.StatusRequestTimeout || f.code == http.StatusHTTPVersionNotSupported {
		c.Header().Set("Connection", "close")
	}
	if c.rpc && c.s.o.RPC != nil && c.s.o.RPC.Refuse(c, c.r, c.fault(f)) {
		return
	}
	if after := f.after(); after > 0 {
		c.Header().Set("Retry-After", strconv.Itoa(after))
	}
	c.json(f.code, map[string]string{"error": f.reason})
}

// fault returns the error that ends a call of a protocol, and notes it.
func (c *call) fault(f *fail) *protocol.Status {
	c.said = f.code
	return &protocol.Status{Code: f.code, Reason: f.reason, After: f.after()}
}

// mediaType returns the media type of the body, "" if the header is absent.
func (c *call) mediaType() string {
	t, _, err := mime.ParseMediaType(c.r.Header.Get("Content-Type"))
	if err != nil {
		return strings.TrimSpace(strings.ToLower(c.r.Header.Get("Content-Type")))
	}
	return t
}

// json answers with a small value.
func (c *call) json(code int, v any) {
	var text bytes.Buffer
	enc := json.NewEncoder(&text)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		panic(fmt.Sprintf("encode an answer: %v", err))
	}
	c.send(code, "application/json", text.Bytes())
}

// send answers with a small body. An error of the connection is the caller's affair.
func (c *call) send(code int, kind string, body []byte) {
	h := c.Header()
	h.Set("Content-Type", kind)
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Cache-Control", "no-store")
	c.WriteHeader(code)
	if c.r.Method != http.MethodHead {
		c.Write(body)
	}
}
