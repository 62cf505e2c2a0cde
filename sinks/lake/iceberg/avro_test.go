package iceberg

import (
	"bytes"
	"fmt"
	"runtime"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/twmb/avro"
	"github.com/twmb/avro/ocf"
)

// testEntries are entries of data files with metrics and bounds, and one of deletes.
func testEntries(n int) (all []entry) {
	for i := range n {
		snapshot, sequence, order, kind, day := int64(7), int64(i+1), int32(sortOrder), "elf", int32(20000)
		path := fmt.Sprintf("file:///lake/one/kind=elf/day=2026-01-02/%032x.parquet", i)
		e := entry{Status: existing, Snapshot: &snapshot, Sequence: &sequence, FileSequence: &sequence, File: dataFile{Content: contentData, Path: path, Format: "PARQUET",
			Partition: partition{&kind, &day}, Rows: 300, Bytes: 8192, Order: &order, Splits: []int64{4, 4096}}}
		for column := range int32(20) {
			e.File.Sizes = append(e.File.Sizes, keyLong{column, int64(i)})
			e.File.Nulls = append(e.File.Nulls, keyLong{column, 0})
		}
		e.File.Low = []keyBytes{{1, fmt.Appendf(nil, "%032x", i)}}
		if i == 1 {
			e.File.Content, e.File.References = contentDeletes, &path
		}
		all = append(all, e)
	}
	return all
}

func testManifest(tb testing.TB, n int) []byte {
	tb.Helper()
	text, err := writeAvro(entries(), map[string][]byte{"format-version": []byte("2")}, testEntries(n))
	if err != nil {
		tb.Fatal(err)
	}
	return text
}

func testList(tb testing.TB, n int) []byte {
	tb.Helper()
	var rows []listed
	for i := range n {
		rows = append(rows, listed{Path: fmt.Sprint("file:///lake/iceberg/one/metadata/symlake-manifest-", i), Bytes: 5000, Sequence: int64(i), Added: 1, Partitions: []summary{{Low: []byte("elf"), High: []byte("elf")}, {Null: true}}})
	}
	text, err := writeAvro(lists(), map[string][]byte{"format-version": []byte("2")}, rows)
	if err != nil {
		tb.Fatal(err)
	}
	return text
}

// Records come back as they were written, and twice the entries take at most 2.6 times the memory.
func TestLinear(t *testing.T) {
	var took [2][]uint64
	for _, n := range []int{2000, 4000} {
		manifest, list := testManifest(t, n), testList(t, n)
		for i, read := range []func() (int, error){
			func() (int, error) {
				all, err := readAvro[entry](entries(), manifest)
				if len(all) == n && !cmp.Equal(all[:5], testEntries(5)) {
					t.Error(cmp.Diff(all[:5], testEntries(5)))
				}
				return len(all), err
			},
			func() (int, error) {
				all, err := readAvro[listed](lists(), list)
				return len(all), err
			},
		} {
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			got, err := read()
			runtime.ReadMemStats(&after)
			if got != n || err != nil {
				t.Fatalf("%d records of %d, %v", got, n, err)
			}
			took[i] = append(took[i], after.TotalAlloc-before.TotalAlloc)
		}
	}
	for _, x := range took {
		if x[1] > x[0]*26/10 {
			t.Errorf("%d bytes, twice the records %d", x[0], x[1])
		}
	}
}

// bare returns records as an Avro file without compression, where changes reach the records.
func bare[T any](tb testing.TB, s *avro.Schema, records []T) []byte {
	tb.Helper()
	var b bytes.Buffer
	w, err := ocf.NewWriter(&b, s)
	for i := range records {
		if err == nil {
			err = w.Encode(&records[i])
		}
	}
	if err == nil {
		err = w.Close()
	}
	if err != nil {
		tb.Fatal(err)
	}
	return b.Bytes()
}

// FuzzManifest reads any bytes as a manifest and as a list of manifests.
func FuzzManifest(f *testing.F) {
	f.Add(testManifest(f, 3))
	f.Add(testList(f, 2))
	f.Add(bare(f, entries(), testEntries(2)))
	f.Add(bare(f, lists(), []listed{{Path: "file:///lake/m", Partitions: []summary{{Low: []byte("elf")}}}}))
	f.Fuzz(func(t *testing.T, text []byte) {
		if all, err := readAvro[entry](entries(), text); err == nil {
			if _, err := writeAvro(entries(), nil, all); err != nil {
				t.Fatal(err)
			}
		}
		if all, err := readAvro[listed](lists(), text); err == nil {
			if _, err := writeAvro(lists(), nil, all); err != nil {
				t.Fatal(err)
			}
		}
	})
}
