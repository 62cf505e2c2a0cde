package jobs

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/symlake/symlake/formats/formattest"
)

// perfettoTables makes the tables of a trace processor in SQLite, runs the recipe in it, and writes its rows as Parquet. Then it
// prints how many hundreds of steps SQLite takes for 1,000 samples, and for twice as many of twice as many call sites.
const perfettoTables = `
import sqlite3, duckdb, json, sys
recipe, out = sys.argv[1:3]
con = sqlite3.connect(":memory:")
con.executescript("""
CREATE TABLE perf_sample(id, ts, utid, callsite_id);
CREATE TABLE stack_profile_callsite(id, depth, parent_id, frame_id);
CREATE TABLE stack_profile_frame(id, name, mapping, rel_pc);
CREATE TABLE stack_profile_mapping(id, build_id, name);
CREATE TABLE thread(utid, tid, name, upid);
CREATE TABLE process(upid, name);
INSERT INTO stack_profile_mapping VALUES (0, '564bb6c8be48eea9d9db622b8689806eea5af3c7', '/data/app/libgame.so'), (1, 'c0ffee', '/system/lib64/libother.so');
INSERT INTO stack_profile_frame VALUES (0, '', 0, 18092), (1, '', 0, 18248), (2, 'known', 1, 16);
INSERT INTO stack_profile_callsite VALUES (0, 0, NULL, 2), (1, 1, 0, 0), (2, 2, 1, 1);
INSERT INTO perf_sample VALUES (0, 100, 7, 2), (1, 200, 7, 1), (2, 300, 8, NULL);
INSERT INTO thread VALUES (7, 71, 'render', 3);
INSERT INTO process VALUES (3, 'game');
""")
cur = con.execute(open(recipe).read())
names = [d[0] for d in cur.description]
rows = cur.fetchall()
def steps(n):
    con.execute("DELETE FROM perf_sample")
    con.execute("DELETE FROM stack_profile_callsite")
    con.executemany("INSERT INTO stack_profile_callsite VALUES (?, 0, ?, ?)", [(i, i - 1 if i % 4 else None, i % 3) for i in range(n)])
    con.executemany("INSERT INTO perf_sample VALUES (?, ?, 7, ?)", [(i, i, i) for i in range(n)])
    count = []
    con.set_progress_handler(lambda: count.append(1), 100)
    con.execute(open(recipe).read()).fetchall()
    con.set_progress_handler(None, 0)
    return len(count)
print(json.dumps([steps(1000), steps(2000)]))
db = duckdb.connect()
db.execute("CREATE TABLE samples (" + ", ".join(f'"{n}" ' + ("BIGINT" if isinstance(v, int) else "VARCHAR") for n, v in zip(names, rows[0])) + ")")
db.executemany("INSERT INTO samples VALUES (" + ", ".join("?" * len(names)) + ")", rows)
db.execute(f"COPY samples TO '{out}' (FORMAT parquet)")
`

// functionsOf runs the recipe of functions over frames in DuckDB. It prints the answer, and how many rows all operators make of
// ten and of twenty times as many samples.
const functionsOf = `
import duckdb, json, os, sys, tempfile
frames, functions, place = sys.argv[1:4]
db = duckdb.connect()
if frames.endswith(".sql"):
    db.execute(open(frames).read().replace("samples.ndjson", place))
else:
    db.execute(f"CREATE VIEW frames AS SELECT * FROM read_parquet('{place}')")
answer = db.execute(open(functions).read()).fetchall()
def made(times):
    db.execute(f"CREATE OR REPLACE TABLE many AS SELECT * REPLACE (sample::VARCHAR || '.' || n AS sample) FROM frames, range({times}) r(n)")
    with tempfile.TemporaryDirectory(prefix="symlake-") as folder:
        db.execute("SET enable_profiling = 'json'")
        db.execute(f"SET profiling_output = '{folder}/profile.json'")
        db.execute(open(functions).read().replace("FROM frames", "FROM many")).fetchall()
        db.execute("SET enable_profiling = 'no_output'")
        todo, rows = list(json.load(open(folder + "/profile.json"))["operator"]), 0
        while todo:
            o = todo.pop()
            rows += o["intermediate_rows"]
            todo += o.get("children", [])
        return rows
print(json.dumps([answer, made(10), made(20)]))
`

// Samples of Perfetto's tables are answered in Parquet, and samples of a profile are a table in DuckDB: the recipes of
// the documents run.
func TestProfileTables(t *testing.T) {
	t.Parallel()
	readersDir(t)
	dir := t.TempDir()
	recipe := func(name string) string { return filepath.Join(formattest.Root(), "jobs/queries", name) }
	run := func(script string, args ...string) string {
		t.Helper()
		out, err := python(t, "duckdb", append([]string{"-c", script}, args...)...).Output()
		if err != nil {
			t.Fatalf("%v\n%s", err, stderrOf(err))
		}
		return strings.TrimSpace(string(out))
	}
	want := func(what, got, want string) {
		t.Helper()
		var told [3]json.RawMessage
		var made [2]int
		if err := errors.Join(json.Unmarshal([]byte(got), &told), json.Unmarshal(told[1], &made[0]), json.Unmarshal(told[2], &made[1])); err != nil {
			t.Fatalf("%s: %v: %s", what, err, got)
		}
		if string(told[0]) != want {
			t.Errorf("%s: functions are %s, want %s", what, told[0], want)
		}
		if made[0] == 0 || made[1] > 2*made[0] {
			t.Errorf("%s: of so many samples it makes %d rows, of twice as many %d", what, made[0], made[1])
		}
	}

	raw, out := filepath.Join(dir, "raw"), filepath.Join(dir, "out")
	if err := os.Mkdir(raw, 0o755); err != nil {
		t.Fatal(err)
	}
	var steps []float64
	if err := json.Unmarshal([]byte(run(perfettoTables, recipe("perfetto_samples.sql"), filepath.Join(raw, "trace.parquet"))), &steps); err != nil {
		t.Fatal(err)
	}
	if len(steps) != 2 || steps[0] == 0 || steps[1] > 2.5*steps[0] {
		t.Errorf("hundreds of steps for a trace, and for one twice as large: %v", steps)
	}
	store := ingested(t, "elf/libgame-arm64-dw5.so")
	mustRun(t, []int{0}, "--store", store, "symbolicate", "--input", raw, "--output", out)
	want("Perfetto", run(functionsOf, "frames", recipe("sample_functions.sql"), filepath.Join(out, "trace.parquet")),
		`[["game::Engine::step(int)", 1, 2], ["game::dot(game::Vec3 const&, game::Vec3 const&)", 1, 1]]`)

	profile, records := filepath.Join(dir, "game.trace"), filepath.Join(dir, "samples.ndjson")
	if err := os.WriteFile(profile, gameProfile(), 0o600); err != nil {
		t.Fatal(err)
	}
	mustRun(t, []int{0}, "--store", store, "symbolicate", "--output", records, profile)
	want("records", run(functionsOf, recipe("sample_frames.sql"), recipe("sample_functions.sql"), records),
		`[["game::Engine::step(int)", 1, 2], ["game::dot(game::Vec3 const&, game::Vec3 const&)", 1, 1], ["game::Engine::energy(game::Vec3 const*, int) const", 0, 1], ["libother.so+0x10", 0, 1]]`)
}
