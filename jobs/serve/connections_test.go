package serve

import (
	"net"
	"net/http"
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
	s := NewConnections(4)
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
