package lake

import (
	"context"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/symlake/symlake/formats/symbol"
	"github.com/symlake/symlake/sinks"
	"github.com/symlake/symlake/sinks/bucket/buckettest"
	"github.com/symlake/symlake/sinks/lake/iceberg/icebergtest"
)

// village is a plain lake with a clock, and what its tables must show.
type village struct {
	t     *testing.T
	dir   string
	lake  *Lake
	now   time.Time
	aged  map[string]bool
	loads map[symbol.ID]*sinks.LakeLoad // what counts
	names map[symbol.ID][]string        // functions of each
	// Rows of ranges by snapshot, what it needs, and when another one took its place.
	rows  map[int64][]string
	files map[int64][]string
	until map[int64]time.Time
	last  int64
}

func newVillage(t *testing.T) *village {
	v := &village{t: t, dir: t.TempDir(), now: time.Date(2026, 1, 2, 0, 0, 0, 0, time.UTC), aged: map[string]bool{}, loads: map[symbol.ID]*sinks.LakeLoad{},
		names: map[symbol.ID][]string{}, rows: map[int64][]string{}, files: map[int64][]string{}, until: map[int64]time.Time{}}
	v.open()
	return v
}

func (v *village) open() {
	v.lake = testLake(v.t, v.dir, sinks.LakePlain)
	v.lake.o.Now = func() time.Time { return v.now }
}

// age gives new files the time of the village.
func (v *village) age() {
	err := filepath.WalkDir(v.dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || v.aged[path] && filepath.Base(path) != "version-hint.text" {
			return err
		}
		v.aged[path] = true
		return os.Chtimes(path, v.now, v.now)
	})
	if err != nil {
		v.t.Fatal(err)
	}
}

// write publishes loads of some artifacts in one batch.
func (v *village) write(loads map[*sinks.LakeLoad][]string) {
	b, err := v.lake.Begin(v.t.Context())
	if err != nil {
		v.t.Fatal(err)
	}
	var all []*sinks.LakeLoad
	for x, functions := range loads {
		if err := errors.Join(b.Load(&x.Artifact, x.Load), b.Write(testRun(0, functions...))); err != nil {
			v.t.Fatal(err)
		}
		all = append(all, x)
		v.loads[x.Artifact.ID], v.names[x.Artifact.ID] = x, functions
	}
	if _, err := b.Commit(v.t.Context(), all); err != nil {
		v.t.Fatal(err)
	}
	v.age()
}

func (v *village) export(_ context.Context, id symbol.ID, b sinks.LakeBatch) (*sinks.LakeLoad, error) {
	x := v.loads[id]
	if x == nil || b == nil {
		return x, nil
	}
	return x, errors.Join(b.Load(&x.Artifact, x.Load), b.Write(testRun(0, v.names[id]...)))
}

func (v *village) compact() {
	v.age()
	done, err := v.lake.Compact(v.t.Context(), sinks.LakeCompact{Export: v.export, Now: v.lake.o.Now})
	if err != nil {
		v.t.Fatal(err)
	}
	for _, r := range done.Tables {
		if r.Err != nil {
			v.t.Fatal(r.Err)
		}
	}
	v.age()
	v.check()
}

func (v *village) publish() {
	v.age()
	all, err := v.lake.Publish(v.t.Context(), sinks.LakePublish{Run: "run"})
	if err != nil || len(all) != 4 {
		v.t.Fatal(all, err)
	}
	for _, r := range all {
		if r.Err != nil {
			v.t.Fatal(r.Err)
		}
	}
	v.age()
	v.check()
}

// check compares the tables with what counts, and looks whether the snapshots within the grace are whole.
func (v *village) check() {
	v.t.Helper()
	var ranges, facts, names []string
	for id, x := range v.loads {
		load := hex.EncodeToString(x.Load[:])
		for _, f := range v.names[id] {
			ranges = append(ranges, id.String()+" "+load+" "+f)
		}
		r := x.Revision()
		facts = append(facts, fmt.Sprintf("%s %s %x", id, load, r))
		for _, n := range x.Artifact.Names {
			names = append(names, fmt.Sprintf("%s %s %x %s", id, load, r, n.Text))
		}
	}
	for _, c := range []struct {
		table   string
		columns []string
		want    []string
	}{{"ranges", []string{"artifact", "load", "function"}, ranges}, {"artifacts", []string{"artifact", "load", "revision"}, facts}, {"names", []string{"artifact", "load", "revision", "name"}, names}} {
		x := icebergtest.Open(v.t, v.dir, c.table)
		slices.Sort(c.want)
		if diff := cmp.Diff(c.want, x.Rows(v.t, x.Current, c.columns...)); diff != "" {
			v.t.Fatalf("%s (-want +got)\n%s", c.table, diff)
		}
	}
	x := icebergtest.Open(v.t, v.dir, "ranges")
	if x.Current != v.last {
		v.until[v.last], v.last = v.now, x.Current
		v.rows[x.Current] = ranges
		data, deletes := x.Files(v.t, x.Current)
		v.files[x.Current] = append(data, deletes...)
	}
	if len(x.Snapshots) > 10+16+2 {
		v.t.Errorf("%d snapshots", len(x.Snapshots))
	}
	for i, s := range x.Snapshots {
		if i%7 != len(v.rows)%7 { // each costs time
			continue
		}
		if diff := cmp.Diff(v.rows[s.ID], x.Rows(v.t, s.ID, "artifact", "load", "function")); diff != "" {
			v.t.Fatalf("snapshot %d (-want +got)\n%s", s.ID, diff)
		}
	}
	for id, files := range v.files {
		until, past := v.until[id]
		if past && v.now.Sub(until) >= defaultGrace {
			continue
		}
		for _, f := range files {
			if _, err := os.Stat(f); err != nil {
				v.t.Fatalf("a file of snapshot %d, which counted until %s: %v", id, until, err)
			}
		}
	}
}

// pyiceberg reads the rows that count, of tables with a history of deletes, merges and compactions.
func TestPublishOracle(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("the race detector sees nothing of other engines")
	}
	icebergtest.Folder(t)
	v := newVillage(t)
	v.live(rand.New(rand.NewPCG(9, 1)), 40)
	v.publish()
	counts := map[string]int{}
	for _, text := range icebergtest.Dump(t, "pyiceberg", v.dir) {
		var r struct{ Table, Artifact, Load, Function, Revision string }
		if err := json.Unmarshal([]byte(text), &r); err != nil {
			t.Fatal(err)
		}
		id, err := symbol.ParseID(r.Artifact)
		if err != nil {
			t.Fatal(err)
		}
		x := v.loads[id]
		if x == nil || r.Load != hex.EncodeToString(x.Load[:]) || r.Table == "ranges" && !slices.Contains(v.names[id], r.Function) {
			t.Errorf("a row that does not count: %s", text)
		}
		counts[r.Table]++
	}
	want := map[string]int{"artifacts": len(v.loads)}
	for id, x := range v.loads {
		want["ranges"] += len(v.names[id])
		want["names"] += len(x.Artifact.Names)
	}
	if diff := cmp.Diff(want, counts); diff != "" {
		t.Errorf("rows (-want +got)\n%s", diff)
	}
}

// DuckDB reads the same rows of a lake of an earlier version, joined with its table of live loads, and of the Iceberg tables
// that a compaction makes of it.
func TestTakeOverEngine(t *testing.T) {
	t.Parallel()
	icebergtest.Folder(t)
	b := buckettest.NewMemory()
	for n, functions := range [][]string{{"f"}, {"g", "h"}, {"i"}, {"j", "k"}} {
		x := loadNumber(n % 3) // the last one replaces the first
		x.Load[7] = byte(n)
		if _, err := write(t, memoryLake(t, b, sinks.LakePlain, nil), x, testRun(0, functions...)); err != nil {
			t.Fatal(err)
		}
	}
	old(t, b, sinks.LakePlain)
	dir := t.TempDir()
	for _, key := range b.Keys("") {
		if strings.HasPrefix(key, "iceberg/") {
			continue
		}
		at := filepath.Join(dir, filepath.FromSlash(key))
		if err := errors.Join(os.MkdirAll(filepath.Dir(at), 0o777), os.WriteFile(at, b.Get(key), 0o666)); err != nil {
			t.Fatal(err)
		}
	}
	query := `import duckdb, sys
for row in duckdb.sql(f"SELECT function FROM '{sys.argv[1]}/ranges/**/*.parquet' JOIN '{sys.argv[1]}/live/*.parquet' USING (artifact, load) ORDER BY ALL").fetchall():
    print(row[0])`
	out, err := icebergtest.Python(t, "duckdb", "-c", query, dir).Output()
	if err != nil {
		t.Fatal(err)
	}
	before := strings.Fields(string(out))
	done, err := testLake(t, dir, sinks.LakePlain).Compact(t.Context(), sinks.LakeCompact{TargetBytes: 1, Export: func(_ context.Context, id symbol.ID, b sinks.LakeBatch) (*sinks.LakeLoad, error) {
		return nil, errors.New("no row is to be rewritten")
	}})
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range done.Tables {
		if r.Err != nil {
			t.Error(r.Err)
		}
	}
	var after []string
	for _, text := range icebergtest.Dump(t, "duckdb", dir, "ICEBERG_TABLES=ranges") {
		var r struct{ Function string }
		if err := json.Unmarshal([]byte(text), &r); err != nil {
			t.Fatal(err)
		}
		after = append(after, r.Function)
	}
	slices.Sort(after)
	if want := []string{"g", "h", "i", "j", "k"}; !slices.Equal(before, want) || !slices.Equal(after, want) {
		t.Errorf("%q before, %q after, want %q", before, after, want)
	}
}

// The Iceberg tables show exactly the rows that count, after any writes, drops, new facts and compactions. A reader of a snapshot
// keeps its files for the grace.
func TestPublish(t *testing.T) {
	for seed := range uint64(2) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel()
			newVillage(t).live(rand.New(rand.NewPCG(seed, 1)), 60)
		})
	}
}

// live does some steps of writing, dropping, telling anew, compacting and publishing.
func (v *village) live(rnd *rand.Rand, steps int) {
	t := v.t
	for n := range steps {
		v.now = v.now.Add(time.Duration(rnd.IntN(120)) * time.Minute)
		switch k := rnd.IntN(12); {
		case k < 7:
			loads := map[*sinks.LakeLoad][]string{}
			for i := range 1 + rnd.IntN(4) {
				x := testLoad(byte(4*i + rnd.IntN(4)))
				x.Load = sinks.Load{1, 0, 0, 0, byte(n >> 8), byte(n), byte(i)}
				loads[x] = []string{fmt.Sprint("f", n), "g", "h"}[:1+rnd.IntN(3)]
			}
			v.write(loads)
		case k == 7 && len(v.loads) > 0:
			for id := range v.loads {
				if err := v.lake.Drop(t.Context(), []symbol.ID{id}); err != nil {
					t.Fatal(err)
				}
				delete(v.loads, id)
				break
			}
		case k == 8 && len(v.loads) > 0:
			for _, was := range v.loads {
				x := *was
				x.Artifact.Names = append(slices.Clone(x.Artifact.Names), symbol.Name{Kind: symbol.NameApp, Text: fmt.Sprint("shop@", n)})
				b, err := v.lake.Begin(t.Context())
				if err == nil {
					_, err = b.Commit(t.Context(), []*sinks.LakeLoad{&x})
				}
				if err != nil {
					t.Fatal(err)
				}
				v.loads[x.Artifact.ID] = &x
				break
			}
		case k == 9 && len(v.loads) > 0:
			v.compact()
		case k == 10:
			v.open() // another process
		}
		if len(v.loads) > 0 && rnd.IntN(3) > 0 {
			v.publish()
		}
	}
}
