package jobs

import (
	"cmp"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/symlake/symlake/formats/formattest"
	"github.com/symlake/symlake/jobs/wire"
)

// The queries of jobs/queries answer alike in every engine, and frames joined with ranges are what look-up answers,
// also while the lake holds rows that no longer count.
func TestQueries(t *testing.T) {
	t.Parallel()
	readersDir(t)
	dir := t.TempDir()
	store, lake, objects := filepath.Join(dir, "store"), filepath.Join(dir, "store/lake"), filepath.Join(dir, "objects")
	for build, name := range map[string]string{"41": "libgame-arm64-dw5.so", "42": "libgame-x64-dw5.so"} {
		text, err := os.ReadFile(formattest.Testdata(t, "elf/"+name))
		if err != nil {
			t.Fatal(err)
		}
		if err := os.MkdirAll(filepath.Join(objects, "shop", build), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(objects, "shop", build, name), text, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	ingest := []string{"--store", store, "--lake-profile", "plain", "ingest", objects, "--names", "{app}/{build}/**"}
	for _, name := range []string{"app.min.js", "app.min.js.map"} {
		text, err := os.ReadFile(formattest.Testdata(t, "js/"+name))
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(objects, name), text, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	// A range mapping that goes on to the end of its script, and a script with a segment.
	for name, text := range map[string]string{
		"range.js.map":   `{"version":3,"sources":["range.js"],"names":[],"mappings":"EACE","rangeMappings":"A"}`,
		"segment.js.map": `{"version":3,"sources":["main.js"],"names":[],"mappings":"AAAA","x_facebook_segments":{"1":{"version":3,"sources":["later.js"],"names":[],"mappings":"AAEA"}}}`,
	} {
		if err := os.WriteFile(filepath.Join(objects, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	mustRun(t, []int{0}, ingest...)
	mustRun(t, []int{0}, append(ingest, "--force")...) // every row twice, each under a load of its own

	frames := filepath.Join(dir, "frames.csv")
	list := "frame,name,address\n"
	var asked [][2]string
	for i, f := range []struct {
		name, at string
		address  uint64
	}{
		{"564BB6C8BE48EEA9D9DB622B8689806EEA5AF3C7", "0x4748", 0x4748}, {"shop@42", "0x4726", 0x4726}, {"shop@42", "0x1", 1}, {"shop@41", "0x47d4", 0x47d4},
		{"libgame-x64-dw5.so", "0x47a0", 0x47a0}, {"app.min.js.map", "1:100000", 99999}, {"app.min.js.map", "2:1", 1 << 32}, // ranges of 4 GiB
		{"shop@43", "0x4726", 0x4726}, {"shop@42", "0x7fffffff0000", 0x7fffffff0000},
		{"range.js.map", "1:1867686263", 1867686263}, {"range.js.map", "8:5", 7<<32 | 5}, {"range.js.map", "1:1", 1},
		{"segment.js.map", "1:4", 4}, {"segment.js.map", "16777217:4", 1<<56 | 4}, {"segment.js.map", "33554433:4", 2<<56 | 4},
	} {
		list += fmt.Sprintf("%d,%s,%d\n", i, f.name, f.address)
		asked = append(asked, [2]string{f.name, f.at})
	}
	if err := os.WriteFile(frames, []byte(list), 0o644); err != nil {
		t.Fatal(err)
	}
	answers, work := map[string]map[string][][]any{}, map[string]map[string]queryWork{}
	for _, engine := range []string{"duckdb", "spark"} {
		cmd := python(t, engine, formattest.Testdata(t, "lake/queries.py"), engine, lake, filepath.Join(formattest.Root(), "jobs/queries"), frames)
		out, err := cmd.Output()
		if err != nil {
			t.Fatalf("%s: %v\n%s", engine, err, stderrOf(err))
		}
		var parts map[string]json.RawMessage
		if err := json.Unmarshal(out, &parts); err != nil {
			t.Fatalf("%s: %v: %s", engine, err, out)
		}
		a := map[string][][]any{}
		for name, part := range parts {
			var rows [][]any
			var done map[string]queryWork
			to := any(&rows)
			if name == "work" {
				to = &done
			}
			if err := json.Unmarshal(part, to); err != nil {
				t.Fatalf("%s: %s: %v: %s", engine, name, err, part)
			}
			if name == "work" {
				work[engine] = done
			} else {
				a[name] = rows
			}
		}
		answers[engine] = a
	}
	boundWork(t, work["duckdb"])
	boundPlans(t, work["spark"])
	code := answers["duckdb"]["code"]
	delete(answers["duckdb"], "code")
	compareQueries(t, store, code, answers["duckdb"])
	if diff := gocmp.Diff(answers["duckdb"], answers["spark"]); diff != "" {
		t.Errorf("Spark answers otherwise (-duckdb +spark)\n%s", diff)
	}
	if n := len(answers["duckdb"]["coverage"]); n != 5 {
		t.Errorf("%d artifacts, want 5", n)
	}
	for _, row := range answers["duckdb"]["coverage"] {
		if script := strings.HasSuffix(fmt.Sprint(row[1]), ".js"); script != (row[5] == nil) {
			t.Errorf("coverage of %v: shares of bytes are for code alone", row)
		}
	}
	if big := answers["duckdb"]["biggest_functions"]; len(big) == 0 || big[0][0] != "compute(game::Engine&, int)" || big[0][1] != 276.0 {
		t.Errorf("biggest functions: %v", big) // 276: twice as many would be rows of the replaced loads, too
	}
	for _, q := range []string{"changed", "inline_hot_spots"} {
		if len(answers["duckdb"][q]) == 0 {
			t.Errorf("%s: no rows", q)
		}
	}
	polars := framesPolars(t, lake, frames, len(asked))
	for i, f := range asked {
		text, _ := mustRun(t, []int{0}, "--store", store, "--json", "lookup", f[0], f[1])
		var a wire.Answer
		if err := json.Unmarshal([]byte(text), &a); err != nil {
			t.Fatal(err)
		}
		want := "- - - - - " + string(a.Status)
		if a.Status == "found" {
			want = fmt.Sprintf("%s %s %d %d %d found", cmp.Or(a.Frames[0].Function, "-"), a.Frames[0].File, a.Frames[0].Line, a.Frames[0].Column, len(a.Frames))
		}
		got := []string{"-", "-", "-", "-", "-", "-"}
		for k, v := range answers["duckdb"]["frames"][i][4:] {
			switch v := v.(type) {
			case nil:
			case float64:
				got[k] = fmt.Sprint(int64(v))
			default:
				got[k] = cmp.Or(fmt.Sprint(v), "-")
			}
		}
		if s := strings.Join(got, " "); s != want {
			t.Errorf("%v: DuckDB has %s, look-up %s", f, s, want)
		}
		for k, v := range polars[i+1][4:] {
			if got[k] = v; v == "" {
				got[k] = "-"
			}
		}
		if s := strings.Join(got, " "); s != want {
			t.Errorf("%v: Polars has %s, look-up %s", f, s, want)
		}
	}
}

// framesPolars returns what frames_polars.py answers to n frames. The same frames 2,000 times have the same answers, and take no more
// processor time than it takes to read, sort and write them several times.
func framesPolars(t *testing.T, lake, frames string, n int) [][]string {
	t.Helper()
	script := filepath.Join(formattest.Root(), "jobs/queries/frames_polars.py")
	answer := func(args ...string) ([][]string, time.Duration) {
		t.Helper()
		cmd := python(t, "polars", args...)
		out, err := cmd.Output()
		if err != nil {
			t.Fatalf("polars: %v\n%s", err, stderrOf(err))
		}
		rows, err := csv.NewReader(strings.NewReader(string(out))).ReadAll()
		if err != nil {
			t.Fatal(err)
		}
		return rows, processorTime(cmd)
	}
	few, _ := answer(script, lake, frames)
	text, err := os.ReadFile(frames)
	if err != nil {
		t.Fatal(err)
	}
	const times = 2000
	head, list, _ := strings.Cut(string(text), "\n")
	many := filepath.Join(t.TempDir(), "many.csv")
	var b strings.Builder
	b.WriteString(head + "\n")
	for i := range times {
		at := 0
		for line := range strings.Lines(list) {
			_, rest, _ := strings.Cut(line, ",")
			fmt.Fprintf(&b, "%d,%s", at*times+i, rest)
			at++
		}
	}
	if err := os.WriteFile(many, []byte(b.String()), 0o644); err != nil {
		t.Fatal(err)
	}
	_, bare := answer("-c", `import polars as pl, sys
print(pl.scan_csv(sys.argv[1]).with_columns(pl.col("name").str.to_lowercase()).sort("address").collect().sort("frame").write_csv(), end="")`, many)
	all, took := answer(script, lake, many)
	if len(few) != 1+n || len(all) != 1+n*times {
		t.Fatalf("polars: %d answers to %d frames, %d to %d", len(few)-1, n, len(all)-1, n*times)
	}
	for i, row := range all[1:] {
		if want := few[1+i/times]; !slices.Equal(row[1:], want[1:]) {
			t.Fatalf("polars: %q in a long list, %q in a short one", row, want)
		}
	}
	t.Logf("polars: %d frames took %s of processor time, reading and sorting them %s", n*times, took, bare)
	if took > 6*bare {
		t.Errorf("polars: %d frames took %s of processor time, six times what reading and sorting them takes is %s", n*times, took, 6*bare)
	}
	return few
}

// queryWork is what an engine did for a query.
type queryWork struct {
	Rows      int // of the tables, and frames
	Operators []string
	Made      int // rows, by all operators of DuckDB
	Scanned   int // rows of tables that DuckDB read
	Reads     int // of all ranges, by Spark
}

// boundPlans holds every query to a plan of Spark that reads ranges once, or twice at most, and multiplies no tables. Nested loops
// are there: the views compare paths of files with few that the log names.
func boundPlans(t *testing.T, work map[string]queryWork) {
	t.Helper()
	joins := 0
	for name, w := range work {
		for _, o := range w.Operators {
			if strings.Contains(o, "Cartesian") {
				t.Errorf("%s: Spark compares all rows with all: %v", name, w.Operators)
			}
		}
		joins += len(w.Operators)
		if w.Reads > 2 || w.Reads == 0 && name != "coverage" {
			t.Errorf("%s: Spark reads ranges %d times", name, w.Reads)
		}
	}
	if len(work) < 5 || joins == 0 {
		t.Errorf("plans of %d queries with %d joins", len(work), joins)
	}
}

// boundWork holds every query to work that grows with the rows of its tables: it reads each at most twice, each row passes a
// bounded number of operators, and none compares all rows of one side with all of the other.
func boundWork(t *testing.T, work map[string]queryWork) {
	t.Helper()
	rows := work[""].Rows
	for name, w := range work {
		if name == "" {
			continue
		}
		for _, o := range w.Operators {
			if strings.Contains(o, "NESTED_LOOP") || strings.Contains(o, "BLOCKWISE") || strings.Contains(o, "CROSS_PRODUCT") {
				t.Errorf("%s: DuckDB compares all rows with all: %v", name, w.Operators)
			}
		}
		if small := 1000; w.Scanned > 2*rows+small || w.Made > 20*rows+small {
			t.Errorf("%s reads %d rows and makes %d, of tables with %d", name, w.Scanned, w.Made, rows)
		}
	}
	if len(work) < 6 || rows == 0 {
		t.Errorf("work of %d queries over %d rows", len(work), rows)
	}
}
