package hbase

import (
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/symlake/symlake/formats/formattest"
	"github.com/symlake/symlake/sinks"
	"github.com/symlake/symlake/sinks/hbase/hbasetest"
	"github.com/symlake/symlake/sinks/hbase/internal/client"
)

// TestBenchSize ingests many small objects into a store with the regions of a new one, and measures what commands cost
// there, and how many bytes and regions the tables have. SYMLAKE_SMALL sets the number of objects (1,000,000).
func TestBenchSize(t *testing.T) {
	formattest.Bench(t)
	n := 1_000_000
	if s := os.Getenv("SYMLAKE_SMALL"); s != "" {
		n, _ = strconv.Atoi(s)
	}
	source := smallObjects(t, n)
	server := hbasetest.Start(t, hbasetest.Options{Heap: "4g", Fast: true, Site: usual})
	rest := "//" + server.Master + "/" + namespace()
	if err := Create(t.Context(), rest, Options{}); err != nil {
		t.Fatal(err)
	}
	open := func() (*store, *sinks.Store) {
		o, err := connect(rest, Options{})
		if err != nil {
			t.Fatal(err)
		}
		s, err := o.open(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		return o, s
	}
	o, s := open()
	benchSmall(t, source, n, s, o.c.Calls, []int{server.Process()})
	o, s = open()
	defer s.Close()
	size := func(state string) {
		for _, table := range []struct {
			client.Table
			family string
		}{{o.blocks(), blocksColumn.Family}, {o.catalog(), catalogColumn.Family}} {
			list, err := o.c.Regions(t.Context(), table.Table)
			if err != nil {
				t.Fatal(err)
			}
			files, bytes := 0, 0
			for _, r := range list {
				names, err := o.c.StoreFiles(t.Context(), table.Table, r, table.family)
				if err != nil {
					t.Fatal(err)
				}
				for _, f := range names {
					files++
					bytes += fileSize(t, strings.TrimPrefix(f, "file:"))
				}
			}
			t.Logf("%s: %s has %d regions, %d files, %d bytes an object", state, table.Table, len(list), files, bytes/n)
		}
	}
	size("as ingested")
	if _, err := s.Purge(t.Context()); err != nil {
		t.Fatal(err)
	}
	size("after a major compaction of the catalog")
}
