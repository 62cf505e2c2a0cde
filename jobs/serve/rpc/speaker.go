// Package rpc speaks gRPC, gRPC-Web and Connect for the server: the form of messages, answers and errors.
//
// It leaves the answers to package serve, and the framing to connect.
package rpc

import (
	"context"
	"errors"
	"math"
	"net/http"

	"connectrpc.com/connect"

	"github.com/symlake/symlake/jobs/serve/protocol"
)

// speaker has a handler a call. The function that answers a request is in its context.
type speaker struct {
	symbolicate, lookup http.Handler
	errors              *connect.ErrorWriter
}

// answering is the key of that function.
type answering struct{}

type (
	stacksAnswer = func(context.Context, protocol.Stream) error
	lookupAnswer = func(context.Context, protocol.Message, protocol.Answers) error
)

// New returns a speaker for messages of at most mostBytes, inflated. Messages that go are not compressed, as no other
// answer of the server is.
func New(mostBytes int64) protocol.Speaker {
	options := connect.WithHandlerOptions(connect.WithCodec(codec("proto")), connect.WithCodec(codec("json")),
		connect.WithReadMaxBytes(int(min(mostBytes, math.MaxInt32))), connect.WithCompressMinBytes(math.MaxInt))
	return &speaker{
		symbolicate: connect.NewBidiStreamHandler(protocol.SymbolicatePath, symbolicate, options),
		lookup:      connect.NewUnaryHandler(protocol.LookupPath, look, options),
		errors:      connect.NewErrorWriter(options),
	}
}

func symbolicate(ctx context.Context, s *connect.BidiStream[message, message]) error {
	return ended(ctx.Value(answering{}).(stacksAnswer)(ctx, &stream{s}))
}

func look(ctx context.Context, r *connect.Request[message]) (*connect.Response[message], error) {
	var out answers
	if err := ctx.Value(answering{}).(lookupAnswer)(ctx, r.Msg, &out); err != nil {
		return nil, ended(err)
	}
	return connect.NewResponse(&message{send: &out.out}), nil
}

// ended is the error of an answer in the form that connect sends.
func ended(err error) error {
	var s *protocol.Status
	if errors.As(err, &s) {
		return ending(s)
	}
	return err
}

// Symbolicate answers a stream.
func (p *speaker) Symbolicate(w http.ResponseWriter, r *http.Request, answer func(context.Context, protocol.Stream) error) {
	p.symbolicate.ServeHTTP(w, r.WithContext(context.WithValue(r.Context(), answering{}, answer)))
}

// Lookup answers a look-up.
func (p *speaker) Lookup(w http.ResponseWriter, r *http.Request, answer func(context.Context, protocol.Message, protocol.Answers) error) {
	p.lookup.ServeHTTP(w, r.WithContext(context.WithValue(r.Context(), answering{}, answer)))
}

// Refuse answers with an error.
func (p *speaker) Refuse(w http.ResponseWriter, r *http.Request, s *protocol.Status) bool {
	if !p.errors.IsSupported(r) {
		return false
	}
	p.errors.Write(w, r, ending(s)) // an error of the connection is the caller's affair
	return true
}

// stream is a stream of connect's.
type stream struct {
	s *connect.BidiStream[message, message]
}

// Receive returns the next message.
func (s *stream) Receive() (protocol.Message, error) {
	m, err := s.s.Receive()
	if connect.CodeOf(err) == connect.CodeResourceExhausted {
		return nil, protocol.ErrSize
	}
	if err != nil {
		return nil, err
	}
	return m, nil
}

// Answer begins an answer.
func (s *stream) Answer(o protocol.Options) protocol.Parts {
	p := &parts{o: o, to: s}
	p.drop()
	return p
}
