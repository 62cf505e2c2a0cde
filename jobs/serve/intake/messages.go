package intake

import (
	"context"
	"encoding/binary"
	"errors"
	"io"
	"net/http"
	"os"
	"sync"
	"time"
)

// Why a stream of messages was not read on. Bodies have further reasons.
var (
	ErrIdle  = errors.New("no message came for too long")
	ErrEnded = errors.New("the server goes away: ask again")
)

// maxDeflated is the most that deflate makes of one byte.
const maxDeflated = 1032

// headBytes stand before each message: a flag and the length.
const headBytes = 5

// Messages is the body of a stream of messages as gRPC and Connect send them: before each stand a flag and its length.
// A message must come within the limits of a body. Its memory is taken when the length is known, and given back
// when the next message is read. Between messages the sender has idle time. One goroutine reads; End may come from any.
type Messages struct {
	in     *Intake
	ctx    context.Context
	caller string
	w      http.ResponseWriter
	from   io.ReadCloser
	idle   time.Duration

	head   [headBytes]byte
	passed int // bytes of head that the reader has
	left   int64
	sent   *paced
	memory Body
	err    error

	mu    sync.Mutex
	waits bool // for a message
	ended bool
}

// Messages reads the body of r. Waiting for memory ends with ctx.
func (in *Intake) Messages(ctx context.Context, caller string, w http.ResponseWriter, r *http.Request, idle time.Duration) *Messages {
	return &Messages{in: in, ctx: ctx, caller: caller, w: w, from: r.Body, idle: idle, passed: headBytes}
}

// Err returns why the messages ended, nil if the sender ended them.
func (m *Messages) Err() error {
	if m.err == io.EOF {
		return nil
	}
	return m.err
}

// Read reads some of the messages with their heads.
func (m *Messages) Read(to []byte) (n int, err error) {
	if m.err == nil && m.left == 0 && m.passed == headBytes {
		m.err = m.next()
	}
	switch {
	case m.err != nil:
		return 0, m.err
	case m.passed < headBytes:
		n = copy(to, m.head[m.passed:])
		m.passed += n
		return n, nil
	}
	n, err = m.sent.Read(to[:min(int64(len(to)), m.left)])
	m.left -= int64(n)
	switch {
	case m.left == 0: // the answer may take longer than a piece may
		m.err = m.deadline(time.Time{})
	case err == io.EOF:
		m.err = ErrBroken
	case err != nil:
		m.err = reason(err)
	}
	if n > 0 {
		return n, nil
	}
	return 0, m.err
}

// next reads the head of the next message and takes memory for it.
func (m *Messages) next() error {
	m.memory.Close()
	if err := m.first(); err != nil {
		return err
	}
	m.sent = m.in.paced(m.w, m.from)
	if _, err := io.ReadFull(m.sent, m.head[1:]); err != nil {
		return reason(err)
	}
	size := int64(binary.BigEndian.Uint32(m.head[1:]))
	if size > m.in.limits.Bytes {
		return ErrTooLarge
	}
	within, cancel := context.WithTimeout(m.ctx, m.in.limits.Time)
	defer cancel()
	if err := m.in.Hold(within, m.caller, &m.memory, m.head[0]&1 != 0, size); err != nil {
		return err
	}
	m.sent.anew()
	m.passed, m.left = 0, size
	if size == 0 {
		return m.deadline(time.Time{})
	}
	return nil
}

// first waits for the first byte of a message.
func (m *Messages) first() error {
	m.mu.Lock()
	if m.ended {
		m.mu.Unlock()
		return ErrEnded
	}
	m.waits = true
	err := m.deadline(time.Now().Add(m.idle))
	m.mu.Unlock()
	if err == nil {
		_, err = io.ReadFull(m.from, m.head[:1])
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.waits = false
	switch {
	case errors.Is(err, os.ErrDeadlineExceeded) && m.ended:
		return ErrEnded
	case errors.Is(err, os.ErrDeadlineExceeded):
		return ErrIdle
	case err != nil && err != io.EOF:
		return ErrBroken
	}
	return err
}

func (m *Messages) deadline(at time.Time) error {
	err := http.NewResponseController(m.w).SetReadDeadline(at)
	if errors.Is(err, http.ErrNotSupported) {
		return nil
	}
	return err
}

// End lets the messages end with ErrEnded as soon as the one at hand has come.
func (m *Messages) End() {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.ended = true; m.waits {
		m.deadline(time.Now().Add(-time.Second))
	}
}

// Close gives the memory of the last message back. The body stays its server's to close.
func (m *Messages) Close() error {
	m.memory.Close()
	return nil
}

// Hold takes memory for a message of so many bytes until the body is closed: for all that it inflates to, if it is
// compressed. Waiting ends with ctx.
func (in *Intake) Hold(ctx context.Context, caller string, b *Body, compressed bool, size int64) error {
	if compressed {
		size += min(size*maxDeflated, in.limits.Bytes)
	}
	pool := in.small
	if size > smallBytes {
		pool = in.large
	}
	return b.hold(ctx, pool, caller, size)
}
