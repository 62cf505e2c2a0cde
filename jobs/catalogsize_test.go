package jobs

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/symlake/symlake/sinks"
	"github.com/symlake/symlake/sinks/file"
	"github.com/symlake/symlake/sinks/row"
)

// TestCatalogSize loads small Breakpad files (SYMLAKE_BENCH_ARTIFACTS, 300 by default) and bounds the bytes that the catalog
// takes for each: records and catalog.db.
func TestCatalogSize(t *testing.T) {
	t.Parallel()
	artifacts := 300
	if s := os.Getenv("SYMLAKE_BENCH_ARTIFACTS"); s != "" {
		var err error
		if artifacts, err = strconv.Atoi(s); err != nil {
			t.Fatal(err)
		}
	}
	dir, err := os.MkdirTemp("", "size") // in lower case, as most URLs are: t.TempDir is not
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	in, store := filepath.Join(dir, "in"), filepath.Join(dir, "store")
	smallObjects(t, in, artifacts)
	mustRun(t, []int{0}, "--store", store, "--lake", "off", "ingest", in)

	s, err := file.Open(store, file.Options{ReadOnly: true})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	sums, counts, urls := map[byte]int{}, map[byte]int{}, 0
	err = s.Catalog.List(t.Context(), sinks.Span{}, func(r sinks.Row) error {
		sums[r.Key[0]] += len(r.Key) + len(r.Value)
		counts[r.Key[0]]++
		if r.Key[0] == row.RecordObject {
			urls += len(r.Key) - 1
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	all := 0
	for _, kind := range []byte{row.RecordArtifact, row.RecordObject, row.RecordName} {
		t.Logf("%c: %d records, %.1f bytes each", kind, counts[kind], float64(sums[kind])/float64(counts[kind]))
		all += sums[kind]
	}
	// A URL stands in a key and, with 6 bits a letter, in the artifact's record. Usual ones have 40 bytes.
	each := float64(all)/float64(artifacts) - 1.75*(float64(urls)/float64(artifacts)-40)
	info, err := os.Stat(filepath.Join(store, "catalog.db"))
	if err != nil {
		t.Fatal(err)
	}
	size := float64(info.Size()) / float64(artifacts)
	t.Logf("%d artifacts: %.1f bytes of records each, with URLs of 40 bytes; %.0f bytes of catalog.db", artifacts, each, size)
	most := 600.0
	if dir != strings.ToLower(dir) {
		most += 15 // such URLs take 8 bits a letter
	}
	if counts[row.RecordArtifact] != artifacts || counts[row.RecordName] != 4*artifacts || each > most || size > 1300 {
		t.Errorf("%v records; %.1f bytes of records, %.0f of catalog.db an artifact", counts, each, size)
	}
}

// smallObjects writes so many Breakpad files of ten functions each below dir.
func smallObjects(t *testing.T, dir string, objects int) {
	t.Helper()
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	for i := range objects {
		var b strings.Builder
		// The debug id is of the first 16 bytes of the build-id, as dump_syms writes it.
		id := fmt.Sprintf("%08X%08X%08X%08X%08X", uint32(i)*2654435761, i, uint32(i)*40503, ^uint32(i), i*7)
		fmt.Fprintf(&b, "MODULE Linux x86_64 %s0 libm%05d.so\nINFO CODE_ID %s\nFILE 0 src/m%05d.c\n",
			id[6:8]+id[4:6]+id[2:4]+id[0:2]+id[10:12]+id[8:10]+id[14:16]+id[12:14]+id[16:32], i, id, i)
		for f := range 10 {
			at := 0x1000 + f*0x20
			fmt.Fprintf(&b, "FUNC %x 20 0 fun%05d_%d\n%x 10 %d 0\n%x 10 %d 0\n", at, i, f, at, 10+3*f, at+0x10, 11+3*f)
		}
		if err := os.WriteFile(filepath.Join(dir, fmt.Sprintf("libm%05d.sym", i)), []byte(b.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}
