package tlsfiles

import (
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"os"
	"sync"
	"time"

	"github.com/symlake/symlake/sinks/hbase/security"
)

// maxFile bounds each file. A system's list of authorities has some 200 KB.
const maxFile = 16 << 20

// Config is what handshakes need. Safe for concurrent use.
type Config struct {
	o security.TLS

	mu    sync.Mutex
	seen  [3]mark // of CA, certificate and key, as they were read
	roots *x509.CertPool
	pair  *tls.Certificate
}

// mark tells whether a file is another than before.
type mark struct {
	size int64
	time time.Time
	file os.FileInfo
}

func markOf(path string) (mark, error) {
	if path == "" {
		return mark{}, nil
	}
	info, err := os.Stat(path)
	if err != nil {
		return mark{}, err
	}
	return mark{info.Size(), info.ModTime(), info}, nil
}

func (m mark) same(n mark) bool {
	return m.size == n.size && m.time.Equal(n.time) && (m.file == n.file || os.SameFile(m.file, n.file))
}

// Wanted reports whether the options ask for TLS.
func Wanted(o security.TLS) bool { return o != security.TLS{} }

// New reads the files that o names; security.ErrRefused where they do not fit.
func New(o security.TLS) (*Config, error) {
	c := &Config{o: o}
	if (o.Certificate == "") != (o.Key == "") {
		return nil, security.Refused(fmt.Errorf("TLS to HBase: a client certificate and its key go together: name both"))
	}
	_, _, err := c.current()
	if err != nil {
		return nil, security.Refused(err)
	}
	return c, nil
}

// current returns the certificates that count now. Files that cannot be read count as they were read last.
func (c *Config) current() (*x509.CertPool, *tls.Certificate, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	first := c.roots == nil && c.pair == nil
	var now [3]mark
	changed := first
	for i, path := range []string{c.o.CA, c.o.Certificate, c.o.Key} {
		m, err := markOf(path)
		if err != nil && first {
			return nil, nil, fmt.Errorf("TLS to HBase: %w", err)
		}
		if err != nil {
			return c.roots, c.pair, nil
		}
		now[i] = m
		changed = changed || !m.same(c.seen[i])
	}
	if !changed {
		return c.roots, c.pair, nil
	}
	roots, pair, err := c.read()
	switch {
	case err == nil:
		c.roots, c.pair, c.seen = roots, pair, now
	case first:
		return nil, nil, err
	}
	return c.roots, c.pair, nil
}

// read reads the files.
func (c *Config) read() (roots *x509.CertPool, pair *tls.Certificate, err error) {
	if c.o.CA != "" {
		text, err := readFile(c.o.CA)
		if err != nil {
			return nil, nil, fmt.Errorf("TLS to HBase: authorities: %w", err)
		}
		if roots = x509.NewCertPool(); !roots.AppendCertsFromPEM(text) {
			return nil, nil, fmt.Errorf("TLS to HBase: authorities: %s has no PEM certificate", c.o.CA)
		}
	}
	if c.o.Certificate != "" {
		certificate, err := readFile(c.o.Certificate)
		if err != nil {
			return nil, nil, fmt.Errorf("TLS to HBase: client certificate: %w", err)
		}
		key, err := readFile(c.o.Key)
		if err != nil {
			return nil, nil, fmt.Errorf("TLS to HBase: key of the client certificate: %w", err)
		}
		p, err := tls.X509KeyPair(certificate, key)
		if err != nil {
			return nil, nil, fmt.Errorf("TLS to HBase: client certificate %s with key %s: %w", c.o.Certificate, c.o.Key, err)
		}
		pair = &p
	}
	return roots, pair, nil
}

func readFile(path string) ([]byte, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() || info.Size() > maxFile {
		return nil, fmt.Errorf("%s is no file of certificates", path)
	}
	return os.ReadFile(path)
}
