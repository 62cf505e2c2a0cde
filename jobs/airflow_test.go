package jobs

import (
	"bytes"
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	_ "modernc.org/sqlite"

	"github.com/symlake/symlake/formats/formattest"
	"github.com/symlake/symlake/ingest"
)

// airflow is one version of Airflow with a database of its own, and objects to ingest.
type airflow struct {
	t       *testing.T
	bin     string
	env     []string
	home    string
	objects string
	store   string
	runs    int
}

func newAirflow(t *testing.T, major string) *airflow {
	t.Helper()
	bin, err := filepath.Abs(filepath.Join(os.Getenv("SYMLAKE_AIRFLOW"), major, "bin"))
	if _, serr := os.Stat(filepath.Join(bin, "airflow")); err != nil || serr != nil || os.Getenv("SYMLAKE_AIRFLOW") == "" {
		formattest.Missing(t, "Airflow "+major, "make airflow installs it; then set SYMLAKE_AIRFLOW to its folder, as make test does")
	}
	dags, err := filepath.Abs("airflow")
	if err != nil {
		t.Fatal(err)
	}
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	a := &airflow{t: t, bin: bin, home: t.TempDir(), objects: t.TempDir(), store: filepath.Join(t.TempDir(), "store")}
	config := filepath.Join(t.TempDir(), "symlake.yaml")
	text := fmt.Sprintf("sources: [{url: %s}]\nstore: %s\nlimits: {workers: 1}\n", a.objects, a.store)
	if err := os.WriteFile(config, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	a.env = append(os.Environ(), asProgram+"=1", "SYMLAKE_BIN="+program, "SYMLAKE_CONFIG="+config, "SYMLAKE_RETRIES=0", "SYMLAKE_SHARDS=3",
		"AIRFLOW_HOME="+a.home, "AIRFLOW__CORE__DAGS_FOLDER="+dags, "AIRFLOW__CORE__LOAD_EXAMPLES=False", "PYTHONDONTWRITEBYTECODE=1",
		"PATH="+bin+string(os.PathListSeparator)+os.Getenv("PATH"))
	a.command(0, "db", "migrate")
	if out := a.command(0, "dags", "list-import-errors"); !strings.Contains(out, "No data found") {
		t.Fatalf("the file has import errors:\n%s", out)
	}
	return a
}

// command runs the command line of Airflow and wants an exit code.
func (a *airflow) command(code int, args ...string) string {
	a.t.Helper()
	cmd := exec.Command(filepath.Join(a.bin, "airflow"), args...)
	cmd.Env = a.env
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	cmd.Run()
	if got := cmd.ProcessState.ExitCode(); got != code {
		a.t.Fatalf("airflow %v: exit code %d, want %d\n%s", args, got, code, tail(out.String(), 6000))
	}
	return out.String()
}

// put gives the source an object.
func (a *airflow) put(name string, content []byte) {
	a.t.Helper()
	if err := os.WriteFile(filepath.Join(a.objects, name), content, 0o600); err != nil {
		a.t.Fatal(err)
	}
}

// states are those of the tasks of the newest run, mapped ones by their index.
func (a *airflow) states() (states map[string]string, summed map[string]any) {
	a.t.Helper()
	db, err := sql.Open("sqlite", "file:"+filepath.Join(a.home, "airflow.db")+"?mode=ro")
	if err != nil {
		a.t.Fatal(err)
	}
	defer db.Close()
	ctx := context.Background()
	var run string
	if err := db.QueryRowContext(ctx, "SELECT run_id FROM dag_run ORDER BY id DESC LIMIT 1").Scan(&run); err != nil {
		a.t.Fatal(err)
	}
	rows, err := db.QueryContext(ctx, "SELECT task_id, map_index, state FROM task_instance WHERE run_id = ?", run)
	if err != nil {
		a.t.Fatal(err)
	}
	defer rows.Close()
	states = map[string]string{}
	for rows.Next() {
		var task string
		var at int
		var state sql.NullString
		if err := rows.Scan(&task, &at, &state); err != nil {
			a.t.Fatal(err)
		}
		if at >= 0 {
			task = fmt.Sprintf("%s %d", task, at)
		}
		states[task] = state.String
	}
	if err := rows.Err(); err != nil {
		a.t.Fatal(err)
	}
	var value []byte
	err = db.QueryRowContext(ctx, "SELECT value FROM xcom WHERE run_id = ? AND task_id = 'report' AND key = 'return_value'", run).Scan(&value)
	if err == nil {
		var inner string
		if json.Unmarshal(value, &inner) == nil { // Airflow 3 keeps JSON in a string
			value = []byte(inner)
		}
		err = json.Unmarshal(value, &summed)
	}
	if err != nil && err != sql.ErrNoRows {
		a.t.Fatal(err)
	}
	return states, summed
}

// run runs the DAG and wants an exit code and states of its tasks, those of the shards sorted.
func (a *airflow) run(code int, shards, rest string) (summed map[string]any) {
	a.t.Helper()
	a.runs++ // of one day they would be one run
	out := a.command(code, "dags", "test", "symlake_ingest", fmt.Sprintf("2026-01-%02d", a.runs))
	states, summed := a.states()
	var mapped []string
	for task, state := range states {
		if strings.HasPrefix(task, "ingest ") {
			mapped = append(mapped, state)
		}
	}
	slices.Sort(mapped)
	got := fmt.Sprintf("report %s, publish %s, rejected %s", states["report"], states["publish"], states["rejected"])
	if strings.Join(mapped, " ") != shards || got != rest {
		a.t.Fatalf("shards %v, want %s; %s; want %s\n%s", mapped, shards, got, rest, tail(out, 6000))
	}
	return summed
}

// wantShards are the states of three shards, sorted, when these objects are new.
func wantShards(keys ...string) string {
	states := []string{"skipped", "skipped", "skipped"}
	for _, k := range keys {
		states[ingest.ShardOf(k, len(states))] = "success"
	}
	slices.Sort(states)
	return strings.Join(states, " ")
}

// The DAG as a real Airflow runs it: what is new is loaded by shards and told, an empty shard is skipped, rejected
// objects fail the run when all else is done, a store out of reach fails it at once, and each can be run again.
func TestAirflow(t *testing.T) {
	object := func(name string) []byte {
		text, err := os.ReadFile(formattest.Testdata(t, filepath.Join("elf", name)))
		if err != nil {
			t.Fatal(err)
		}
		return text
	}
	for _, major := range []string{"3", "2"} {
		t.Run(major, func(t *testing.T) {
			t.Parallel()
			a := newAirflow(t, major)

			a.put("a.so", object("libgame-arm64-dw5.so"))
			a.put("b.so", object("libgame-x64-dw5.so"))
			a.put("c.so", object("libgame-x86-dw4.so"))
			if summed := a.run(0, wantShards("a.so", "b.so", "c.so"), "report success, publish success, rejected success"); summed["loaded"] != 3.0 || summed["rejected"] != 0.0 {
				t.Errorf("summed %v", summed)
			}
			if out, _ := mustRun(t, []int{0}, "--store", a.store, "lookup", "a.so", "0x4748"); !strings.Contains(out, "engine.cpp") {
				t.Errorf("looked up: %s", out)
			}

			// Nothing new: everything is skipped.
			a.run(0, "skipped skipped skipped", "report skipped, publish skipped, rejected skipped")

			// A broken object beside a good one: loaded, told, and then the run fails.
			broken := bytes.Clone(object("libgame-x64-dw5.so"))
			clear(broken[0x20:0x28])
			a.put("broken.so", append(broken[:0x1000], 1))
			a.put("d.so", object("libgame-armv7-dw4.so"))
			if summed := a.run(1, wantShards("broken.so", "d.so"), "report success, publish success, rejected failed"); summed["loaded"] != 1.0 || summed["rejected"] != 1.0 {
				t.Errorf("summed %v", summed)
			}

			// A store that is out of reach.
			if err := os.Rename(filepath.Join(a.store, "keyset.json"), filepath.Join(a.store, "gone")); err != nil {
				t.Fatal(err)
			}
			a.run(1, "failed failed failed", "report upstream_failed, publish upstream_failed, rejected upstream_failed")
		})
	}
}
