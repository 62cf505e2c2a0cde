package serve

import (
	"crypto/tls"
	"net"
	"net/http"
	"sync"
)

// MaxConnections bounds the connections that a server holds: each has buffers and headers that are no request's yet.
const MaxConnections = 512

// Connections keeps the number of connections bounded. When there are too many, the address that has the most loses one:
// the oldest that waits for a request, else the oldest of all. Safe for concurrent use.
type Connections struct {
	most int

	mu    sync.Mutex
	all   map[net.Conn]*connection
	count map[string]int // by address
	turn  uint64
}

type connection struct {
	address string
	turn    uint64
	idle    bool // it waits for a request, or for the rest of its headers
}

// NewConnections makes room for so many connections.
func NewConnections(most int) *Connections {
	return &Connections{most: most, all: map[net.Conn]*connection{}, count: map[string]int{}}
}

// State is for http.Server.ConnState.
func (s *Connections) State(c net.Conn, state http.ConnState) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch state {
	case http.StateNew:
		s.turn++
		address := addrOf(c.RemoteAddr().String()).String()
		s.all[c] = &connection{address: address, turn: s.turn, idle: true}
		if s.count[address]++; len(s.all) > s.most {
			if victim := s.victim(); victim != nil {
				s.forget(victim)
				abandon(victim)
			}
		}
	case http.StateActive, http.StateIdle:
		if known := s.all[c]; known != nil {
			known.idle = state == http.StateIdle
		}
	case http.StateClosed, http.StateHijacked:
		s.forget(c)
	}
}

func (s *Connections) forget(c net.Conn) {
	if known := s.all[c]; known != nil {
		delete(s.all, c)
		if s.count[known.address]--; s.count[known.address] == 0 {
			delete(s.count, known.address)
		}
	}
}

// abandon closes a connection without a word. TLS would say goodbye, and wait for a peer that does not read, while no
// other connection is accepted.
func abandon(c net.Conn) {
	if secure, ok := c.(*tls.Conn); ok {
		c = secure.NetConn()
	}
	c.Close()
}

// victim is the connection that has to go.
func (s *Connections) victim() net.Conn {
	most := 0
	for _, n := range s.count {
		most = max(most, n)
	}
	var worst net.Conn
	var is *connection
	for c, one := range s.all {
		if s.count[one.address] < most {
			continue
		}
		if is == nil || one.idle && !is.idle || one.idle == is.idle && one.turn < is.turn {
			worst, is = c, one
		}
	}
	return worst
}
