package jobs

import (
	"encoding/csv"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

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
	} {
		list += fmt.Sprintf("%d,%s,%d\n", i, f.name, f.address)
		asked = append(asked, [2]string{f.name, f.at})
	}
	if err := os.WriteFile(frames, []byte(list), 0o644); err != nil {
		t.Fatal(err)
	}
	answers := map[string]map[string][][]any{}
	for _, engine := range []string{"duckdb", "spark"} {
		cmd := python(t, engine, formattest.Testdata(t, "lake/queries.py"), engine, lake, filepath.Join(formattest.Root(), "jobs/queries"), frames)
		out, err := cmd.Output()
		if err != nil {
			t.Fatalf("%s: %v\n%s", engine, err, stderrOf(err))
		}
		var a map[string][][]any
		if err := json.Unmarshal(out, &a); err != nil {
			t.Fatalf("%s: %v: %s", engine, err, out)
		}
		answers[engine] = a
	}
	if diff := cmp.Diff(answers["duckdb"], answers["spark"]); diff != "" {
		t.Errorf("Spark answers otherwise (-duckdb +spark)\n%s", diff)
	}
	if n := len(answers["duckdb"]["coverage"]); n != 3 {
		t.Errorf("%d artifacts, want 3", n)
	}
	if big := answers["duckdb"]["biggest_functions"]; len(big) == 0 || big[0][0] != "compute(game::Engine&, int)" || big[0][1] != 276.0 {
		t.Errorf("biggest functions: %v", big) // 276: twice as many would be rows of the replaced loads, too
	}
	for _, q := range []string{"changed", "inline_hot_spots"} {
		if len(answers["duckdb"][q]) == 0 {
			t.Errorf("%s: no rows", q)
		}
	}
	out, err := python(t, "polars", filepath.Join(formattest.Root(), "jobs/queries/frames_polars.py"), lake, frames).Output()
	if err != nil {
		t.Fatalf("polars: %v\n%s", err, stderrOf(err))
	}
	polars, err := csv.NewReader(strings.NewReader(string(out))).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	for i, f := range asked {
		text, _ := mustRun(t, []int{0}, "--store", store, "--json", "lookup", f[0], f[1])
		var a wire.Answer
		if err := json.Unmarshal([]byte(text), &a); err != nil {
			t.Fatal(err)
		}
		want := "- - - - " + string(a.Status)
		if a.Status == "found" {
			want = fmt.Sprintf("%s %s %d %d found", a.Frames[0].Function, a.Frames[0].File, a.Frames[0].Line, len(a.Frames))
		}
		got := []string{"-", "-", "-", "-", "-"}
		for k, v := range answers["duckdb"]["frames"][i][4:] {
			if v != nil {
				got[k] = fmt.Sprint(v)
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
