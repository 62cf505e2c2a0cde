package hbase

import (
	"testing"

	"github.com/symlake/symlake/formats/formattest"
	"github.com/symlake/symlake/sinks/hbase/hbasetest"
	"github.com/symlake/symlake/sinks/hbase/hbasetest/secure"
	"github.com/symlake/symlake/sinks/hbase/security"
)

// TestBenchSecure compares scans under Kerberos' privacy over TLS with HBase's own client for Java, in turn.
func TestBenchSecure(t *testing.T) {
	formattest.Bench(t)
	kdc, files := secure.StartKDC(t), secure.TLSFiles(t)
	server := hbasetest.Start(t, hbasetest.Options{Heap: "2g", Fast: true, KDC: kdc, TLS: files, TLSOnly: true,
		Site: map[string]string{"hbase.regionserver.handler.count": "30", "hbase.rpc.protection": "privacy"}})
	o := security.Options{Config: kdc.Config, Keytab: kdc.Keytab("hbase"), Protection: "privacy", TLS: security.TLS{CA: files.CA}}
	l := javaLibrary(t, server, o)
	benchScans(t, l, startPeer(t, server, writeRows(t, l.all), "hbase/localhost@"+secure.Realm, o.Keytab), 12_000)
}
