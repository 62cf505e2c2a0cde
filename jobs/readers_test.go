package jobs

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/symlake/symlake/formats/formattest"
	"github.com/symlake/symlake/jobs/wire"
	"github.com/symlake/symlake/sinks/lake/journal"
)

// readersDir is the folder that testdata/lake/readers.sh fills: pyarrow, DuckDB, Polars and Spark.
func readersDir(t *testing.T) string {
	t.Helper()
	dir := os.Getenv("SYMLAKE_READERS")
	if _, err := os.Stat(filepath.Join(dir, ".versions")); dir == "" || err != nil {
		formattest.Missing(t, "a folder with pyarrow, DuckDB, Polars and Spark",
			"make readers makes it; then set SYMLAKE_READERS to it, as make test does")
	}
	return dir
}

// python is a script under the interpreter that has an engine.
func python(t *testing.T, engine string, args ...string) *exec.Cmd {
	t.Helper()
	dir, env := readersDir(t), "py"
	if engine == "spark" {
		env = "spark"
	}
	cmd := exec.Command(filepath.Join(dir, env, "bin", "python3"), args...)
	cmd.Dir = dir // where the mock of a key service lies
	// DuckDB writes its last profile as it ends, when the script has removed its own folder.
	cmd.Env = append(os.Environ(), "TMPDIR="+t.TempDir(), formattest.QuickJava(t, filepath.Join(dir, "spark", "classes.jsa")))
	return cmd
}

// dump is every row of a lake that counts, as an engine reads it, one record a line, sorted.
func dump(t *testing.T, engine, lake, keys string) (rows []string, err error) {
	t.Helper()
	args := []string{formattest.Testdata(t, "lake/dump.py"), engine, lake}
	if keys != "" {
		args = append(args, keys)
	}
	cmd := python(t, engine, args...)
	var out, errOut bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errOut
	if err := cmd.Run(); err != nil {
		return nil, fmt.Errorf("%w: %s", err, tail(errOut.String(), 600))
	}
	rows = strings.Split(strings.TrimSpace(out.String()), "\n")
	slices.Sort(rows)
	return rows, nil
}

func tail(s string, n int) string { return s[max(0, len(s)-n):] }

// lakeRow is a row of the table ranges as dump.py prints it.
type lakeRow struct {
	Table, Artifact, Load   string
	Start                   int64 `json:"range_start"`
	End                     int64 `json:"range_end"`
	Function, Linkage, File string
	Line, Col, Depth        int
	Inlines                 []struct {
		Function, Linkage, File string
		Line, Col               int
	}
}

func (r lakeRow) frames() string {
	s := fmt.Sprintf("%s %s %s:%d:%d\n", r.Function, r.Linkage, r.File, r.Line, r.Col)
	for _, f := range r.Inlines {
		s += fmt.Sprintf("%s %s %s:%d:%d\n", f.Function, f.Linkage, f.File, f.Line, f.Col)
	}
	return s
}

// Every engine reads the same rows of a plain and of a sealed lake, and they are what look-up answers at the first and
// last position of each range. A position in no range is a hole or outside.
func TestReaders(t *testing.T) {
	t.Parallel()
	readersDir(t)
	objects := formattest.Testdata(t, "elf")
	for _, c := range []struct {
		profile string
		engines []string
	}{{"plain", []string{"pyarrow", "duckdb", "polars", "spark"}}, {"sealed", []string{"pyarrow", "pyarrow-raw", "polars", "spark"}}} {
		t.Run(c.profile, func(t *testing.T) {
			t.Parallel()
			store := filepath.Join(t.TempDir(), "store")
			lake := filepath.Join(store, "lake")
			mustRun(t, []int{0, 3}, "--store", store, "--lake-profile", c.profile, "ingest", objects, "--names", "{app}/{build}/**")
			mustRun(t, []int{0}, "--store", store, "verify")
			keys := ""
			if c.profile == "sealed" {
				keys, _ = mustRun(t, []int{0}, "--store", store, "--json", "keys", "export", "--lake")
			}
			var first []string
			for _, engine := range c.engines {
				rows, err := dump(t, engine, lake, keys)
				if err != nil {
					t.Fatalf("%s: %v", engine, err)
				}
				if first == nil {
					first = rows
				} else if diff := cmp.Diff(first, rows); diff != "" {
					t.Errorf("%s reads other rows than %s (-%s +%s)\n%s", engine, c.engines[0], c.engines[0], engine, diff)
				}
			}
			compareWithLookup(t, store, first)
			if c.profile == "sealed" {
				refuses(t, c.engines, lake, keys)
			}
		})
	}
}

// compareWithLookup asks look-up for the places of every row.
func compareWithLookup(t *testing.T, store string, rows []string) {
	t.Helper()
	var ranges []lakeRow
	for _, line := range rows {
		var r lakeRow
		if err := json.Unmarshal([]byte(line), &r); err != nil {
			t.Fatal(err)
		}
		if r.Table == "ranges" {
			ranges = append(ranges, r)
		}
	}
	slices.SortFunc(ranges, func(a, b lakeRow) int {
		return cmpOr(strings.Compare(a.Artifact, b.Artifact), int(a.Start-b.Start))
	})
	names := map[string]string{} // artifact → a name that is its alone
	total := 0
	for _, a := range artifactsOf(t, store) {
		names[a.Artifact] = a.Names[0]
		total += int(a.Ranges)
	}
	if len(ranges) != total || total == 0 {
		t.Fatalf("%d rows, look-up has %d ranges", len(ranges), total)
	}
	var questions bytes.Buffer
	var want []string
	ask := func(r *lakeRow, pos int64, answer string) {
		fmt.Fprintf(&questions, "%s +%#x\n", names[r.Artifact], pos)
		want = append(want, answer)
	}
	for i := range ranges {
		r := &ranges[i]
		ask(r, r.Start, r.frames())
		ask(r, r.End-1, r.frames())
		if i+1 == len(ranges) || ranges[i+1].Artifact != r.Artifact || ranges[i+1].Start != r.End {
			ask(r, r.End, "none")
		}
	}
	cmd := symlake(t, "--store", store, "--json", "lookup", "--stdin")
	cmd.Stdin = &questions
	answers, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSpace(string(answers)), "\n")
	if len(lines) != len(want) {
		t.Fatalf("%d answers to %d questions", len(lines), len(want))
	}
	for i, line := range lines {
		var a wire.Answer
		if err := json.Unmarshal([]byte(line), &a); err != nil {
			t.Fatal(err)
		}
		got := "none"
		if a.Status == "found" {
			got = ""
			for _, f := range a.Frames {
				got += fmt.Sprintf("%s %s %s:%d:%d\n", f.Function, f.Linkage, f.File, f.Line, f.Column)
			}
		}
		if got != want[i] {
			t.Errorf("%s %s (-lake +lookup)\n%s", a.Artifact, a.Position, cmp.Diff(want[i], got))
		}
	}
}

func cmpOr(a, b int) int {
	if a != 0 {
		return a
	}
	return b
}

// refuses: with another master key, and with none, no engine reads a sealed lake.
func refuses(t *testing.T, engines []string, lake, keys string) {
	t.Helper()
	var e exportJSON
	if err := json.Unmarshal([]byte(keys), &e); err != nil {
		t.Fatal(err)
	}
	for id := range e.Keys {
		e.Keys[id] = base64.StdEncoding.EncodeToString(bytes.Repeat([]byte{7}, 32))
	}
	wrong, err := json.Marshal(e)
	if err != nil {
		t.Fatal(err)
	}
	for _, engine := range engines {
		if rows, err := dump(t, engine, lake, string(wrong)); err == nil {
			t.Errorf("%s reads %d rows under a wrong key", engine, len(rows))
		}
	}
	for _, engine := range []string{"pyarrow", "polars", "duckdb"} {
		if rows, err := dump(t, engine, lake, ""); err == nil {
			t.Errorf("%s reads %d rows without a key", engine, len(rows))
		}
	}
}

// A sealed file under the name of another file of the lake is refused by every engine, and so is a log with an entry less.
func TestReadersSwapped(t *testing.T) {
	t.Parallel()
	readersDir(t)
	store := filepath.Join(t.TempDir(), "store")
	for _, name := range []string{"libgame-arm64-dw5.so", "libgame-x64-dw5.so", "libgame-x86-dw4.so"} {
		mustRun(t, []int{0}, "--store", store, "ingest", formattest.Testdata(t, "elf/"+name))
	}
	lake := filepath.Join(store, "lake")
	keys, _ := mustRun(t, []int{0}, "--store", store, "--json", "keys", "export", "--lake")
	if _, err := dump(t, "pyarrow", lake, keys); err != nil { // TestReaders reads with all
		t.Fatal(err)
	}
	files, err := filepath.Glob(filepath.Join(lake, "ranges/*/*/*.parquet"))
	if err != nil || len(files) != 3 {
		t.Fatal(files, err)
	}
	rename := func(from, to string) {
		t.Helper()
		if err := os.Rename(from, to); err != nil {
			t.Fatal(err)
		}
	}
	swap := func() {
		rename(files[0], files[0]+".other")
		rename(files[1], files[0])
		rename(files[0]+".other", files[1])
	}
	swap()
	for _, engine := range []string{"pyarrow", "pyarrow-raw", "polars", "spark"} {
		if rows, err := dump(t, engine, lake, keys); err == nil {
			t.Errorf("%s reads %d rows of swapped files", engine, len(rows))
		}
	}
	swap()
	entry := filepath.Join(lake, filepath.FromSlash(journal.EntryKey(2)))
	rename(entry, entry+".gone")
	if rows, err := dump(t, "pyarrow", lake, keys); err == nil {
		t.Errorf("pyarrow reads %d rows of a log with an entry less", len(rows))
	}
	mustRun(t, []int{1}, "--store", store, "verify")
	mustRun(t, []int{1}, "--store", store, "ingest", formattest.Testdata(t, "elf/libgame-x86-dw4.so"))
}

// A flipped bit in any module of a sealed file is refused.
func TestReadersFlippedBit(t *testing.T) {
	t.Parallel()
	readersDir(t)
	store := filepath.Join(t.TempDir(), "store")
	mustRun(t, []int{0}, "--store", store, "ingest", formattest.Testdata(t, "elf/libgame-arm64-dw5.so"))
	keys, _ := mustRun(t, []int{0}, "--store", store, "--json", "keys", "export", "--lake")
	files, err := filepath.Glob(filepath.Join(store, "lake/ranges/*/*/*.parquet"))
	if err != nil || len(files) != 1 {
		t.Fatal(files, err)
	}
	for _, engine := range []string{"pyarrow", "polars"} {
		out, err := python(t, engine, formattest.Testdata(t, "lake/flip.py"), engine, files[0], keys).CombinedOutput()
		if err != nil {
			t.Errorf("%s: %v\n%s", engine, err, tail(string(out), 600))
		}
		n, _ := strconv.Atoi(strings.TrimSpace(string(out)))
		if n < 300 {
			t.Errorf("%s: %d bits were tried: %s", engine, n, out)
		}
	}
}

// The scripts that keys export prints run as printed, and print the functions that look-up's answers make the largest: ranges of
// scripts, of 4 GiB some, are none of them. A script takes no more processor time than a program that reads every row several times.
func TestSnippets(t *testing.T) {
	t.Parallel()
	dir := readersDir(t)
	store := filepath.Join(t.TempDir(), "store")
	mustRun(t, []int{0, 3}, "--store", store, "ingest", formattest.Testdata(t, "elf"), formattest.Testdata(t, "js"))
	keys, _ := mustRun(t, []int{0}, "--store", store, "--json", "keys", "export", "--lake")
	all := python(t, "pyarrow", formattest.Testdata(t, "lake/dump.py"), "pyarrow", filepath.Join(store, "lake"), keys)
	rows, err := all.Output()
	if err != nil {
		t.Fatalf("%v\n%s", err, stderrOf(err))
	}
	want := largestFunctions(t, store, string(rows))
	for _, engine := range []string{"pyarrow", "polars", "duckdb", "spark"} {
		script, _ := mustRun(t, []int{0}, "--store", store, "keys", "export", "--lake", "--for", engine)
		file := filepath.Join(t.TempDir(), "read_sealed.py")
		if err := os.WriteFile(file, []byte(script), 0o600); err != nil {
			t.Fatal(err)
		}
		cmd := python(t, engine, file)
		cmd.Dir = dir
		text, err := cmd.CombinedOutput()
		out := string(text)
		if err != nil {
			t.Errorf("%s: %v\n%s", engine, err, tail(out, 1500))
			continue
		}
		for _, words := range want {
			if engine == "pyarrow" { // it prints sizes alone
				words = words[:2]
			}
			if !printed(out, words) {
				t.Errorf("%s does not print %q, as look-up has it:\n%s", engine, words, tail(out, 1500))
			}
		}
		// Spark works in a process of its own, which the script does not wait for.
		t.Logf("%s took %s of processor time, reading all rows %s", engine, processorTime(cmd), processorTime(all))
		if took, budget := processorTime(cmd), 5*processorTime(all); engine != "spark" && took > budget {
			t.Errorf("%s took %s of processor time, five times what reading all rows takes is %s", engine, took, budget)
		}
	}
}

// processorTime is what a child took that has ended, with the children that it waited for.
func processorTime(cmd *exec.Cmd) time.Duration {
	return cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
}

// printed reports whether a line has the begin of a function's name, which engines cut, and numbers behind or before it.
func printed(out string, words []string) bool {
	for line := range strings.Lines(out) {
		name := words[0][:min(len(words[0]), 20)]
		numbers := strings.FieldsFunc(strings.Replace(line, name, " ", 1), func(r rune) bool { return r < '0' || r > '9' })
		at := slices.Index(numbers, words[1])
		if strings.Contains(line, name) && at >= 0 && (len(words) == 2 || slices.Equal(numbers[len(numbers)-len(words)+1:], words[1:])) {
			return true
		}
	}
	return false
}

// largestFunctions returns the five functions of most bytes of code: name, bytes, ranges and frames of the deepest place, as look-up
// answers at the ranges of the rows that dump.py prints.
func largestFunctions(t *testing.T, store, rows string) (all [][]string) {
	t.Helper()
	kinds := map[string]string{}
	for _, a := range artifactsOf(t, store) {
		kinds[a.Artifact] = string(a.Kind)
	}
	var code [][]any
	for line := range strings.Lines(rows) {
		var r lakeRow
		if err := json.Unmarshal([]byte(line), &r); err != nil {
			t.Fatal(err)
		}
		if r.Table == "ranges" && kinds[r.Artifact] != "sourcemap" {
			code = append(code, []any{r.Artifact, float64(r.Start), float64(r.End - 1)})
		}
	}
	_, answers := lookUpCode(t, store, code)
	functions, deepest := sizes{}, map[string]int{}
	for i, a := range answers {
		name := a.Frames[0].Function
		functions.add(name, a.Artifact, int64(code[i][2].(float64)-code[i][1].(float64))+1)
		deepest[name] = max(deepest[name], len(a.Frames))
	}
	for _, name := range functions.largest(5, func(x *size) int64 { return x.bytes }) {
		x := functions[name]
		all = append(all, []string{name, fmt.Sprint(x.bytes), fmt.Sprint(x.ranges), fmt.Sprint(deepest[name])})
	}
	return all
}

// stderrOf is what a child that failed had to say.
func stderrOf(err error) string {
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		return tail(string(exit.Stderr), 1500)
	}
	return ""
}
