package term

import (
	"context"
	"errors"
	"io"
	"os"
)

// errSignal: SIGINT or SIGTERM came while a command waited for its input.
var errSignal = errors.New("ended by a signal while it waited for input")

// inputBytes are read at a time.
const inputBytes = 64 << 10

// input is a reader. Its Read ends with errSignal as soon as ctx does. A read of a terminal or a pipe cannot be taken
// back, so a goroutine reads, and is left behind then. One goroutine at a time calls Read.
type input struct {
	ctx   context.Context
	from  io.Reader
	ask   chan struct{}
	got   chan chunk
	rest  []byte // of the last chunk
	ended error
}

// chunk is what one read gave.
type chunk struct {
	bytes []byte
	err   error
}

// NewInput returns a reader of from that ends with ctx.
func NewInput(ctx context.Context, from io.Reader) *input {
	return &input{ctx: ctx, from: from}
}

func (i *input) inner() any { return i.from }

// Read implements io.Reader.
func (i *input) Read(b []byte) (int, error) {
	if i.ctx.Err() != nil {
		return 0, errSignal
	}
	if len(i.rest) == 0 && i.ended == nil {
		if i.ask == nil {
			i.ask, i.got = make(chan struct{}, 1), make(chan chunk, 1)
			go i.pump()
		}
		i.ask <- struct{}{}
		select {
		case c := <-i.got:
			i.rest, i.ended = c.bytes, c.err
		case <-i.ctx.Done():
			i.ended = errSignal
		}
	}
	if len(i.rest) == 0 {
		return 0, i.ended
	}
	n := copy(b, i.rest)
	i.rest = i.rest[n:]
	return n, nil
}

// pump reads once whenever it is asked. The reader is done with a chunk before it asks again.
func (i *input) pump() {
	buf := make([]byte, inputBytes)
	for range i.ask {
		n, err := i.from.Read(buf)
		i.got <- chunk{buf[:n], err}
		if err != nil {
			return
		}
	}
}

// Waits reports whether a read of r may wait for somebody to write: r is no regular file.
func Waits(r io.Reader) bool {
	f, ok := r.(*os.File)
	if !ok {
		return true
	}
	info, err := f.Stat()
	return err != nil || !info.Mode().IsRegular()
}

// OpenInput opens a file that a command reads to its end. A named pipe may wait for its writer: that ends with errSignal
// when a signal comes.
func OpenInput(ctx context.Context, path string) (r io.Reader, closeFile func() error, err error) {
	type opened struct {
		f   *os.File
		err error
	}
	done := make(chan opened, 1)
	go func() {
		f, err := os.Open(path)
		done <- opened{f, err}
	}()
	select {
	case o := <-done:
		switch {
		case o.err != nil:
			return nil, nil, o.err
		case Waits(o.f):
			return NewInput(ctx, o.f), o.f.Close, nil
		}
		return o.f, o.f.Close, nil
	case <-ctx.Done():
		return nil, nil, errSignal
	}
}
