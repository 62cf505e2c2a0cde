package tlsfiles

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"syscall"

	"github.com/symlake/symlake/sinks/hbase/security"
)

// Client makes the handshake on a connection to a server (host:port). The caller closes nc after an error; of a
// connection that stands, closing it closes nc.
func (c *Config) Client(ctx context.Context, nc net.Conn, server string) (net.Conn, error) {
	roots, pair, err := c.current()
	if err != nil {
		return nil, err
	}
	name := c.o.ServerName
	if name == "" {
		if name, _, err = net.SplitHostPort(server); err != nil {
			return nil, fmt.Errorf("TLS with %s: %w", server, err)
		}
	}
	asked := false
	t := tls.Client(nc, &tls.Config{
		MinVersion: tls.VersionTLS12,
		RootCAs:    roots,
		ServerName: name,
		GetClientCertificate: func(*tls.CertificateRequestInfo) (*tls.Certificate, error) {
			asked = true
			if pair == nil {
				return new(tls.Certificate), nil
			}
			return pair, nil
		},
	})
	if err := t.HandshakeContext(ctx); err != nil {
		return nil, explain(err, server, name, c.o, asked)
	}
	return &conn{t, c.o, server, asked}, nil
}

// conn explains alerts that come after the handshake.
type conn struct {
	*tls.Conn
	o      security.TLS
	server string
	asked  bool
}

func (c *conn) Read(b []byte) (int, error) {
	n, err := c.Conn.Read(b)
	if err != nil && c.asked {
		var alert *net.OpError
		if errors.As(err, &alert) && alert.Op == "remote error" {
			err = refusedClient(err, c.server, c.o)
		}
	}
	return n, err
}

// explain says what a failed handshake means.
func explain(err error, server, name string, o security.TLS, asked bool) error {
	var (
		host   x509.HostnameError
		issuer x509.UnknownAuthorityError
		date   x509.CertificateInvalidError
		record tls.RecordHeaderError
		remote *net.OpError
	)
	authorities := "the system's authorities"
	if o.CA != "" {
		authorities = o.CA
	}
	switch {
	case errors.As(err, &host):
		have := "no name at all"
		if names := namesOf(host.Certificate); names != "" {
			have = names
		}
		return security.Refused(fmt.Errorf("TLS with %s: its certificate is for %s and not for %s: set hbase.tls_server_name, or name the server as its certificate does", server, have, name))
	case errors.As(err, &date) && date.Reason == x509.Expired:
		return security.Refused(fmt.Errorf("TLS with %s: its certificate is out of date (%s to %s): renew it, or set the clock of this machine", server,
			date.Cert.NotBefore.UTC().Format("2006-01-02"), date.Cert.NotAfter.UTC().Format("2006-01-02 15:04")))
	case errors.As(err, &issuer):
		by := ""
		if issuer.Cert != nil {
			by = fmt.Sprintf(", %q", issuer.Cert.Issuer.String())
		}
		return security.Refused(fmt.Errorf("TLS with %s: %s does not have the issuer of its certificate%s: name the right authority in hbase.tls_ca", server, authorities, by))
	case errors.As(err, new(*tls.CertificateVerificationError)):
		return security.Refused(fmt.Errorf("TLS with %s: %w", server, err))
	case errors.As(err, &record):
		return security.Refused(fmt.Errorf("TLS with %s: the server does not speak TLS: leave out the tls settings of hbase, or enable TLS on the server", server))
	case errors.As(err, &remote) && remote.Op == "remote error":
		if asked {
			return refusedClient(err, server, o)
		}
		return security.Refused(fmt.Errorf("TLS with %s: the server ends the handshake: %w", server, remote.Err))
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, syscall.ECONNRESET), errors.Is(err, syscall.EPIPE):
		return fmt.Errorf("TLS with %s: the server hangs up in the handshake: does it speak TLS? %w", server, err)
	}
	return fmt.Errorf("TLS with %s: %w", server, err)
}

// refusedClient says that a server refuses the client's certificate.
func refusedClient(err error, server string, o security.TLS) error {
	if o.Certificate == "" {
		return security.Refused(fmt.Errorf("TLS with %s: the server demands a client certificate: set hbase.tls_certificate and hbase.tls_key (%w)", server, err))
	}
	return security.Refused(fmt.Errorf("TLS with %s: the server refuses the client certificate %s: it has to be in date, by an authority of the server, and for the name of this host (%w)", server, o.Certificate, err))
}

// namesOf lists the names of a certificate.
func namesOf(c *x509.Certificate) string {
	if c == nil {
		return ""
	}
	list := append([]string(nil), c.DNSNames...)
	for _, ip := range c.IPAddresses {
		list = append(list, ip.String())
	}
	if len(list) == 0 {
		return c.Subject.CommonName
	}
	if len(list) > 4 {
		list = append(list[:4], "…")
	}
	return fmt.Sprint(list)
}

// Demanded says that a server speaks TLS only, and the client does not.
func Demanded(server string) error {
	return security.Refused(fmt.Errorf("%s demands TLS: set hbase.tls: true, and hbase.tls_ca unless the system knows its authority", server))
}
