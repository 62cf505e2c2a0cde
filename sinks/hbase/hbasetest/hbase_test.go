package hbasetest

import (
	"crypto/tls"
	"crypto/x509"
	"net"
	"os"
	"strings"
	"testing"
)

func TestMain(m *testing.M) { Main(m) }

func TestStart(t *testing.T) {
	s := Shared(t)
	for range 2 {
		for _, address := range []string{s.Master, s.Region, s.ZooKeeper} {
			c, err := net.Dial("tcp", address)
			if err != nil {
				t.Fatal(err)
			}
			c.Close()
		}
		s.Kill()
		if c, err := net.Dial("tcp", s.Master); err == nil {
			c.Close()
			t.Fatal("a killed server answers")
		}
		s.Restart(t)
	}
}

func TestHDFS(t *testing.T) {
	h := StartHDFS(t, HDFSOptions{})
	s := Start(t, Options{Root: "hdfs://" + h.NameNode + "/hbase", Servers: 2})
	c, err := net.Dial("tcp", s.Master)
	if err != nil {
		t.Fatal(err)
	}
	c.Close()
}

func TestSecure(t *testing.T) {
	s := SharedSecure(t)
	roots := x509.NewCertPool()
	ca, err := os.ReadFile(s.TLS.CA)
	if err != nil || !roots.AppendCertsFromPEM(ca) {
		t.Fatal(err)
	}
	for _, address := range []string{s.Master, s.Region} {
		c, err := tls.Dial("tcp", address, &tls.Config{RootCAs: roots})
		if err != nil {
			t.Fatal(err)
		}
		c.Close()
		if _, err := s.call("", address, "ClientMetaService", "GetClusterId", nil); err == nil || !strings.Contains(err.Error(), "AccessDenied") {
			t.Fatalf("a caller without credentials: %v", err)
		}
	}
}
