package hbase

import (
	"net/http"
	"os/user"
	"slices"
	"testing"

	"github.com/symlake/symlake/sinks/hbase/hbasetest"
)

// TestHDFS: another user than HBase's loads, on the file system where a load moves the file.
func TestHDFS(t *testing.T) {
	t.Parallel()
	h := hbasetest.StartHDFS(t)
	me, err := user.Current()
	if err != nil {
		t.Fatal(err)
	}
	for _, op := range []string{"op=MKDIRS&permission=755", "op=SETOWNER&owner=hbase"} {
		q, err := http.NewRequestWithContext(t.Context(), http.MethodPut, "http://"+h.Web+"/webhdfs/v1/hbase?"+op+"&user.name="+me.Username, nil)
		if err != nil {
			t.Fatal(err)
		}
		answer, err := http.DefaultClient.Do(q)
		if err != nil || answer.StatusCode != http.StatusOK {
			t.Fatal(answer, err)
		}
		answer.Body.Close()
	}
	s := hbasetest.Start(t, hbasetest.Options{Root: "hdfs://" + h.NameNode + "/hbase", User: "hbase"})
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
