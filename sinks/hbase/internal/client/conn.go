package client

import (
	"bufio"
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"github.com/symlake/symlake/sinks/hbase/internal/login"
)

const (
	// maxFrame bounds an answer. Servers stop a scan's page at 100 MiB.
	maxFrame = 256 << 20
	// frameStep is how much of an answer is allocated before its bytes are there.
	frameStep = 1 << 20
	// writeTimeout is how long a server may take no byte at all.
	writeTimeout = 30 * time.Second
	// queuedCalls may wait for a connection's writer; then callers wait.
	queuedCalls = 256
	// readBuffer holds some answers of one block each, which then come with one read.
	readBuffer = 128 << 10
	codec      = "org.apache.hadoop.hbase.codec.KeyValueCodec"
	// connectionCall is the call id of answers that concern the whole connection.
	connectionCall = 1<<32 - 1
)

// call is one request on its way. done gets it when answered or failed, once.
type call struct {
	method  string
	param   message
	cells   []byte // cell block, or nil
	timeout time.Duration
	tag     int // the caller's

	id     uint32
	answer answer
	err    error
	done   chan<- *call
}

// answer is what came back: the message and the cell block that follows it.
type answer struct {
	message []byte
	cells   []byte
}

// conn is a connection to one service of one server. Safe for concurrent use.
type conn struct {
	address string
	nc      net.Conn
	writes  chan *call
	dead    chan struct{} // closed when it broke, err is set before
	heard   *atomic.Int64 // when bytes last came, nanoseconds since 1970
	session *login.Session

	mu    sync.Mutex
	calls map[uint32]*call
	next  uint32
	err   error
}

// connect sends the connection header; servers answer it only with complaints.
func connect(s *login.Session, heard *atomic.Int64, address, service string) (*conn, error) {
	c := &conn{address: address, nc: s.Conn, session: s, heard: heard, writes: make(chan *call, queuedCalls), dead: make(chan struct{}), calls: make(map[uint32]*call)}
	heard.Store(time.Now().UnixNano())
	// Version 2.5 in words: without it servers take the client for one before 1.0 and answer some calls in other forms.
	version := message(nil).text(1, "2.5.0").text(2, "").text(3, "").text(4, "").text(5, "").text(6, "").number(7, 2).number(8, 5)
	header := message(nil)
	if s.User != "" { // a name beside a proof would ask to act for somebody else
		header = header.bytes(1, message(nil).text(1, s.User))
	}
	header = header.text(2, service).text(3, codec).bytes(5, version)
	hello := binary.BigEndian.AppendUint32(s.Hello, uint32(len(header)))
	if err := c.nc.SetWriteDeadline(time.Now().Add(writeTimeout)); err != nil {
		return nil, err
	}
	if _, err := c.nc.Write(append(hello, header...)); err != nil {
		return nil, err
	}
	go c.write()
	go c.read()
	return c, nil
}

// send queues a call. The call comes back on done once, with an answer or an error, unless forget takes it.
func (c *conn) send(ctx context.Context, k *call) error {
	c.mu.Lock()
	if c.err != nil {
		c.mu.Unlock()
		return c.err
	}
	c.next = (c.next + 1) & (1<<31 - 1)
	k.id = c.next
	c.calls[k.id] = k
	c.mu.Unlock()
	select {
	case c.writes <- k:
		return nil
	case <-c.dead: // k was failed with the others
		return nil
	case <-ctx.Done():
		if c.forget(k) {
			return ctx.Err()
		}
		return nil
	}
}

// forget gives a call up; false if it is done already.
func (c *conn) forget(k *call) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.calls[k.id] != k {
		return false
	}
	delete(c.calls, k.id)
	return true
}

// take removes an answered call.
func (c *conn) take(id uint32) *call {
	c.mu.Lock()
	defer c.mu.Unlock()
	k := c.calls[id]
	delete(c.calls, id)
	return k
}

// fail breaks the connection and every call on it.
func (c *conn) fail(err error) {
	c.mu.Lock()
	if c.err != nil {
		c.mu.Unlock()
		return
	}
	c.err = &lostError{c.address, err}
	calls := c.calls
	c.calls = nil
	close(c.dead)
	c.mu.Unlock()
	c.nc.Close()
	for _, k := range calls {
		k.err = c.err
		k.done <- k
	}
}

// quiet: not one byte came for that long.
func (c *conn) quiet(d time.Duration) bool {
	return time.Since(time.Unix(0, c.heard.Load())) >= d
}

// write sends queued calls, all of them in one go.
func (c *conn) write() {
	var heads []byte
	var out net.Buffers
	for {
		select {
		case <-c.dead:
			return
		case k := <-c.writes:
			runtime.Gosched() // callers that are about to send join this write
			heads, out = heads[:0], out[:0]
			for n := 0; k != nil; n++ {
				heads, out = k.appendTo(heads, out)
				k = nil
				if n < queuedCalls {
					select {
					case k = <-c.writes:
					default:
					}
				}
			}
		}
		// A deadline of the connection's own: a caller's would break it for all.
		err := c.nc.SetWriteDeadline(time.Now().Add(writeTimeout))
		if err == nil {
			err = c.session.WriteBuffers(out)
		}
		if err != nil {
			c.fail(err)
			return
		}
	}
}

// appendTo appends the call's frame. Small parts are copied to heads, which may move: what
// out refers to of it stays as it is.
func (k *call) appendTo(heads []byte, out net.Buffers) ([]byte, net.Buffers) {
	header := make(message, 0, 64).number(1, uint64(k.id)).text(3, k.method).flag(4, true)
	if k.cells != nil {
		header = header.bytes(5, message(nil).number(1, uint64(len(k.cells))))
	}
	if ms := k.timeout.Milliseconds(); ms > 0 {
		header = header.number(7, uint64(ms))
	}
	start := len(heads)
	heads = append(heads, 0, 0, 0, 0)
	heads = delimited(heads, header)
	heads = delimited(heads, k.param)
	binary.BigEndian.PutUint32(heads[start:], uint32(len(heads)-start-4+len(k.cells)))
	out = append(out, heads[start:])
	if len(k.cells) > 0 {
		out = append(out, k.cells)
	}
	return heads, out
}

// read hands answers to their calls until the connection breaks.
func (c *conn) read() {
	in := bufio.NewReaderSize(c.nc, readBuffer)
	for first := true; ; first = false {
		frame, err := readFrame(in, first)
		if err == nil {
			err = c.deliver(frame)
		}
		if err != nil {
			c.fail(err)
			return
		}
	}
}

func readFrame(in *bufio.Reader, first bool) ([]byte, error) {
	var head [4]byte
	if _, err := io.ReadFull(in, head[:]); err != nil {
		return nil, err
	}
	size := binary.BigEndian.Uint32(head[:])
	if first && size > maxFrame {
		return nil, stranger(in, head[:])
	}
	if size > maxFrame {
		return nil, fmt.Errorf("%w: of %d bytes", errMalformed, size)
	}
	if int(size) <= in.Size() {
		b, err := in.Peek(int(size))
		if err != nil {
			return nil, unexpected(err)
		}
		frame := append([]byte(nil), b...) // unlike make, it clears nothing
		_, err = in.Discard(len(frame))
		return frame, err
	}
	if size <= frameStep {
		frame := make([]byte, size)
		_, err := io.ReadFull(in, frame)
		return frame, unexpected(err)
	}
	var b bytes.Buffer
	b.Grow(frameStep)
	_, err := io.CopyN(&b, in, int64(size))
	return b.Bytes(), unexpected(err)
}

// unexpected makes an end within a frame an error of its own.
func unexpected(err error) error {
	if err == io.EOF {
		return io.ErrUnexpectedEOF
	}
	return err
}

// deliver finds the call of an answer.
func (c *conn) deliver(frame []byte) error {
	header, rest, err := undelimit(frame)
	if err != nil {
		return err
	}
	id, cells := uint64(0), uint64(0)
	var failed *ServerError
	for f := range fields(header, &err) {
		switch f.id {
		case 1:
			id = f.number & (1<<32 - 1) // -1 comes as 64 bits
		case 2:
			failed = exception(f.bytes, &err)
		case 3:
			for g := range fields(f.bytes, &err) {
				if g.id == 1 {
					cells = g.number
				}
			}
		}
	}
	if err != nil {
		return err
	}
	if id == connectionCall {
		if failed == nil {
			return fmt.Errorf("%w: to no call", errMalformed)
		}
		if failed.Class == "security.AccessDeniedException" {
			return c.session.Denied(failed)
		}
		return failed
	}
	k := c.take(uint32(id))
	if k == nil {
		return nil // given up meanwhile
	}
	if failed != nil {
		k.err = failed
	} else {
		k.answer, k.err = split(rest, cells)
	}
	err = k.err
	k.done <- k
	if errors.Is(err, errMalformed) {
		return err
	}
	return nil
}

// split parts what follows the header.
func split(b []byte, cells uint64) (answer, error) {
	m, rest, err := undelimit(b)
	if err != nil {
		return answer{}, err
	}
	if uint64(len(rest)) != cells {
		return answer{}, fmt.Errorf("%w: %d bytes of cells, %d announced", errMalformed, len(rest), cells)
	}
	return answer{m, rest}, nil
}

func undelimit(b []byte) (m, rest []byte, err error) {
	size, n := binary.Uvarint(b)
	if n <= 0 || size > uint64(len(b)-n) {
		return nil, nil, fmt.Errorf("%w: message longer than its frame", errMalformed)
	}
	return b[n : n+int(size)], b[n+int(size):], nil
}

// exception reads an ExceptionResponse.
func exception(b []byte, err *error) *ServerError {
	var class, trace, host string
	port, final := uint64(0), false
	for f := range fields(b, err) {
		switch f.id {
		case 1:
			class = string(f.bytes)
		case 2:
			trace = string(f.bytes)
		case 3:
			host = string(f.bytes)
		case 4:
			port = f.number
		case 5:
			final = f.number != 0
		}
	}
	e := serverError(class, trace)
	e.final = final
	if host != "" && port > 0 && port < 1<<16 {
		e.movedTo = net.JoinHostPort(host, fmt.Sprint(port))
	}
	return e
}
