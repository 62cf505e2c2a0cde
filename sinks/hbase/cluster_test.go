package hbase

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"github.com/symlake/symlake/formats/all"
	"github.com/symlake/symlake/formats/formattest"
	"github.com/symlake/symlake/ingest"
	"github.com/symlake/symlake/ingest/discover"
	"github.com/symlake/symlake/ingest/upkeep/verify"
	"github.com/symlake/symlake/sinks"
	bucketfile "github.com/symlake/symlake/sinks/bucket/file"
	"github.com/symlake/symlake/sinks/file"
	"github.com/symlake/symlake/sinks/hbase/hbasetest"
	"github.com/symlake/symlake/sinks/hbase/hdfs"
	"github.com/symlake/symlake/sinks/kek"
	"github.com/symlake/symlake/sinks/row"
)

// TestSmallCluster ingests into three region servers over an HDFS of three nodes. A region server dies in the middle. The
// store then has the digest of a file store with the same objects. SYMLAKE_SMALL sets the number of small objects (20,000).
func TestSmallCluster(t *testing.T) {
	if os.Getenv("SYMLAKE_CLUSTER") == "" {
		t.Skip("SKIP: SYMLAKE_CLUSTER=1 runs it; make soak does")
	}
	n := 20_000
	if s := os.Getenv("SYMLAKE_SMALL"); s != "" {
		n, _ = strconv.Atoi(s)
	}
	elf, err := bucketfile.Open(formattest.Testdata(t, "elf"))
	if err != nil {
		t.Fatal(err)
	}
	sources := []discover.Source{smallObjects(t, n), {Bucket: elf}}

	dir := filepath.Join(t.TempDir(), "store")
	if err := file.Create(dir); err != nil {
		t.Fatal(err)
	}
	local, err := file.Open(dir, file.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer local.Close()
	want, _ := ingested(t, sources, local, func() {})

	h := hbasetest.StartHDFS(t, hbasetest.HDFSOptions{DataNodes: 3})
	h.MakeFolder(t, "/hbase", "hbase")
	c := hbasetest.StartCluster(t, hbasetest.Options{HDFS: h, User: "hbase", Servers: 3})
	rest, o := "//"+c.Master+"/"+namespace()+"?regions=12", Options{Write: WriteOptions{User: "loader", Remote: Remote{HDFS: hdfs.Open}}}
	if err := Create(t.Context(), rest, o); err != nil {
		t.Fatal(err)
	}
	s, err := connect(rest, o)
	if err != nil {
		t.Fatal(err)
	}
	store, err := s.open(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	began := time.Now()
	got, runs := ingested(t, sources, store, func() {
		before := s.c.Calls()
		formattest.Await(t, "100 requests", func() bool { return s.c.Calls() > before+100 })
		c.RegionServers[0].Kill()
	})
	if got != want {
		t.Errorf("digest %s, a file store has %s", got, want)
	}
	t.Logf("%d small objects and testdata/elf in %.0f s, %d runs", n, time.Since(began).Seconds(), runs)
}

// ingested runs ingests until one has nothing left to do, and returns the digest of the store. harm runs beside the first.
func ingested(t *testing.T, sources []discover.Source, s *sinks.Store, harm func()) (digest string, runs int) {
	t.Helper()
	ring, err := row.CreateKeyring(t.Context(), s.Catalog, kek.Ephemeral())
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		harm()
	}()
	for {
		runs++
		r, err := ingest.Run(t.Context(), sources, ingest.Options{Store: s, Keyring: ring, Formats: all.Formats()})
		if err == nil && r.Objects.Failed == 0 {
			break
		}
		if runs == 10 {
			t.Fatalf("run %d: %v, %v", runs, r.Objects, err)
		}
		t.Logf("run %d: %v, %v", runs, r.Objects, err)
	}
	<-done
	r, err := verify.Run(t.Context(), verify.Options{Store: s, Keyring: ring})
	if err == nil && len(r.Problems) > 0 {
		err = fmt.Errorf("%v", r.Problems)
	}
	if err != nil {
		t.Fatal(err)
	}
	return r.Digest, runs
}
