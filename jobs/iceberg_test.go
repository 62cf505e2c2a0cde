package jobs

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/symlake/symlake/formats/formattest"
	lakedoc "github.com/symlake/symlake/sinks/lake"
	"github.com/symlake/symlake/sinks/lake/iceberg/icebergtest"
)

// icebergLake makes a plain lake with replaced, dropped and renamed rows, and returns its store.
func icebergLake(t *testing.T, set ...string) string {
	t.Helper()
	store := filepath.Join(t.TempDir(), "store")
	with := func(codes []int, args ...string) {
		args = append([]string{"--store", store, "--lake-profile", "plain"}, args...)
		for _, s := range set {
			args = append(args, "--set", s)
		}
		mustRun(t, codes, args...)
	}
	with([]int{0, 3}, "ingest", formattest.Testdata(t, "elf"), "--names", "{app}/{build}/**")
	with([]int{0, 3}, "ingest", formattest.Testdata(t, "r8"), formattest.Testdata(t, "js"))
	with([]int{0, 3}, "ingest", "--force", formattest.Testdata(t, "elf/libgame-arm64-dw5.so"))
	with([]int{0}, "forget", "libgame-x64-dw5.so", "--yes")
	return store
}

// Every engine reads from the Iceberg tables exactly the rows that count, with nothing of ours between, before and after a
// compaction, from the folder of the lake and from a REST catalog.
func TestIceberg(t *testing.T) {
	t.Parallel()
	icebergtest.Folder(t)
	for _, place := range []string{"files", "rest"} {
		t.Run(place, func(t *testing.T) {
			t.Parallel()
			var set, env []string
			if place == "rest" {
				url := icebergtest.Catalog(t)
				set = []string{"lake.catalog=" + url, "lake.catalog_namespace=mobile"}
				env = []string{"ICEBERG_REST=" + url, "ICEBERG_NAMESPACE=mobile"}
			}
			store := icebergLake(t, set...)
			lake := filepath.Join(store, "lake")
			var outs []outTable
			var lakes, deltas []string
			if place == "rest" { // the one that Spark reads
				outs = outTables(t)
				for _, out := range outs {
					lakes = append(lakes, out.lake)
				}
				for _, out := range deltaOuts(t) {
					outs, deltas = append(outs, out), append(deltas, out.lake)
				}
			}
			for _, step := range []string{"with deletes", "compacted"} {
				want, err := dump(t, "pyarrow", lake, "")
				if err != nil {
					t.Fatal(err)
				}
				engines := icebergtest.Engines()
				switch {
				case step == "compacted":
					engines = engines[:1]
				case place == "files": // TestIcebergReadme reads them with Spark
					engines = slices.DeleteFunc(engines, func(e string) bool { return e == "spark" })
				}
				for _, engine := range engines {
					got := icebergtest.Dump(t, engine, lake, append(env, "ICEBERG_STACKS="+strings.Join(lakes, ":"), "DELTA_TABLES="+strings.Join(deltas, ":"))...)
					if engine == "spark" {
						got = takeOut(t, got, outs)
					}
					if diff := cmp.Diff(want, got); diff != "" {
						t.Errorf("%s: %s (-what counts +got)\n%s", step, engine, diff)
					}
				}
				args := []string{"--store", store, "compact"}
				for _, s := range set {
					args = append(args, "--set", s)
				}
				mustRun(t, []int{0}, args...)
			}
		})
	}
}

// takeOut checks the rows of output tables that an engine read beside a lake, and returns the other rows.
func takeOut(t *testing.T, lines []string, outs []outTable) (others []string) {
	t.Helper()
	of := map[string][]string{}
	for _, line := range lines {
		var r struct{ Table string }
		if err := json.Unmarshal([]byte(line), &r); err != nil {
			t.Fatalf("%v: %s", err, line)
		}
		if filepath.IsAbs(r.Table) {
			of[r.Table] = append(of[r.Table], line)
		} else {
			others = append(others, line)
		}
	}
	for _, out := range outs {
		checkOut(t, "spark, "+out.input, of[out.lake], out.want)
	}
	return others
}

// A catalog that is down fails no ingest: status and the report name the tables that are behind, and the next run brings them up.
func TestCatalogDown(t *testing.T) {
	t.Parallel()
	down := true
	inner := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if down {
			w.WriteHeader(http.StatusServiceUnavailable)
			return
		}
		http.Error(w, `{"error":{"message":"no such table","type":"NoSuchTableException","code":404}}`, http.StatusNotFound)
	}))
	t.Cleanup(inner.Close)
	store := filepath.Join(t.TempDir(), "store")
	args := []string{"--store", store, "--lake-profile", "plain", "--set", "lake.catalog=" + inner.URL}
	out, stderr := mustRun(t, []int{0}, append(args, "ingest", formattest.Testdata(t, "elf/libgame-arm64-dw5.so"), "--report", "-")...)
	var r struct {
		Artifacts    int
		TablesBehind []struct{ URL, Error string } `json:"tables_behind"`
	}
	if err := json.Unmarshal([]byte(out), &r); err != nil {
		t.Fatal(err)
	}
	if r.Artifacts != 1 || len(r.TablesBehind) != 4 || !strings.Contains(r.TablesBehind[0].Error, "503") {
		t.Errorf("the report: %+v", r)
	}
	if !strings.Contains(stderr, "behind: Iceberg table ranges: ") {
		t.Errorf("standard error: %s", stderr)
	}
	if out, _ := mustRun(t, []int{0}, append(args, "status")...); strings.Count(out, "is behind, at log 0 of 1: ") != 4 {
		t.Errorf("status: %s", out)
	}
	mustRun(t, []int{1}, append(args, "lake", "publish")...)
	mustRun(t, []int{0}, append(args, "compact")...)
	// The lake's own folder is a catalog that is there.
	here := args[:4]
	if out, _ := mustRun(t, []int{0}, append(here, "lake", "publish", "--dry-run")...); strings.Count(out, "is behind") != 4 {
		t.Errorf("a dry run: %s", out)
	}
	// The next run brings them up, though it finds nothing new.
	mustRun(t, []int{0}, append(here, "ingest", formattest.Testdata(t, "elf/libgame-arm64-dw5.so"))...)
	if out, _ := mustRun(t, []int{0}, append(here, "lake", "publish")...); strings.Contains(out, "behind") {
		t.Errorf("lake publish: %s", out)
	}
	if out, _ := mustRun(t, []int{0}, append(here, "status")...); strings.Contains(out, "behind") || !strings.Contains(out, "table      ranges shows log ") {
		t.Errorf("status: %s", out)
	}
	x := icebergtest.Open(t, filepath.Join(store, "lake"), "artifacts")
	if rows := x.Rows(t, x.Current, "artifact"); len(rows) != 1 {
		t.Errorf("rows %q", rows)
	}
}

// A sealed lake has no Iceberg tables. If a plain one becomes sealed, its tables become empty.
func TestSealedHasNoTables(t *testing.T) {
	t.Parallel()
	store := filepath.Join(t.TempDir(), "store")
	mustRun(t, []int{0}, "--store", store, "ingest", formattest.Testdata(t, "elf/libgame-arm64-dw5.so"))
	if _, err := os.Stat(filepath.Join(store, "lake/iceberg")); err == nil {
		t.Error("a sealed lake has a folder of Iceberg tables")
	}
	if _, stderr := mustRun(t, []int{2}, "--store", store, "lake", "publish"); !strings.Contains(stderr, "sealed") {
		t.Errorf("lake publish: %s", stderr)
	}
	mustRun(t, []int{0}, "--store", store, "compact", "--lake-profile", "plain")
	lake := filepath.Join(store, "lake")
	x := icebergtest.Open(t, lake, "ranges")
	if rows := x.Rows(t, x.Current, "artifact"); len(rows) == 0 {
		t.Error("the plain lake's table is empty")
	}
	mustRun(t, []int{0}, "--store", store, "compact", "--lake-profile", "sealed")
	x = icebergtest.Open(t, lake, "ranges")
	if rows := x.Rows(t, x.Current, "artifact"); len(rows) > 0 {
		t.Errorf("the sealed lake's table has %d rows", len(rows))
	}
	for _, args := range [][]string{{"--set", "lake.catalog=off", "lake", "publish"}, {"--set", "lake.catalog=ftp://x", "compact"}, {"--set", "lake.catalog_token=t", "compact"}} {
		mustRun(t, []int{2}, append([]string{"--store", store}, args...)...)
	}
}

// The lines of the lake's README read the tables as printed.
func TestIcebergReadme(t *testing.T) {
	t.Parallel()
	icebergtest.Folder(t)
	lake := filepath.Join(icebergLake(t), "lake")
	var want string
	for _, engine := range []string{"pyiceberg", "polars", "duckdb", "spark"} {
		begins := map[string]string{"pyiceberg": "from pyiceberg", "polars": "import polars", "duckdb": "import duckdb", "spark": "from pyspark"}[engine]
		_, block, ok := strings.Cut(lakedoc.README, "```text\n"+begins)
		block, _, closed := strings.Cut(begins+block, "```")
		if !ok || !closed {
			t.Fatalf("the README has no lines for %s", engine)
		}
		block = strings.ReplaceAll(block, "LAKE", lake)
		if engine == "duckdb" { // the extension is no download here
			block = strings.ReplaceAll(block, `duckdb.execute("LOAD iceberg")`, `import glob, sys
for x in ["avro", "iceberg"]:
    for p in sys.path:
        for f in glob.glob(f"{p}/duckdb_extension_{x}/extensions/*/*.duckdb_extension"):
            duckdb.execute(f"LOAD '{f}'")`)
		}
		if engine == "spark" {
			jars, err := filepath.Glob(filepath.Join(icebergtest.Folder(t), "jars/iceberg-spark-runtime-*.jar"))
			if err != nil || len(jars) != 1 {
				t.Fatal(jars, err)
			}
			block = strings.ReplaceAll(block, "SparkSession.builder.", fmt.Sprintf("SparkSession.builder.master('local[2]').config('spark.ui.enabled', 'false').config('spark.jars', %q).", jars[0]))
		}
		script := filepath.Join(t.TempDir(), "read.py")
		if err := os.WriteFile(script, []byte(block), 0o666); err != nil {
			t.Fatal(err)
		}
		out, err := icebergtest.Python(t, engine, script).Output()
		if err != nil {
			t.Fatalf("%s: %v\n%s\n%s", engine, err, stderrOf(err), block)
		}
		got := strings.TrimSpace(string(out))
		if want == "" {
			want = got
		}
		if n, err := strconv.Atoi(got); err != nil || n == 0 || got != want {
			t.Errorf("%s counts %q, want %q", engine, got, want)
		}
	}
}
