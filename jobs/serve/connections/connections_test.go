package connections

import (
	"crypto/tls"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"testing"
)

// conn is a connection from an address, which may be closed.
type conn struct {
	net.Conn
	from   string
	closed bool
}

func (c *conn) RemoteAddr() net.Addr { a, _ := net.ResolveTCPAddr("tcp", c.from); return a }

func (c *conn) Close() error { c.closed = true; return nil }

// When there are too many connections, the address with the most loses the oldest that waits, not one at work, and no
// other address loses any.
func TestConnections(t *testing.T) {
	s := New(4)
	open := func(from string) *conn {
		c := &conn{from: from}
		s.State(c, http.StateNew)
		return c
	}
	other := open("192.0.2.9:1")
	busy, idle, last := open("192.0.2.1:1"), open("192.0.2.1:2"), open("192.0.2.1:3")
	s.State(busy, http.StateActive)
	s.State(last, http.StateActive)
	one := open("192.0.2.1:4")
	if !idle.closed || busy.closed || last.closed || other.closed || one.closed {
		t.Errorf("busy %v, idle %v, last %v, other %v, one %v", busy.closed, idle.closed, last.closed, other.closed, one.closed)
	}
	s.State(one, http.StateActive)
	if two := open("192.0.2.8:1"); two.closed || !busy.closed || other.closed {
		t.Errorf("the newcomer %v, the oldest at work %v, the other %v", two.closed, busy.closed, other.closed)
	}
	s.State(idle, http.StateClosed)
	for c := range s.all {
		s.State(c, http.StateClosed)
	}
	if len(s.all) != 0 || len(s.count) != 0 {
		t.Errorf("%d and %d are left", len(s.all), len(s.count))
	}
}

// A TLS connection that has to go is closed below TLS: its goodbye would wait for a peer that does not read.
func TestConnectionsAbandonTLS(t *testing.T) {
	h := httptest.NewTLSServer(nil)
	defer h.Close()
	mine, peer := net.Pipe()
	below := &silent{Conn: mine}
	server := tls.Server(below, &tls.Config{Certificates: h.TLS.Certificates})
	client := tls.Client(peer, &tls.Config{InsecureSkipVerify: true})
	go func() {
		if client.Handshake() == nil {
			client.Read(make([]byte, 1)) // takes the session tickets
		}
	}()
	if err := server.Handshake(); err != nil {
		t.Fatal(err)
	}
	below.quiet = true
	s := New(1)
	s.State(server, http.StateNew)
	s.State(&conn{from: "192.0.2.1:2"}, http.StateNew)
	if _, err := mine.Read(make([]byte, 1)); below.spoke || !errors.Is(err, io.ErrClosedPipe) {
		t.Errorf("it spoke: %v, and reads %v", below.spoke, err)
	}
}

// silent notes a write after it was told to be quiet.
type silent struct {
	net.Conn
	quiet, spoke bool
}

func (s *silent) Write(b []byte) (int, error) {
	s.spoke = s.spoke || s.quiet
	return s.Conn.Write(b)
}
