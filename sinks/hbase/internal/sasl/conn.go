package sasl

import (
	"bufio"
	"encoding/binary"
	"fmt"
	"io"
	"net"
)

const (
	readSize = 64 << 10
	// maxPiece bounds a piece of the stream. HBase's servers send an answer in one piece, however long it is, and
	// stop a scan's page at 100 MiB.
	maxPiece = 256<<20 + 1<<10
	// pieceStep is how much of a piece is allocated before its bytes are there.
	pieceStep = 1 << 20
	// keepPiece is how large a buffer stays between pieces.
	keepPiece = 256 << 10
)

// Conn protects a connection by a Mechanism after its handshake. One goroutine may write and one may read.
type Conn struct {
	net.Conn
	m   Mechanism
	in  *bufio.Reader
	buf []byte // the piece under way
	// text is what of the piece is still to be read.
	text  []byte
	out   []byte
	parts [][]byte
}

// NewConn puts m around nc. With the layer Authentication it returns nc itself.
func NewConn(nc net.Conn, m Mechanism) net.Conn {
	if m.Layer() == Authentication {
		return nc
	}
	return &Conn{Conn: nc, m: m, in: bufio.NewReaderSize(nc, readSize)}
}

// Read returns bytes of the protected stream. A token that was changed ends the stream with ErrTampered.
func (c *Conn) Read(p []byte) (int, error) {
	for len(c.text) == 0 {
		if err := c.piece(); err != nil {
			return 0, err
		}
	}
	n := copy(p, c.text)
	c.text = c.text[n:]
	return n, nil
}

// piece reads and opens the next token.
func (c *Conn) piece() error {
	var head [4]byte
	if _, err := io.ReadFull(c.in, head[:]); err != nil {
		return err
	}
	n := binary.BigEndian.Uint32(head[:])
	if n > maxPiece {
		return fmt.Errorf("%w: a piece of %d bytes", ErrTampered, n)
	}
	size := int(n)
	if cap(c.buf) > keepPiece && size <= keepPiece {
		c.buf = nil
	}
	c.buf = c.buf[:0]
	for len(c.buf) < size {
		at := len(c.buf)
		step := min(size-at, max(pieceStep, at)) // doubles, so that the copies stay few
		if cap(c.buf) < at+step {
			grown := make([]byte, at, at+step)
			copy(grown, c.buf)
			c.buf = grown
		}
		c.buf = c.buf[:at+step]
		if _, err := io.ReadFull(c.in, c.buf[at:]); err != nil {
			if err == io.EOF {
				err = io.ErrUnexpectedEOF
			}
			return err
		}
	}
	var err error
	c.text, err = c.m.Unwrap(c.buf)
	return err
}

// Write sends p, in as many tokens as the server's limit asks for.
func (c *Conn) Write(p []byte) (int, error) {
	n, err := c.WriteBuffers(net.Buffers{p})
	return int(n), err
}

// WriteBuffers sends all of list with one write to the connection below, and leaves list as it is.
func (c *Conn) WriteBuffers(list net.Buffers) (int64, error) {
	c.out = c.out[:0]
	c.parts = c.parts[:0]
	room, sent := c.m.Limit(), int64(0)
	for _, p := range list {
		sent += int64(len(p))
		for len(p) > 0 {
			n := min(room, len(p))
			c.parts = append(c.parts, p[:n])
			p, room = p[n:], room-n
			if room == 0 {
				if err := c.wrap(); err != nil {
					return 0, err
				}
				room = c.m.Limit()
			}
		}
	}
	if err := c.wrap(); err != nil {
		return 0, err
	}
	_, err := c.Conn.Write(c.out)
	if cap(c.out) > keepPiece {
		c.out = nil
	}
	if err != nil {
		return 0, err
	}
	return sent, nil
}

// wrap appends the token of c.parts, if there are any.
func (c *Conn) wrap() error {
	if len(c.parts) == 0 {
		return nil
	}
	at := len(c.out)
	out, err := c.m.Wrap(append(c.out, 0, 0, 0, 0), c.parts...)
	if err != nil {
		return err
	}
	binary.BigEndian.PutUint32(out[at:], uint32(len(out)-at-4))
	clear(c.parts)
	c.out, c.parts = out, c.parts[:0]
	return nil
}
