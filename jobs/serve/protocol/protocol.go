// Package protocol is what the server asks of a protocol beside plain HTTP. Package rpc speaks gRPC, gRPC-Web and Connect
// in these terms. The server does not import it, so that a program without it is 2 MB smaller.
package protocol

import (
	"context"
	"errors"
	"net/http"

	"github.com/symlake/symlake/formats/report"
	"github.com/symlake/symlake/formats/symbol"
	"github.com/symlake/symlake/jobs/wire"
	"github.com/symlake/symlake/sinks/lookup"
)

// The paths of the calls.
const (
	SymbolicatePath = "/symlake.v1.SymbolService/Symbolicate"
	LookupPath      = "/symlake.v1.SymbolService/Lookup"
)

// ErrParts refuses a message with more parts than it may have.
var ErrParts = errors.New("too many parts")

// ErrSize refuses a message that inflates to more than it may have.
var ErrSize = errors.New("the message is too large")

// Speaker speaks protocols. Safe for concurrent use.
type Speaker interface {
	// Symbolicate calls answer for a stream of raw stacks.
	Symbolicate(w http.ResponseWriter, r *http.Request, answer func(context.Context, Stream) error)
	// Lookup calls answer for one look-up, and sends what it added.
	Lookup(w http.ResponseWriter, r *http.Request, answer func(context.Context, Message, Answers) error)
	// Refuse answers a request with an error in the form of its protocol. It reports false, and does nothing, if
	// the request speaks none.
	Refuse(w http.ResponseWriter, r *http.Request, s *Status) bool
}

// Status is an error that ends a call.
type Status struct {
	Code   int // of HTTP
	Reason string
	After  int // seconds after which asking again can help; 0: it cannot
}

func (s *Status) Error() string { return s.Reason }

// Message is a message as it came, not decoded yet.
type Message interface {
	// Len returns its length in bytes.
	Len() int
	// Stack decodes a raw stack. The error names the mistake in the message.
	Stack() (*Stack, error)
	// Lookup decodes a look-up of about most positions; ErrParts: it has more.
	Lookup(most int) (*Lookup, error)
}

// Stack is a raw stack and what its text does not say.
type Stack struct {
	Text                         []byte
	App, Build, Platform, Frame0 string
	Artifacts                    []string
	Output                       string
	wire.Reading
	wire.Dart
}

// Lookup is positions that are asked for.
type Lookup struct {
	Artifacts, Positions []string // beside each other
	App, Arch            string
	Context              uint32
}

// Stream is a stream of raw stacks and their answers. One goroutine.
type Stream interface {
	// Receive returns the next raw stack; io.EOF: the caller has no more; ErrSize: it is too large.
	Receive() (Message, error)
	// Answer begins the answer to one of them.
	Answer(o Options) Parts
}

// Options of an answer to a raw stack.
type Options struct {
	Index uint64 // of the raw stack in the stream
	Limit int64  // bytes of the answer
	Err   error  // for an answer above the limit
	// Send calls send, which waits for the caller to take a part. more: another part follows.
	Send func(more bool, send func() error) error
}

// Parts is an answer on its way, in messages that callers of gRPC take by default. One goroutine.
type Parts interface {
	// Forms chooses the forms of the answer: records, text, or both.
	Forms(records, text bool)
	// Add adds the answers of one stack.
	Add(d *report.Report, answers [][]symbol.Answer) error
	// End sends the last part.
	End() error
	// Fail sends, in place of what has not gone, why the answer ends.
	Fail(s *Status) error
}

// Answers is the answers to a look-up.
type Answers interface {
	// Add adds one, with the source of its frames where there is any, and returns its size in bytes.
	Add(q *wire.Question, a *symbol.Answer, source []lookup.Excerpt) int64
}
