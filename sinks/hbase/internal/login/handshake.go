package login

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"strings"
	"time"

	"github.com/symlake/symlake/sinks/hbase/internal/sasl"
	"github.com/symlake/symlake/sinks/hbase/security"
)

const (
	// methodSimple is HBase's byte for a name without a proof.
	methodSimple = 0x50
	// maxToken bounds a token of the handshake, in bytes. Tickets with an Active Directory's lists reach 48 KiB, and
	// servers do not send them back.
	maxToken = 64 << 10
	// maxText bounds a server's reason, in bytes.
	maxText = 16 << 10
	// toSimple is the length by which a server without security says: go on in the clear.
	toSimple = 1<<32 - 88
)

// Statuses of a server's answer.
const (
	statusSuccess = 0
	statusError   = 1
)

// Connect makes the handshake with the server at address, and takes nc over: an error closes it. user is the name
// that the client gives where nothing proves a name. ctx bounds the handshake alone.
func (l *Login) Connect(ctx context.Context, nc net.Conn, address, user string) (*Session, error) {
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		host = address
	}
	stop := context.AfterFunc(ctx, func() { _ = nc.SetDeadline(time.Unix(1, 0)) })
	s, err := l.connect(ctx, nc, address, host, user)
	if !stop() && err == nil { // the deadline is set, or will be
		err = ctx.Err()
	}
	if err != nil {
		nc.Close()
		if ctx.Err() != nil && errors.Is(err, os.ErrDeadlineExceeded) {
			err = fmt.Errorf("%s does not go on with the handshake: %w", address, ctx.Err())
		}
		return nil, err
	}
	return s, nil
}

func (l *Login) connect(ctx context.Context, nc net.Conn, address, host, user string) (*Session, error) {
	id, err := l.identity(ctx, nc, host)
	if err != nil {
		return nil, err
	}
	s := &Session{Conn: nc, server: address, id: id}
	if id.m == nil {
		s.Hello, s.User = preamble(methodSimple), user
		return s, nil
	}
	clear, err := l.handshake(nc, id, address)
	switch {
	case err != nil:
		return nil, err
	case !clear:
		s.Conn = sasl.NewConn(nc, id.m)
	case !l.o.AllowInsecureFallback || l.least > sasl.Authentication:
		return nil, security.Refused(fmt.Errorf("%s knows no Kerberos and wants to go on in the clear: set hbase.security: simple if that is right, or hbase.allow_insecure_fallback", address))
	default:
		s.User = user
	}
	return s, nil
}

// preamble opens a connection: magic, version 0, method.
func preamble(method byte) []byte { return append([]byte("HBas"), 0, method) }

// handshake goes through the mechanism's steps. With clear the server asks to go on without.
func (l *Login) handshake(nc net.Conn, id identity, address string) (clear bool, err error) {
	token, done, err := id.m.Step(nil)
	if err != nil {
		return false, security.Refused(fmt.Errorf("%s for %s: %w", id.m.Name(), address, err))
	}
	out := preamble(id.m.Method())
	for first := true; ; first = false {
		if token != nil {
			out = binary.BigEndian.AppendUint32(out, uint32(len(token)))
			if _, err := nc.Write(append(out, token...)); err != nil {
				return false, fmt.Errorf("handshake with %s: %w", address, err)
			}
			out = nil
		}
		if done {
			return false, nil
		}
		challenge, clear, err := answer(nc)
		if no := (*refusal)(nil); errors.As(err, &no) {
			return false, l.refused(no, id, address)
		}
		if errors.Is(err, errJunk) {
			return false, security.Refused(fmt.Errorf("%s: %w", address, err))
		}
		if err != nil {
			return false, fmt.Errorf("handshake with %s: %w", address, err)
		}
		if clear {
			if !first {
				return false, security.Refused(fmt.Errorf("%s asks to go on in the clear within the handshake: that is no HBase server", address))
			}
			return true, nil
		}
		if token, done, err = id.m.Step(challenge); err != nil {
			return false, security.Refused(fmt.Errorf("%s: %w", address, err))
		}
	}
}

// refusal is a server's reason to end the handshake.
type refusal struct{ class, text string }

func (r *refusal) Error() string { return r.class + ": " + r.text }

// errJunk says that the other side does not speak this handshake.
var errJunk = errors.New("its answer belongs to no handshake of HBase's: check the port, and whether the server speaks TLS")

// answer reads one answer: a status, and a token or a reason.
func answer(r io.Reader) (token []byte, clear bool, err error) {
	status, err := number(r)
	if err != nil {
		return nil, false, err
	}
	switch status {
	case statusError:
		no := &refusal{}
		if no.class, err = text(r); err == nil {
			no.text, err = text(r)
		}
		if err != nil {
			return nil, false, err
		}
		return nil, false, no
	case statusSuccess:
	default:
		return nil, false, fmt.Errorf("%w (it begins with %08x)", errJunk, status)
	}
	n, err := number(r)
	if err != nil {
		return nil, false, err
	}
	if n == toSimple {
		return nil, true, nil
	}
	if n > maxToken {
		return nil, false, fmt.Errorf("%w (a token of %d bytes)", errJunk, n)
	}
	token = make([]byte, n)
	_, err = io.ReadFull(r, token)
	return token, false, unexpected(err)
}

func number(r io.Reader) (uint32, error) {
	var b [4]byte
	if _, err := io.ReadFull(r, b[:]); err != nil {
		return 0, err // io.EOF tells a server that hangs up
	}
	return binary.BigEndian.Uint32(b[:]), nil
}

// text reads a string of Hadoop's: its length, or -1 for null, and its bytes.
func text(r io.Reader) (string, error) {
	n, err := number(r)
	if err != nil || n == 1<<32-1 {
		return "", unexpected(err)
	}
	if n > maxText {
		return "", fmt.Errorf("%w (a reason of %d bytes)", errJunk, n)
	}
	b := make([]byte, n)
	_, err = io.ReadFull(r, b)
	return strings.ToValidUTF8(string(b), "?"), unexpected(err)
}

// unexpected makes an end within an answer an error of its own.
func unexpected(err error) error {
	if err == io.EOF {
		return io.ErrUnexpectedEOF
	}
	return err
}

// refused makes a sentence of a server's reason. The client tries again with a new ticket where that may help: the
// server may have new keys.
func (l *Login) refused(no *refusal, id identity, address string) error {
	line, _, _ := strings.Cut(no.text, "\n")
	has := func(signs ...string) bool {
		for _, s := range signs {
			if strings.Contains(no.text, s) {
				return true
			}
		}
		return false
	}
	if id.token != nil {
		return refusedToken(no, id, address)
	}
	if id.ticket == nil {
		return security.Refused(fmt.Errorf("%s refuses the login as %s: %s: %s", address, id.who, no.class, line))
	}
	l.mu.Lock()
	creds := l.creds
	l.mu.Unlock()
	var err error
	switch service := id.ticket.Service; {
	case has("Clock skew"):
		return security.Refused(fmt.Errorf("%s refuses the ticket: the clocks of this machine and of the server differ too much: set them by NTP (%s)", address, line))
	case has("Request is a replay"):
		return fmt.Errorf("%s takes the login for a replay: %s", address, line)
	case no.class == "javax.security.sasl.SaslException": // servers give no more reason
		err = fmt.Errorf("%s refuses the ticket of %s for %s (%s): it has another key than the KDC, or another principal, or another time: check hbase.server_principal, the server's keytab and NTP", address, id.who, service, line)
	default:
		err = fmt.Errorf("%s refuses the ticket of %s for %s: %s: %s", address, id.who, service, no.class, line)
	}
	if creds.Doubt(id.ticket) {
		return err
	}
	return security.Refused(err)
}
