package hbase

import (
	"slices"
	"strings"
	"testing"

	"github.com/symlake/symlake/sinks/hbase/hbasetest"
	"github.com/symlake/symlake/sinks/hbase/hbasetest/secure"
	"github.com/symlake/symlake/sinks/hbase/internal/bulk"
	"github.com/symlake/symlake/sinks/hbase/security"
)

// TestHDFS: another user than HBase's loads, on the file system where a load moves the file.
func TestHDFS(t *testing.T) {
	t.Parallel()
	h := hbasetest.StartHDFS(t, hbasetest.HDFSOptions{})
	h.MakeFolder(t, "/hbase", "hbase")
	s := hbasetest.Start(t, hbasetest.Options{HDFS: h, User: "hbase"})
	x := newTarget(t, s, WriteOptions{User: "loader"}, 0x40, 0x80, 0xc0)
	a := someLoads(200, 20, 4000)
	if err := x.load(a...); err != nil {
		t.Fatal(err)
	}
	x.holds(a...)
	if got := x.storeFiles(); !slices.Equal(got, []int{1, 1, 1, 1}) {
		t.Errorf("store files: %v, want one a region", got)
	}
	// Cut again on HDFS.
	b := x.cut(a...)
	x.server.Split(t, x.regionAt(0x41), []byte{0x60})
	if err := b.Commit(t.Context()); err != nil {
		t.Fatal(err)
	}
	x.holds(a...)
	killInMidLoad(newTarget(t, s, WriteOptions{User: "loader"}, 0x20, 0x40, 0x60, 0x80, 0xa0, 0xc0, 0xe0))
}

// TestSecureHDFS: HBase and HDFS demand Kerberos; another user than HBase's loads with a keytab.
func TestSecureHDFS(t *testing.T) {
	t.Parallel()
	kdc := secure.StartKDC(t)
	h := hbasetest.StartHDFS(t, hbasetest.HDFSOptions{KDC: kdc})
	h.MakeFolder(t, "/hbase", "hbase")
	s := hbasetest.Start(t, hbasetest.Options{HDFS: h, KDC: kdc, Site: map[string]string{"hbase.security.authorization": "false"}})
	o := WriteOptions{HadoopConf: h.Conf, security: security.Options{Config: kdc.Config, Keytab: kdc.Keytab("loader")}}
	x := newTarget(t, s, o, 0x40, 0x80, 0xc0)
	a := someLoads(200, 20, 4000)
	b := bulk.New(t.Context(), bulk.Options{BufferBytes: 1 << 20, Generations: x.stamps, To: &bulk.Loader{Cluster: cluster{x.writer}, Files: x.files}})
	defer b.Abort()
	for _, r := range slices.Concat(a...) { // in no order: files are read again and merged
		if err := b.Write(r); err != nil {
			t.Fatal(err)
		}
	}
	if err := b.Commit(t.Context()); err != nil {
		t.Fatal(err)
	}
	x.holds(a...)
	if got := x.storeFiles(); !slices.Equal(got, []int{1, 1, 1, 1}) {
		t.Errorf("store files: %v, want one a region", got)
	}
	if strings.Contains(s.Log(t), "Failed to complete bulk load") {
		t.Error("the server could not stand in for the user")
	}
}
