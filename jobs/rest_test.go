package jobs

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/symlake/symlake/formats/formattest"
	"github.com/symlake/symlake/sinks/bucket/s3/s3test"
	"github.com/symlake/symlake/sinks/group"
)

const (
	restGolden   = "elf/libgame-arm64-dw5.so.golden.json"
	restArtifact = "564bb6c8be48eea9d9db622b8689806eea5af3c7"
)

// restLine is a function of an answer at rest.
type restLine struct {
	Function, File string
	Line, Col      int
	Frame          int
	Status         string
}

// restRow is a row as rows.py prints it.
type restRow struct {
	ID             int64
	File           string `json:"file_name"`
	Function       string
	Source         string
	Line, Col      int
	Status         string
	Reason, Group  *string
	Inlines, Chain []restLine
	Raw            string
}

// restMake makes tables of raw frames and stacks, and a store that has their artifact.
func restMake(t *testing.T) (store, raw string) {
	t.Helper()
	store, raw = filepath.Join(t.TempDir(), "store"), filepath.Join(t.TempDir(), "raw")
	mustRun(t, []int{0}, "--store", store, "ingest", formattest.Testdata(t, "elf/libgame-arm64-dw5.so"))
	restPython(t, "make", raw, restArtifact, formattest.Testdata(t, restGolden))
	return store, raw
}

func restPython(t *testing.T, args ...string) []byte {
	t.Helper()
	cmd := python(t, "pyarrow", append([]string{formattest.Testdata(t, "rest/rows.py")}, args...)...)
	var out, errOut bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errOut
	if err := cmd.Run(); err != nil {
		t.Fatalf("rows.py %s: %v: %s", args[0], err, tail(errOut.String(), 1500))
	}
	return out.Bytes()
}

// restRows reads the outputs with pyarrow and DuckDB.
func restRows(t *testing.T, raw, out string, keys ...string) (rows []restRow) {
	t.Helper()
	for line := range bytes.Lines(restPython(t, append([]string{"read", raw, out}, keys...)...)) {
		var r restRow
		if err := json.Unmarshal(line, &r); err != nil {
			t.Fatal(err)
		}
		rows = append(rows, r)
	}
	return rows
}

// restReport runs symbolicate --input.
func restReport(t *testing.T, codes []int, args ...string) (r restSummary) {
	t.Helper()
	out, _ := mustRun(t, codes, append(args, "--report", "-")...)
	if err := json.Unmarshal([]byte(out), &r); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	return r
}

type restSummary struct {
	Files    struct{ Seen, Done, Skipped, Written, Rejected, Failed int }
	Rows     uint64
	Distinct uint64
	Statuses map[string]uint64
	Groups   int `json:"group_version"`
	Again    uint64
	Bytes    struct{ Spilled int64 }
	Rejected []struct{ URL, Error string }
}

// Every shape and type of table that pyarrow and DuckDB write comes out with the answers that llvm-symbolizer gave, as
// both of them read it, and with its own columns as they were.
func TestRest(t *testing.T) {
	readersDir(t)
	store, raw := restMake(t)
	golden := restAnswers(t)
	for _, profile := range []string{"", "sealed"} {
		t.Run("profile "+profile, func(t *testing.T) {
			out := filepath.Join(t.TempDir(), "out")
			args := []string{"--store", store, "symbolicate", "--input", raw, "--output", out}
			var keys []string
			if profile != "" {
				args = append(args, "--output-profile", profile)
				exported, _ := mustRun(t, []int{0}, "--store", store, "--json", "keys", "export", "--lake")
				keys = []string{exported}
			}
			report := restReport(t, []int{0}, args...)
			if report.Files.Written != 11 || report.Again != 0 {
				t.Errorf("report %+v", report)
			}
			compareRest(t, restRows(t, raw, out, keys...), golden)
			if profile == "" {
				text, err := os.ReadFile(filepath.Join(out, "flat.parquet"))
				if err != nil {
					t.Fatal(err)
				}
				if report.Groups != group.Version || !bytes.Contains(text, []byte("symlake.group_version")) {
					t.Errorf("the rule of groups is %d in the report, or is not in the file", report.Groups)
				}
				return
			}
			// A sealed output is read again, stays sealed, and its added columns give way to new ones.
			twice := filepath.Join(t.TempDir(), "twice")
			restReport(t, []int{0}, "--store", store, "symbolicate", "--input", out, "--output", twice)
			compareRest(t, restRows(t, raw, twice, keys...), golden)
			for _, name := range []string{"flat.parquet", "stack.parquet"} {
				text, err := os.ReadFile(filepath.Join(twice, name))
				if err != nil {
					t.Fatal(err)
				}
				if bytes.Contains(text, []byte("engine.cpp")) || !bytes.HasSuffix(text, []byte("PARE")) {
					t.Errorf("%s is not sealed", name)
				}
			}
		})
	}
}

// restAnswers are the golden's answers by address.
func restAnswers(t *testing.T) map[uint64][]restLine {
	t.Helper()
	text, err := os.ReadFile(formattest.Testdata(t, restGolden))
	if err != nil {
		t.Fatal(err)
	}
	var g struct {
		Cases []struct {
			Addr   string
			Frames []struct {
				Demangled, Linkage, File string
				Line, Column             int
			}
		}
	}
	if err := json.Unmarshal(text, &g); err != nil {
		t.Fatal(err)
	}
	all := map[uint64][]restLine{}
	for _, c := range g.Cases {
		var at uint64
		if _, err := fmt.Sscanf(c.Addr, "0x%x", &at); err != nil {
			t.Fatal(err)
		}
		lines := []restLine{}
		for _, f := range c.Frames {
			name := f.Demangled
			if name == "" {
				name = f.Linkage
			}
			lines = append(lines, restLine{Function: name, File: f.File, Line: f.Line, Col: f.Column})
		}
		all[at] = lines
	}
	return all
}

// compareRest holds rows against the golden.
func compareRest(t *testing.T, rows []restRow, golden map[uint64][]restLine) {
	t.Helper()
	if want := 11 * len(golden); len(rows) != want {
		t.Errorf("%d rows, want %d", len(rows), want)
	}
	found := 0
	for _, r := range rows {
		for _, one := range restAddresses(t, r) {
			want := golden[one.at]
			var got []restLine
			if r.Chain == nil {
				if r.Status == "found" {
					got = append([]restLine{{Function: r.Function, File: r.Source, Line: r.Line, Col: r.Col}}, r.Inlines...)
				}
			} else {
				for _, l := range r.Chain {
					if l.Frame == one.frame && l.Status == "found" {
						got = append(got, restLine{Function: l.Function, File: l.File, Line: l.Line, Col: l.Col})
					}
				}
			}
			if !slices.Equal(got, want) {
				t.Errorf("%s, row %d, frame %d at %#x: %v, want %v", r.File, r.ID, one.frame, one.at, got, want)
			}
			found += len(got)
		}
		if (r.Status == "found") != (r.Reason == nil) || r.Status == "found" && r.Group == nil {
			t.Errorf("%s, row %d: status %s, reason %v, group %v", r.File, r.ID, r.Status, r.Reason, r.Group)
		}
	}
	if found < 1000 {
		t.Errorf("%d functions were compared", found)
	}
}

type restFrame struct {
	frame int
	at    uint64
}

// restAddresses are the addresses of a row, from its raw form.
func restAddresses(t *testing.T, r restRow) (all []restFrame) {
	t.Helper()
	var v any
	dec := json.NewDecoder(strings.NewReader(r.Raw))
	dec.UseNumber()
	if err := dec.Decode(&v); err != nil {
		t.Fatal(err)
	}
	add := func(s string) {
		var at uint64
		if _, err := fmt.Sscan(s, &at); err != nil {
			t.Fatalf("%s: %v", s, err)
		}
		all = append(all, restFrame{len(all), at})
	}
	switch v := v.(type) {
	case []any:
		for _, x := range v {
			if pair, ok := x.(map[string]any); ok {
				x = pair["address"]
			}
			add(fmt.Sprint(x))
		}
	case string:
		if !strings.Contains(v, "\n") {
			add(v)
			break
		}
		for line := range strings.Lines(v) {
			if name, at, ok := strings.Cut(strings.TrimSpace(line), " "); ok && name == restArtifact {
				add(at)
			}
		}
	default:
		add(fmt.Sprint(v))
	}
	return all
}

// Killed anywhere, a run that is started again ends with the same files as an undisturbed run.
func TestRestKill(t *testing.T) {
	t.Parallel()
	store, raw := filepath.Join(t.TempDir(), "store"), t.TempDir()
	mustRun(t, []int{0}, "--store", store, "--lake", "off", "ingest", formattest.Testdata(t, "elf/libgame-arm64-dw5.so"))
	rng := rand.New(rand.NewPCG(1, 1))
	for i := range 8 {
		var b bytes.Buffer
		for n := range 20_000 {
			fmt.Fprintf(&b, `{"id":%d,"artifact":"%s","address":%d,"frame0":"stepped"}`+"\n", n, restArtifact, 0x4000+rng.IntN(0x1000))
		}
		if err := os.WriteFile(filepath.Join(raw, fmt.Sprintf("%d.ndjson", i)), b.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	run := func(out string) []string {
		return []string{"--store", store, "symbolicate", "--input", raw + "/*.ndjson", "--output", out}
	}
	clean := filepath.Join(t.TempDir(), "clean")
	start := time.Now()
	restReport(t, []int{0}, run(clean)...)
	whole := time.Since(start)
	want := folder(t, clean)
	if len(want) != 8 {
		t.Fatalf("%d files", len(want))
	}
	for i := range 5 {
		out := filepath.Join(t.TempDir(), "out")
		cmd := symlake(t, run(out)...)
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		after := time.Duration(rng.Int64N(int64(whole)))
		killAfter(cmd, after)
		report := restReport(t, []int{0}, run(out)...)
		if report.Files.Done+report.Files.Written != 8 {
			t.Errorf("point %d: %+v", i, report.Files)
		}
		got := folder(t, out)
		for name, text := range want {
			if got[name] != text {
				t.Errorf("point %d, killed after %v: %s differs", i, after, name)
			}
		}
		if report := restReport(t, []int{0}, run(out)...); report.Files.Done != 8 || report.Files.Written != 0 {
			t.Errorf("point %d: another run: %+v", i, report.Files)
		}
	}
}

// folder is the files of a folder that are no writer's leftovers.
func folder(t *testing.T, dir string) map[string]string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]string{}
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), ".") {
			continue
		}
		text, err := os.ReadFile(filepath.Join(dir, e.Name()))
		if err != nil {
			t.Fatal(err)
		}
		all[e.Name()] = string(text)
	}
	return all
}

// Symbols that come late: the rows that wait for them are named by their status, and a run over the output, with --force,
// answers them.
func TestRestBackfill(t *testing.T) {
	store, raw, out := filepath.Join(t.TempDir(), "store"), t.TempDir(), filepath.Join(t.TempDir(), "out")
	mustRun(t, []int{0}, "--store", store, "ingest", formattest.Testdata(t, "elf/libgame-x86-dw4.so"))
	line := fmt.Sprintf(`{"artifact":"%s","address":"0x46e6","frame0":"stepped"}`+"\n", restArtifact)
	if err := os.WriteFile(filepath.Join(raw, "a.ndjson"), []byte(line), 0o644); err != nil {
		t.Fatal(err)
	}
	first := restReport(t, []int{0}, "--store", store, "symbolicate", "--input", raw, "--output", out)
	if first.Again != 1 || first.Statuses["no-artifact"] != 1 || !strings.Contains(folder(t, out)["a.ndjson"], `"group":null`) {
		t.Errorf("first run: %+v\n%s", first, folder(t, out)["a.ndjson"])
	}
	mustRun(t, []int{0}, "--store", store, "ingest", formattest.Testdata(t, "elf/libgame-arm64-dw5.so"))
	if again := restReport(t, []int{0}, "--store", store, "symbolicate", "--input", raw, "--output", out); again.Files.Done != 1 {
		t.Errorf("without --force: %+v", again)
	}
	late := filepath.Join(t.TempDir(), "late")
	second := restReport(t, []int{0}, "--store", store, "symbolicate", "--input", out, "--output", late)
	if second.Again != 0 || second.Statuses["found"] != 1 || strings.Count(folder(t, late)["a.ndjson"], `"function"`) != 1 {
		t.Errorf("over the output: %+v\n%s", second, folder(t, late)["a.ndjson"])
	}
	restReport(t, []int{0}, "--store", store, "symbolicate", "--input", raw, "--output", out, "--force")
	if folder(t, out)["a.ndjson"] != folder(t, late)["a.ndjson"] {
		t.Errorf("over the input: %s\nover the output: %s", folder(t, out)["a.ndjson"], folder(t, late)["a.ndjson"])
	}
}

// A broken file is rejected with its reason and stops no other; a broken row says so in its place.
func TestRestBad(t *testing.T) {
	t.Parallel()
	store, raw, out := filepath.Join(t.TempDir(), "store"), t.TempDir(), filepath.Join(t.TempDir(), "out")
	mustRun(t, []int{0}, "--store", store, "ingest", formattest.Testdata(t, "elf/libgame-arm64-dw5.so"))
	deep := strings.Repeat("[", 9000) + strings.Repeat("]", 9000)
	long := strings.Repeat(restArtifact+` 0x46e6\n`, 1_000_000)
	for name, text := range map[string]string{
		"short.parquet":  "PAR1",
		"tail.parquet":   "PAR1" + strings.Repeat("x", 100) + "\xff\xff\xff\x7fPAR1",
		"none.ndjson":    "",
		"taken.ndjson":   `{"artifact":"a","address":1,"status":"mine"}` + "\n",
		"rows.ndjson":    "{\n\x00\n[]\n\"x\"\nnull\n" + `{"address":-1}` + "\n" + `{"artifact":{},"address":[]}` + "\n" + `{"artifact":"` + restArtifact + `","address":18446744073709551615,"deep":` + deep + "}\n\n" + `{"artifact":"` + restArtifact + `","address":1e9}` + "\r\n" + `{"artifact":"` + restArtifact + `","address":"0x46e6","frame0":"sometimes"}` + "\n" + `{"address":1,"address":"+0x46e6","artifact":"` + restArtifact + `","frame0":"stepped"}`,
		"long.ndjson":    `{"id":1,"stack":"` + long + `","frame0":"stepped"}` + "\n" + `{"stack":"no frame"}` + "\n" + `{"stack":null}` + "\n",
		"broken.json.gz": "x",
		"cut.ndjson.gz":  "\x1f\x8b\x08\x00",
	} {
		if err := os.WriteFile(filepath.Join(raw, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	report := restReport(t, []int{3}, "--store", store, "symbolicate", "--input", raw, "--output", out)
	if report.Files.Seen != 8 || report.Files.Written != 3 || report.Files.Rejected != 4 || report.Files.Skipped != 1 {
		t.Errorf("%+v", report)
	}
	got := folder(t, out)
	if len(got) != 3 {
		t.Errorf("%d outputs", len(got))
	}
	lines := strings.Split(got["rows.ndjson"], "\n")
	var statuses []string
	for _, line := range lines {
		if line == "" {
			statuses = append(statuses, "")
			continue
		}
		var r struct{ Status, Reason string }
		if err := json.Unmarshal([]byte(line), &r); err != nil {
			t.Errorf("%.100s: %v", line, err)
		}
		statuses = append(statuses, r.Status)
	}
	want := []string{"invalid", "invalid", "invalid", "invalid", "invalid", "invalid", "invalid", "outside", "", "outside", "invalid", "found"}
	if !slices.Equal(statuses, want) {
		t.Errorf("statuses %q, want %q", statuses, want)
	}
	var r struct {
		Chain  []restLine
		Status string
	}
	first, rest, _ := strings.Cut(got["long.ndjson"], "\n")
	if err := json.Unmarshal([]byte(first), &r); err != nil || r.Status != "found" || r.Chain[len(r.Chain)-1].Frame != 999_999 {
		t.Errorf("a stack of a million frames: %v, status %s, %d functions", err, r.Status, len(r.Chain))
	}
	if strings.Count(rest, `"status":"invalid","reason":"no line of the text is a frame"`) != 1 || strings.Count(rest, `"status":"invalid","reason":"the row has no stack"`) != 1 {
		t.Errorf("stacks without frames: %s", rest)
	}
}

// From S3 to S3, by shards.
func TestRestS3(t *testing.T) {
	server := s3test.Start(t)
	server.Make(t, "crashes")
	store := filepath.Join(t.TempDir(), "store")
	mustRun(t, []int{0}, "--store", store, "ingest", formattest.Testdata(t, "elf/libgame-arm64-dw5.so"))
	line := fmt.Sprintf(`{"artifact":"%s","address":"0x46e6","frame0":"stepped"}`+"\n", restArtifact)
	for i := range 12 {
		server.Put(t, "crashes", fmt.Sprintf("raw/day=%d/a.ndjson", i), []byte(line), nil)
	}
	server.Put(t, "crashes", "raw/_SUCCESS", nil, nil)
	run := func(more ...string) restSummary {
		return restReport(t, []int{0}, append([]string{"--store", store, "symbolicate", "--input", "s3://crashes/raw/**/*.ndjson", "--output", "s3://crashes/out",
			"--endpoint", server.Endpoint, "--region", s3test.Region, "--path-style"}, more...)...)
	}
	one, two := run("--shard", "0/2"), run("--shard", "1/2")
	if one.Files.Written+two.Files.Written != 12 || one.Files.Written == 0 || two.Files.Written == 0 {
		t.Errorf("shards wrote %d and %d files", one.Files.Written, two.Files.Written)
	}
	if all := run(); all.Files.Done != 12 || all.Files.Written != 0 {
		t.Errorf("a run over everything: %+v", all.Files)
	}
	if again := run("--force"); again.Files.Written != 12 || again.Statuses["found"] != 12 {
		t.Errorf("--force: %+v", again)
	}
}
