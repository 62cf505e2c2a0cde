// Package connections bounds the connections that a server holds.
package connections

import (
	"crypto/tls"
	"net"
	"net/http"
	"net/netip"
	"sync"
)

// Most is how many connections a server of symlake holds: each has buffers and headers that are no request's yet.
const Most = 512

// Bound keeps the number of connections bounded. When there are too many, the address that has the most loses one:
// the oldest that waits for a request, else the oldest of all. Safe for concurrent use.
type Bound struct {
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

// New makes room for so many connections.
func New(most int) *Bound {
	return &Bound{most: most, all: map[net.Conn]*connection{}, count: map[string]int{}}
}

// State is for http.Server.ConnState.
func (s *Bound) State(c net.Conn, state http.ConnState) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch state {
	case http.StateNew:
		s.turn++
		address := addressOf(c.RemoteAddr().String())
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

// addressOf is the IP of ADDRESS:PORT, without its zone.
func addressOf(address string) string {
	p, err := netip.ParseAddrPort(address)
	if err != nil {
		return ""
	}
	return p.Addr().Unmap().WithZone("").String()
}

func (s *Bound) forget(c net.Conn) {
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
func (s *Bound) victim() net.Conn {
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
