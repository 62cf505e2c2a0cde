package hbase

import (
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/symlake/symlake/formats/all"
	"github.com/symlake/symlake/formats/formattest"
	"github.com/symlake/symlake/ingest"
	"github.com/symlake/symlake/ingest/discover"
	"github.com/symlake/symlake/sinks"
	"github.com/symlake/symlake/sinks/hbase/hbasetest"
	"github.com/symlake/symlake/sinks/hbase/internal/client"
	"github.com/symlake/symlake/sinks/kek"
	"github.com/symlake/symlake/sinks/row"
)

// TestBenchCatalog ingests small objects, and measures the catalog's files after a major compaction, by the encoding
// of its blocks, and what a list and gets cost. SYMLAKE_SMALL sets the number of objects (20,000).
func TestBenchCatalog(t *testing.T) {
	formattest.Bench(t)
	n := 20_000
	if s := os.Getenv("SYMLAKE_SMALL"); s != "" {
		n, _ = strconv.Atoi(s)
	}
	source := smallObjects(t, n)
	server := hbasetest.Start(t, hbasetest.Options{Heap: "1g", Fast: true})
	rest := "//" + server.Master + "/" + namespace() + "?regions=8"
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	must(Create(t.Context(), rest, Options{}))
	o, err := connect(rest, Options{})
	must(err)
	s, err := o.open(t.Context())
	must(err)
	defer s.Close()
	ring, err := row.CreateKeyring(t.Context(), s.Catalog, kek.Ephemeral())
	must(err)
	began := time.Now()
	r, err := ingest.Run(t.Context(), []discover.Source{source}, ingest.Options{Store: s, Keyring: ring, Formats: all.Formats()})
	must(err)
	t.Logf("%d of %d objects loaded in %.0f s", r.Objects.Loaded, n, time.Since(began).Seconds())

	var keys [][]byte
	for _, encoding := range []string{"NONE", "PREFIX", "FAST_DIFF", "ROW_INDEX_V1", "FAST_DIFF GZ"} {
		name, gz, _ := strings.Cut(encoding, " ")
		if gz == "" {
			gz = "NONE"
		}
		families := map[string]map[string]string{catalogColumn.Family: {blockEncoding: name, "COMPRESSION": gz}}
		must(o.c.Alter(t.Context(), o.catalog(), nil, families))
		_, err := s.Purge(t.Context())
		must(err)
		theirs, began := cpu(t, []int{server.Process()}), time.Now()
		records, bytes := 0, 0
		kinds := map[byte]int{}
		must(s.Catalog.List(t.Context(), sinks.Span{}, func(r sinks.Row) error {
			records++
			kinds[r.Key[0]]++
			bytes += len(r.Key) + len(r.Value)
			if len(keys) < n && r.Key[0] == 'a' {
				keys = append(keys, r.Key)
			}
			return nil
		}))
		list, listed := time.Since(began), cpu(t, []int{server.Process()})-theirs
		theirs, began = cpu(t, []int{server.Process()}), time.Now()
		const gets = 5000
		for range gets {
			_, err := s.Catalog.Get(t.Context(), keys[rand.N(len(keys))])
			must(err)
		}
		got, each := time.Since(began), cpu(t, []int{server.Process()})-theirs
		sizes, regions := catalogFiles(t, server, o)
		t.Logf("%-13s %4d bytes an object on disk (a %d, n %d, o %d); %d regions; keys and values %d; %.2f records an object; list %.2f s, server %.1f µs a record; get %.0f µs, server %.0f µs",
			encoding, (sizes['a']+sizes['n']+sizes['o']+sizes[0])/n, sizes['a']/n, sizes['n']/n, sizes['o']/n, regions, bytes/n, float64(records)/float64(n),
			list.Seconds(), 1e6*listed/float64(records), 1e6*got.Seconds()/gets, 1e6*each/gets)
	}
}

// catalogFiles returns the bytes of the catalog's files by the kind of record that their region begins with (0: others).
func catalogFiles(t *testing.T, server *hbasetest.Server, o *store) (sizes map[byte]int, regions int) {
	t.Helper()
	list, err := o.c.Regions(t.Context(), o.catalog())
	if err != nil {
		t.Fatal(err)
	}
	sizes = map[byte]int{}
	for _, r := range list {
		files, err := o.c.StoreFiles(t.Context(), o.catalog(), r, catalogColumn.Family)
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range files {
			sizes[kindOf(r)] += fileSize(t, strings.TrimPrefix(f, "file:"))
		}
	}
	return sizes, len(list)
}

// kindOf returns the kind of the records of a region, 0 for several.
func kindOf(r *client.Region) byte {
	if len(r.Start) == 0 {
		return 'a'
	}
	if k := r.Start[0]; k == 'n' || k == 'o' || k == 'a' {
		return k
	}
	return 0
}

func fileSize(t *testing.T, path string) int {
	t.Helper()
	size := 0
	err := filepath.WalkDir(path, func(_ string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		info, err := d.Info()
		if err == nil {
			size += int(info.Size())
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return size
}
