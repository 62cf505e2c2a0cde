package hbase

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"github.com/symlake/symlake/sinks"
	"github.com/symlake/symlake/sinks/hbase/hbasetest"
	"github.com/symlake/symlake/sinks/hbase/hbasetest/secure"
	"github.com/symlake/symlake/sinks/hbase/internal/bulk"
	"github.com/symlake/symlake/sinks/hbase/internal/client"
	"github.com/symlake/symlake/sinks/hbase/security"
)

// TestHDFS: another user than HBase's loads, on the file system where a load moves the file.
func TestHDFS(t *testing.T) {
	t.Parallel()
	h := hbasetest.StartHDFS(t, hbasetest.HDFSOptions{DataNodes: 2})
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
	dataNodeDies(t, h, x, a)
}

// dataNodeDies kills one of two DataNodes while HBase reads rows and while a file is written. The NameNode counts on it for
// ten minutes, and places each block there too.
func dataNodeDies(t *testing.T, h *hbasetest.HDFS, x *target, there [][]sinks.Row) {
	h.MakeFolder(t, "/lake", "loader")
	files, err := x.files(t.Context(), h.Root+"/lake")
	if err != nil {
		t.Fatal(err)
	}
	defer files.Close()
	const name = "/lake/file"
	piece := []byte(strings.Repeat("0123456789abcdef", 16<<10))
	out, err := files.Create(t.Context(), h.Root+name)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := out.Write(piece); err != nil {
		t.Fatal(err)
	}

	rows := 0
	err = x.c.Scan(t.Context(), x.rows, rowColumn(), client.Span{}, client.ScanOptions{PageBytes: 64 << 10}, func(client.Cell) error {
		if rows++; rows == 50 {
			h.DataNodes[0].Kill()
		}
		return nil
	})
	if want := len(slices.Concat(there...)); err != nil || rows != want {
		t.Fatalf("%d rows, want %d: %v", rows, want, err)
	}

	// The file under way fails in one sentence. The next one goes to the DataNode that is left.
	for range 8 {
		if _, err = out.Write(piece); err != nil {
			break
		}
	}
	if err == nil {
		err = out.Close()
	} else {
		out.Abort()
	}
	if err == nil || !strings.Contains(err.Error(), name) || !strings.Contains(err.Error(), "run it again") || strings.Contains(err.Error(), "\n") {
		t.Errorf("a file whose DataNode died: %v", err)
	}
	if out, err = files.Create(t.Context(), h.Root+name+"2"); err != nil {
		t.Fatal(err)
	}
	for range 8 {
		if _, err := out.Write(piece); err != nil {
			t.Fatal(err)
		}
	}
	if err := out.Close(); err != nil {
		t.Fatal(err)
	}
	in, err := files.Open(t.Context(), h.Root+name+"2")
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	got := make([]byte, in.Size())
	if _, err := in.ReadAt(got, 0); err != nil || !bytes.Equal(got, bytes.Repeat(piece, 8)) {
		t.Errorf("the file has %d other bytes: %v", len(got), err)
	}

	// So does a load.
	more := someLoads(200, 20, 4000)
	if err := x.load(more...); err != nil {
		t.Fatal(err)
	}
	x.holds(slices.Concat(there, more)...)
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
