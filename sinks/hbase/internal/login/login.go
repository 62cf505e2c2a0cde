package login

import (
	"context"
	"errors"
	"fmt"
	"net"
	"sync"

	"github.com/symlake/symlake/sinks/hbase/internal/krb"
	"github.com/symlake/symlake/sinks/hbase/internal/sasl"
	"github.com/symlake/symlake/sinks/hbase/internal/token"
	"github.com/symlake/symlake/sinks/hbase/security"
)

// Modes of security.Options.
const (
	modeAuto     = ""
	modeKerberos = "kerberos"
	modeSimple   = "simple"
)

// Login proves one identity to the servers of a cluster. Safe for concurrent use.
type Login struct {
	// Most is the highest layer to take; 0: the best that each server offers. Tests set it before the first Connect.
	Most sasl.Layer

	o     security.Options
	least sasl.Layer
	err   error // of the options

	mu      sync.Mutex
	creds   *krb.Credentials
	tokens  []token.Token // of HBase, as they were read last
	cluster string        // its id; "": not known
}

// New makes a Login. It reads no files; errors in o are Connect's.
func New(o security.Options) *Login {
	l := &Login{o: o}
	if l.least, l.err = sasl.ParseLayer(o.Protection); l.err != nil {
		l.err = fmt.Errorf("hbase.protection: %w", l.err)
	}
	switch o.Mode {
	case modeAuto, modeKerberos, modeSimple:
	default:
		l.err = fmt.Errorf("hbase.security: %q: it is kerberos or simple; leave it empty to go by what is there", o.Mode)
	}
	return l
}

// identity is how the client presents itself on one connection.
type identity struct {
	m      sasl.Mechanism // nil: by a name only
	who    string
	ticket *krb.Ticket // under Kerberos
	token  *token.Token
	why    error // why m is nil, where that was not asked for
}

// identity chooses a mechanism for a server: a delegation token, a ticket, or nothing but a name.
func (l *Login) identity(ctx context.Context, nc net.Conn, host string) (identity, error) {
	if l.err != nil {
		return identity{}, security.Refused(l.err)
	}
	if l.o.Mode == modeSimple {
		return identity{why: errors.New("hbase.security is simple")}, nil
	}
	if id, ok, err := l.delegated(nc); ok || err != nil {
		return id, err
	}
	creds, err := l.credentials()
	if err != nil && l.o.Mode == modeAuto && l.least <= sasl.Authentication && (errors.Is(err, krb.ErrNone) && l.o.Principal == "" || !l.asked()) {
		return identity{why: err}, nil
	}
	if err != nil {
		return identity{}, security.Refused(err)
	}
	t, err := creds.Ticket(ctx, l.o.ServerPrincipal, host)
	if err != nil {
		if e := (*krb.Error)(nil); errors.As(err, &e) && e.Final || errors.Is(err, krb.ErrNone) { // kdestroy
			return identity{}, security.Refused(err)
		}
		return identity{}, err
	}
	m := sasl.NewGSSAPI(t, l.least)
	m.Most = l.Most
	return identity{m: m, who: t.Client.String(), ticket: t}, nil
}

// asked tells whether a setting asks for Kerberos. Without one, a broken krb5.conf or cache keeps no client from a cluster
// that does not ask either.
func (l *Login) asked() bool {
	return l.o.Principal != "" || l.o.Keytab != "" || l.o.Cache != "" || l.o.Config != "" || l.o.ServerPrincipal != ""
}

// credentials finds the credentials once they are there: a ticket may come after the start of this process.
func (l *Login) credentials() (*krb.Credentials, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.creds != nil {
		return l.creds, nil
	}
	c, err := krb.New(l.o)
	if err == nil {
		l.creds = c
	}
	return c, err
}

// Session is a connection after its handshake.
type Session struct {
	net.Conn
	// Hello goes before the connection header; nil if the server has it.
	Hello []byte
	// User is the name for the connection header; "" if the handshake told it.
	User string

	server string
	id     identity
	joined []byte // room for WriteBuffers
}

// Denied makes a sentence of a server's word that it denies the connection as a whole.
func (s *Session) Denied(err error) error {
	switch {
	case s.id.who != "":
		return security.Refused(fmt.Errorf("%s denies %s: %w: the cluster's administrator allows users (hbase-policy.xml)", s.server, s.id.who, err))
	case s.id.why == nil:
		return security.Refused(fmt.Errorf("%s demands Kerberos: %w", s.server, err))
	}
	return security.Refused(fmt.Errorf("%s demands Kerberos (%w): %w", s.server, err, s.id.why))
}
