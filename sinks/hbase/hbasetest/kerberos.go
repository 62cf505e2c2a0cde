package hbasetest

import (
	"os"
	"path/filepath"
	"sync"
	"testing"

	"github.com/symlake/symlake/sinks/hbase/hbasetest/secure"
)

var sharedSecure struct {
	once   sync.Once
	server *Server
	err    error
}

// SharedSecure is one HBase with Kerberos for all tests of the program, which Main ends. It takes each protection, with
// TLS and without, so that one server serves a whole matrix.
func SharedSecure(t testing.TB) *Server {
	t.Helper()
	secure.NeedKerberos(t)
	lib, java := Lib(t), Java(t)
	sharedSecure.once.Do(func() { sharedSecure.server, sharedSecure.err = startSecure(lib, java) })
	if sharedSecure.err != nil {
		t.Fatal(sharedSecure.err)
	}
	return sharedSecure.server
}

func startSecure(lib, java string) (*Server, error) {
	dir, err := os.MkdirTemp("", "symlake-hbase-secure-")
	if err != nil {
		return nil, err
	}
	shared.add(func() { os.RemoveAll(dir) })
	var o Options
	for _, name := range []string{"kdc", "tls", "hbase"} {
		if err := os.Mkdir(filepath.Join(dir, name), 0o777); err != nil {
			return nil, err
		}
	}
	if o.KDC, err = secure.NewKDC(filepath.Join(dir, "kdc")); err != nil {
		return nil, err
	}
	shared.add(o.KDC.Stop)
	if o.TLS, err = secure.NewTLSFiles(filepath.Join(dir, "tls")); err != nil {
		return nil, err
	}
	s, err := start(lib, java, filepath.Join(dir, "hbase"), o)
	if err == nil {
		shared.add(s.Kill)
	}
	return s, err
}
