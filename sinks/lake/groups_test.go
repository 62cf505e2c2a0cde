package lake

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"testing"

	pq "github.com/parquet-go/parquet-go"

	"github.com/symlake/symlake/formats/symbol"
	"github.com/symlake/symlake/sinks"
)

// A reader of one place reads one row group of a compacted file: a large group ends before the next artifact, and none is so
// large that a place in it costs more than a megabyte.
func TestCompactedGroups(t *testing.T) {
	dir := t.TempDir()
	l := testLake(t, dir, sinks.LakePlain)
	runs := map[symbol.ID]*symbol.Run{}
	for n, ranges := range []int{30_000, 200_000, 100, 50, 40_000} {
		names := make([]string, ranges)
		for i := range names {
			names[i] = fmt.Sprint("function", i/8)
		}
		x := testLoad(byte(n))
		runs[x.Artifact.ID] = testRun(0, names...)
		if _, err := write(t, l, x, testRun(0, "f")); err != nil {
			t.Fatal(err)
		}
	}
	_, err := l.Compact(t.Context(), sinks.LakeCompact{Export: func(_ context.Context, id symbol.ID, b sinks.LakeBatch) (*sinks.LakeLoad, error) {
		for n := range byte(5) {
			if x := testLoad(n); x.Artifact.ID == id {
				if b == nil {
					return x, nil
				}
				return x, errors.Join(b.Load(&x.Artifact, x.Load), b.Write(runs[id]))
			}
		}
		return nil, nil
	}})
	if err != nil {
		t.Fatal(err)
	}
	s, err := l.State(t.Context(), 0)
	if err != nil {
		t.Fatal(err)
	}
	ids := slices.SortedFunc(maps.Keys(runs), func(a, b symbol.ID) int { return bytes.Compare(a[:], b[:]) })
	want, open := []int64{}, int64(0)
	for _, id := range ids {
		if open >= 22_500 {
			want, open = append(want, open), 0
		}
		open += int64(len(runs[id].Ranges))
		for ; open > 90_048; open -= 90_048 { // a group is looked at every 64 rows
			want = append(want, 90_048)
		}
	}
	want = append(want, open)

	var got []int64
	for _, e := range s.Counting() {
		if e.Table != rangesTable {
			continue
		}
		file, err := os.Open(filepath.Join(dir, e.Path))
		if err != nil {
			t.Fatal(err)
		}
		defer file.Close()
		f, err := pq.OpenFile(file, e.Bytes)
		if err != nil {
			t.Fatal(err)
		}
		for _, g := range f.RowGroups() {
			got = append(got, g.NumRows())
		}
	}
	if !slices.Equal(got, want) {
		t.Errorf("row groups have %v rows, want %v", got, want)
	}
}
