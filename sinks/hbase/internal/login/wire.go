package login

import (
	"net"
	"sync/atomic"
	"time"

	"github.com/symlake/symlake/sinks/hbase/internal/sasl"
)

// keepJoined is how large a buffer stays between writes, in bytes.
const keepJoined = 256 << 10

// heard is a connection below all protection.
type heard struct {
	net.Conn
	at *atomic.Int64
}

// Heard notes in at, in nanoseconds since 1970, when bytes came over nc. It belongs below all protection: a long answer
// takes a while until its checksum is known.
func Heard(nc net.Conn, at *atomic.Int64) net.Conn { return &heard{nc, at} }

func (c *heard) Read(p []byte) (int, error) {
	n, err := c.Conn.Read(p)
	if n > 0 {
		c.at.Store(time.Now().UnixNano())
	}
	return n, err
}

// WriteBuffers sends list in as few pieces as the connection allows. It may change list, not the bytes. One goroutine
// may write.
func (s *Session) WriteBuffers(list net.Buffers) error {
	var err error
	switch nc := s.Conn.(type) {
	case *heard:
		_, err = list.WriteTo(nc.Conn)
	case *sasl.Conn:
		_, err = nc.WriteBuffers(list)
	default: // TLS: a record each write
		s.joined = s.joined[:0]
		for _, b := range list {
			s.joined = append(s.joined, b...)
		}
		if _, err = nc.Write(s.joined); cap(s.joined) > keepJoined {
			s.joined = nil
		}
	}
	return err
}
