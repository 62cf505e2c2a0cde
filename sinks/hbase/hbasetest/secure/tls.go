package secure

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"testing"
	"time"
)

// Pair is a certificate with its key, as paths of PEM files. Both is one file with the key first, such as HBase's
// key stores of type PEM are.
type Pair struct{ Certificate, Key, Both string }

// Files are the certificates of a test cluster.
type Files struct {
	Dir string
	CA  string // path of the authority's certificate
	// Server is for localhost and 127.0.0.1. Client is for clients, which HBase wants to have their host's name.
	Server, Client Pair
	// WrongName is for another host, Expired ended an hour ago, and Foreign is by an authority that CA does not have.
	WrongName, Expired, Foreign Pair
	ForeignCA                   string // path of that authority's certificate
}

// TLSFiles makes certificates that go with the test.
func TLSFiles(t testing.TB) *Files {
	t.Helper()
	f, err := NewTLSFiles(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// NewTLSFiles makes certificates in dir.
func NewTLSFiles(dir string) (*Files, error) {
	f := &Files{Dir: dir}
	ours, err := newAuthority(dir, "ca")
	if err != nil {
		return nil, err
	}
	foreign, err := newAuthority(dir, "foreign-ca")
	if err != nil {
		return nil, err
	}
	f.CA, f.ForeignCA = ours.path, foreign.path
	day := 24 * time.Hour
	for _, c := range []struct {
		by         *authority
		pair       *Pair
		name, host string
		until      time.Duration
	}{
		{ours, &f.Server, "server", "localhost", day},
		{ours, &f.Client, "client", "localhost", day},
		{ours, &f.WrongName, "wrong-name", "elsewhere.test", day},
		{ours, &f.Expired, "expired", "localhost", -time.Hour},
		{foreign, &f.Foreign, "foreign", "localhost", day},
	} {
		if *c.pair, err = c.by.issue(dir, c.name, c.host, c.until); err != nil {
			return nil, err
		}
	}
	return f, nil
}

type authority struct {
	path        string
	certificate *x509.Certificate
	key         *ecdsa.PrivateKey
}

func newAuthority(dir, name string) (*authority, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, err
	}
	a := &authority{path: filepath.Join(dir, name+".pem"), key: key}
	template := &x509.Certificate{SerialNumber: serial(), Subject: pkix.Name{CommonName: "symlake test " + name},
		NotBefore: time.Now().Add(-48 * time.Hour), NotAfter: time.Now().Add(48 * time.Hour),
		IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		return nil, err
	}
	if a.certificate, err = x509.ParseCertificate(der); err != nil {
		return nil, err
	}
	return a, os.WriteFile(a.path, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}), 0o644)
}

// issue writes a certificate for host that ends after until.
func (a *authority) issue(dir, name, host string, until time.Duration) (Pair, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return Pair{}, err
	}
	template := &x509.Certificate{SerialNumber: serial(), Subject: pkix.Name{CommonName: host},
		NotBefore: time.Now().Add(-24 * time.Hour), NotAfter: time.Now().Add(until), DNSNames: []string{host},
		KeyUsage: x509.KeyUsageDigitalSignature, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth}}
	if host == "localhost" {
		template.IPAddresses = []net.IP{net.IPv4(127, 0, 0, 1)}
	}
	der, err := x509.CreateCertificate(rand.Reader, template, a.certificate, key.Public(), a.key)
	if err != nil {
		return Pair{}, err
	}
	secret, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		return Pair{}, err
	}
	p := Pair{filepath.Join(dir, name+".pem"), filepath.Join(dir, name+".key"), filepath.Join(dir, name+"-both.pem")}
	certificate := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})
	private := pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: secret})
	for path, text := range map[string][]byte{p.Certificate: certificate, p.Key: private, p.Both: append(private, certificate...)} {
		if err := os.WriteFile(path, text, 0o600); err != nil {
			return Pair{}, err
		}
	}
	return p, nil
}

// serial numbers differ, as authorities promise.
func serial() *big.Int {
	n, _ := rand.Int(rand.Reader, new(big.Int).Lsh(big.NewInt(1), 100)) // never fails
	return n
}
