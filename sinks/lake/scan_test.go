package lake

import (
	"bytes"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/symlake/symlake/sinks"
	"github.com/symlake/symlake/sinks/internal/pqfile"
)

// Row groups of one sealed file may be scanned at once: the library decrypts with one state a reader.
func TestScanSealedTogether(t *testing.T) {
	dir := t.TempDir()
	names := make([]string, 4000)
	for i := range names {
		names[i] = strconv.Itoa(i) + strings.Repeat("x", 8<<10)
	}
	if _, err := write(t, testLake(t, dir, sinks.LakeSealed), testLoad(1), testRun(0, names...)); err != nil {
		t.Fatal(err)
	}
	files, err := filepath.Glob(filepath.Join(dir, "ranges/*/*/*.parquet"))
	if err != nil || len(files) != 1 {
		t.Fatal(files, err)
	}
	text, err := os.ReadFile(files[0])
	if err != nil {
		t.Fatal(err)
	}
	f, err := pqfile.OpenRows(t.Context(), bytes.NewReader(text), int64(len(text)), func() (sinks.LakeKeys, error) { return testKeys, nil })
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if len(f.Groups()) < 3 {
		t.Fatalf("%d row groups, want several", len(f.Groups()))
	}
	var leaves []pqfile.Leaf
	for _, l := range f.Leaves() {
		if l.Kind != pqfile.LeafOther {
			leaves = append(leaves, l)
		}
	}
	var all sync.WaitGroup
	for range 4 {
		for g, want := range f.Groups() {
			all.Go(func() {
				rows := int64(0)
				err := f.Scan(t.Context(), g, leaves, func(n int, _ []pqfile.Cells) error { rows += int64(n); return nil })
				if err != nil || rows != want {
					t.Errorf("row group %d: %d of %d rows, %v", g, rows, want, err)
				}
			})
		}
	}
	all.Wait()
}
