package namenode

import (
	"bufio"
	"context"
	"encoding/binary"
	"fmt"
	"io"
	"net"
	"slices"
	"time"

	"github.com/symlake/symlake/sinks/hbase/internal/sasl"
	"github.com/symlake/symlake/sinks/hbase/security"
)

// link is one connection to one NameNode, logged in.
type link struct {
	nc     net.Conn
	in     *bufio.Reader
	client []byte         // identity
	m      sasl.Mechanism // nil unless it protects what follows
	proven bool           // the login proved the client's identity
	text   []byte         // of the pieces that were opened
}

// open connects to a NameNode and logs in.
func (c *Conn) open(ctx context.Context, address string) (*link, error) {
	dialer := net.Dialer{Timeout: dialTime}
	nc, err := dialer.DialContext(ctx, "tcp", address)
	if err != nil {
		return nil, err
	}
	if err := nc.SetDeadline(time.Now().Add(loginTime)); err != nil {
		nc.Close()
		return nil, err
	}
	stop := context.AfterFunc(ctx, func() { nc.Close() })
	defer stop()
	l := &link{nc: nc, in: bufio.NewReaderSize(nc, 64<<10), client: c.client}
	user, err := l.login(ctx, address, &c.o)
	if err == nil {
		err = l.send(greeting(c.client, c.o.Protocol, user))
	}
	if err != nil {
		nc.Close()
		return nil, err
	}
	return l, nil
}

// login proves the client's identity. The connection still has to send user.
func (l *link) login(ctx context.Context, address string, o *Options) (user string, err error) {
	hello := []byte{'h', 'r', 'p', 'c', rpcVersion, 0, authNone}
	if o.Login == nil {
		_, err := l.nc.Write(hello)
		return o.User, err
	}
	hello[6] = authSASL
	if _, err := l.nc.Write(l.saslFrame(hello, &saslMessage{state: saslNegotiate})); err != nil {
		return "", err
	}
	offer, err := l.sasl(address)
	if err != nil {
		return "", err
	}
	simple := slices.IndexFunc(offer.auths, func(a Auth) bool { return a.Method == "SIMPLE" })
	kerberos := slices.ContainsFunc(offer.auths, func(a Auth) bool { return a.Method == "KERBEROS" })
	switch {
	case offer.state == saslSuccess, offer.state == saslNegotiate && simple >= 0 && !kerberos: // no security
		if !o.Fallback {
			return "", security.Refused(fmt.Errorf("NameNode %s knows no Kerberos and wants to go on in the clear: set hbase.security: simple if that is right, or hbase.allow_insecure_fallback", address))
		}
		if offer.state == saslNegotiate { // the NameNode does not answer to this
			_, err = l.nc.Write(l.saslFrame(nil, &saslMessage{state: saslInitiate, auths: offer.auths[simple : simple+1]}))
		}
		return o.User, err
	case offer.state == saslNegotiate:
	default:
		return "", security.Refused(fmt.Errorf("NameNode %s strays from the login (state %d)", address, offer.state))
	}
	id, err := o.Login(ctx, address, offer.auths)
	if err != nil {
		return "", err
	}
	if err := l.prove(address, id, offer.auths); err != nil {
		return "", err
	}
	l.proven = true
	if id.Mechanism.Layer() > sasl.Authentication {
		l.m = id.Mechanism
	}
	return id.User, nil
}

// prove goes through the mechanism's steps.
func (l *link) prove(address string, id Identity, auths []Auth) error {
	at := slices.IndexFunc(auths, func(a Auth) bool { return a.Method == id.Method })
	if at < 0 {
		return security.Refused(fmt.Errorf("NameNode %s does not offer %s", address, id.Method))
	}
	auth := auths[at]
	challenge := auth.Challenge
	state := uint64(saslInitiate)
	if challenge != nil { // the server speaks first: the client's first word is empty, and not sent
		if _, _, err := id.Mechanism.Step(nil); err != nil {
			return security.Refused(fmt.Errorf("NameNode %s: %w", address, err))
		}
	}
	for over := false; ; {
		token, done, err := id.Mechanism.Step(challenge)
		if err != nil {
			return security.Refused(fmt.Errorf("NameNode %s: %w", address, err))
		}
		if over { // the server's last word was its proof
			if !done {
				return security.Refused(fmt.Errorf("NameNode %s ends the login too early", address))
			}
			return nil
		}
		if token == nil {
			token = []byte{}
		}
		m := &saslMessage{state: state, token: token}
		if state == saslInitiate {
			m.auths = []Auth{auth}
		}
		if _, err := l.nc.Write(l.saslFrame(nil, m)); err != nil {
			return err
		}
		state = saslResponse
		next, err := l.sasl(address)
		if err != nil {
			return err
		}
		switch challenge = next.token; next.state {
		case saslSuccess:
			if done {
				return nil
			}
			over = true
		case saslChallenge:
			if done {
				return security.Refused(fmt.Errorf("NameNode %s goes on with a login that is over", address))
			}
		default:
			return security.Refused(fmt.Errorf("NameNode %s strays from the login (state %d)", address, next.state))
		}
	}
}

func (l *link) saslFrame(dst []byte, m *saslMessage) []byte {
	return appendFrame(dst, requestHeader(saslCall, l.client), m.append(nil))
}

// sasl reads the NameNode's step of a login.
func (l *link) sasl(address string) (*saslMessage, error) {
	frame, err := readFrame(l.in)
	if err != nil {
		return nil, err
	}
	a, err := parseAnswer(frame)
	if err != nil {
		return nil, err
	}
	if a.failed {
		return nil, refused(address, &a.Exception)
	}
	if a.call != saslCall {
		return nil, errJunk
	}
	return parseSASL(a.body)
}

// send sends a frame, protected as the login says.
func (l *link) send(frame []byte) error {
	if l.m == nil {
		_, err := l.nc.Write(frame)
		return err
	}
	var out []byte
	for some := range slices.Chunk(frame, max(l.m.Limit(), 1)) {
		token, err := l.m.Wrap(nil, some)
		if err != nil {
			return err
		}
		out = l.saslFrame(out, &saslMessage{state: saslWrap, token: token})
	}
	_, err := l.nc.Write(out)
	return err
}

// receive reads a frame without its length, and takes the protection off.
func (l *link) receive() ([]byte, error) {
	if l.m == nil {
		return readFrame(l.in)
	}
	for {
		if len(l.text) >= 4 {
			n := binary.BigEndian.Uint32(l.text)
			if n > maxFrame {
				return nil, fmt.Errorf("%w (a frame of %d bytes)", errJunk, n)
			}
			if len(l.text)-4 >= int(n) {
				frame := l.text[4 : 4+n]
				l.text = l.text[4+n:]
				return frame, nil
			}
		}
		frame, err := readFrame(l.in)
		if err != nil {
			return nil, err
		}
		a, err := parseAnswer(frame)
		if err != nil {
			return nil, err
		}
		if a.failed || a.call != saslCall { // nothing but an end of the connection comes bare
			return nil, fmt.Errorf("%w: %w", io.ErrUnexpectedEOF, sasl.ErrTampered)
		}
		m, err := parseSASL(a.body)
		if err != nil {
			return nil, err
		}
		if m.state != saslWrap {
			return nil, sasl.ErrTampered
		}
		piece, err := l.m.Unwrap(m.token)
		if err != nil {
			return nil, err
		}
		if len(l.text) == 0 {
			l.text = piece
		} else {
			l.text = append(l.text, piece...)
		}
	}
}
