package sasl

import (
	"errors"
	"fmt"

	"github.com/symlake/symlake/sinks/hbase/internal/rfc4121"
)

// Layer is what protects a connection after its handshake. A higher layer protects more.
type Layer byte

// Layers, with the bits of RFC 4752 as values.
const (
	Authentication Layer = 1 // both sides proved their names; the stream is bare
	Integrity      Layer = 2 // the stream is checked
	Privacy        Layer = 4 // the stream is checked and encrypted
)

func (l Layer) String() string {
	switch l {
	case Authentication:
		return "authentication"
	case Integrity:
		return "integrity"
	case Privacy:
		return "privacy"
	}
	return fmt.Sprintf("layer %d", byte(l))
}

// ParseLayer reads security.Options.Protection; "" is Authentication.
func ParseLayer(s string) (Layer, error) {
	for _, l := range []Layer{Authentication, Integrity, Privacy} {
		if s == l.String() || s == "" {
			return l, nil
		}
	}
	return 0, fmt.Errorf("protection %q: it is authentication, integrity or privacy", s)
}

// Mechanism runs one handshake and protects one connection. Wrap and Unwrap may run side by side; otherwise a
// Mechanism is not safe for concurrent use.
type Mechanism interface {
	// Name is the mechanism's name in SASL.
	Name() string
	// Method is the byte of HBase's preamble: 0x51 for Kerberos, 0x52 for tokens.
	Method() byte
	// Step answers a challenge of the server; the first challenge is nil. The caller sends response, unless it is
	// nil, also when it is empty. With done the handshake is over once response was sent. An error ends the
	// handshake; no byte may be sent afterwards.
	Step(challenge []byte) (response []byte, done bool, err error)
	// Layer is what the handshake negotiated. Wrap and Unwrap are for Integrity and Privacy.
	Layer() Layer
	// Limit is how many bytes one call of Wrap may take.
	Limit() int
	// Wrap appends one token that protects parts, one after the other, to dst. It keeps none of them.
	Wrap(dst []byte, parts ...[]byte) ([]byte, error)
	// Unwrap checks a token and opens it in place: the answer is a part of token.
	Unwrap(token []byte) ([]byte, error)
}

// Reasons that callers tell apart.
var (
	// ErrTampered says that a token is not as the other side sent it, or comes out of turn.
	ErrTampered = rfc4121.ErrTampered
	// ErrProtection says that the server offers less protection than the client demands.
	ErrProtection = errors.New("the server offers less protection than hbase.protection asks for")
	// ErrServer says that the other side gave no proof of being the server.
	ErrServer = errors.New("the server did not prove its identity")
)
