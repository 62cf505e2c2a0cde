package hbasetest

import (
	"maps"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"testing"

	"github.com/symlake/symlake/sinks/hbase/hbasetest/secure"
)

// secure adds what KDC and TLS of the options ask of the server.
func (o *Options) secure(conf string, p map[string]string) error {
	if f := o.TLS; f != nil {
		maps.Copy(p, map[string]string{
			"hbase.server.netty.tls.enabled":          "true",
			"hbase.server.netty.tls.supportplaintext": strconv.FormatBool(!o.TLSOnly),
			"hbase.client.netty.tls.enabled":          strconv.FormatBool(o.TLSOnly), // for what the server asks itself
			"hbase.server.netty.tls.client.auth.mode": "NONE",
			"hbase.rpc.tls.keystore.location":         f.Server.Both,
			"hbase.rpc.tls.keystore.type":             "PEM",
			"hbase.rpc.tls.truststore.location":       f.CA,
			"hbase.rpc.tls.truststore.type":           "PEM",
		})
		if o.ClientCertificate {
			p["hbase.server.netty.tls.client.auth.mode"] = "NEED"
		}
	}
	if o.KDC == nil {
		return nil
	}
	const principal = "hbase/localhost@" + secure.Realm
	const access, token = "org.apache.hadoop.hbase.security.access.AccessController", "org.apache.hadoop.hbase.security.token.TokenProvider"
	keytab := o.KDC.Keytab("hbase")
	maps.Copy(p, map[string]string{
		"hbase.security.authentication":                            "kerberos",
		"hbase.security.authorization":                             "true",
		"hbase.rpc.protection":                                     "authentication,integrity,privacy",
		"hbase.master.kerberos.principal":                          principal,
		"hbase.master.keytab.file":                                 keytab,
		"hbase.regionserver.kerberos.principal":                    principal,
		"hbase.regionserver.keytab.file":                           keytab,
		"hbase.coprocessor.region.classes":                         token + "," + access,
		"hbase.coprocessor.master.classes":                         access,
		"hbase.coprocessor.regionserver.classes":                   access,
		"hbase.superuser":                                          "hbase",
		"hbase.unsafe.client.kerberos.hostname.disable.reversedns": "true",
	})
	// Hadoop's UserGroupInformation reads core-site.xml only.
	return site(filepath.Join(conf, "core-site.xml"), map[string]string{
		"hadoop.security.authentication": "kerberos",
		"hadoop.security.authorization":  "true",
	})
}

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
