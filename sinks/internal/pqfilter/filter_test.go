package pqfilter

import (
	"bytes"
	"errors"
	"fmt"
	"runtime"
	"testing"

	pq "github.com/parquet-go/parquet-go"
)

type row struct {
	ID    string `parquet:"id"`
	Other string `parquet:"other"`
}

// testFile has rows in several row groups, with a filter of id.
func testFile(tb testing.TB, filters ...pq.BloomFilterColumn) []byte {
	tb.Helper()
	var b bytes.Buffer
	w := pq.NewGenericWriter[row](&b, pq.MaxRowsPerRowGroup(100), pq.BloomFilters(filters...))
	for i := range 300 {
		if _, err := w.Write([]row{{fmt.Sprint("id", i), "x"}}); err != nil {
			tb.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		tb.Fatal(err)
	}
	return b.Bytes()
}

func mayHold(b []byte, column string, values ...string) (bool, error) {
	groups, err := Groups(bytes.NewReader(b), int64(len(b)), column, values)
	return len(groups) > 0, err
}

func TestMayHold(t *testing.T) {
	filtered, bare := testFile(t, pq.SplitBlockFilter(10, "id")), testFile(t)
	for i := range 300 {
		if may, err := mayHold(filtered, "id", "none", fmt.Sprint("id", i)); !may || err != nil {
			t.Errorf("id%d: %v, %v", i, may, err)
		}
	}
	if groups, err := Groups(bytes.NewReader(filtered), int64(len(filtered)), "id", []string{"id5", "id250"}); err != nil || len(groups) < 2 || groups[0] != 0 || groups[len(groups)-1] != 2 {
		t.Errorf("row groups %v, want 0 and 2: %v", groups, err)
	}
	passed := 0
	for i := range 300 {
		may, err := mayHold(filtered, "id", fmt.Sprint("no", i))
		if err != nil {
			t.Fatal(err)
		}
		if may {
			passed++
		}
	}
	if passed > 30 {
		t.Errorf("the filters pass %d of 300 values that are not there", passed)
	}
	for _, c := range []struct {
		file   []byte
		column string
	}{{bare, "id"}, {filtered, "other"}} {
		if may, err := mayHold(c.file, c.column, "none"); !may || err != nil {
			t.Errorf("without a filter: %v, %v", may, err)
		}
	}
	if _, err := mayHold(filtered, "third", "none"); !errors.Is(err, ErrDamaged) {
		t.Errorf("without the column: %v", err)
	}
	if _, err := mayHold(filtered[:len(filtered)-9], "id", "none"); !errors.Is(err, ErrDamaged) {
		t.Errorf("cut off: %v", err)
	}
	// A footer that is longer than its file takes no memory.
	long := append(bytes.Clone(filtered[:len(filtered)-8]), 0xff, 0xff, 0xff, 0x7f, 'P', 'A', 'R', '1')
	var was, is runtime.MemStats
	runtime.ReadMemStats(&was)
	_, err := mayHold(long, "id", "none")
	runtime.ReadMemStats(&is)
	if took := is.TotalAlloc - was.TotalAlloc; !errors.Is(err, ErrDamaged) || took > 1<<20 {
		t.Errorf("a long footer took %d bytes: %v", took, err)
	}
}

// FuzzMayHold asks any bytes.
func FuzzMayHold(f *testing.F) {
	f.Add(testFile(f, pq.SplitBlockFilter(10, "id")))
	f.Fuzz(func(_ *testing.T, b []byte) { mayHold(b, "id", "id1", "none") })
}
