package jobs

import (
	"bufio"
	"bytes"
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"

	_ "modernc.org/sqlite"

	"github.com/symlake/symlake/formats/formattest"
	"github.com/symlake/symlake/ingest/report"
)

// airflow is one version of Airflow with a database of its own, and objects to ingest.
type airflow struct {
	t       *testing.T
	env     []string
	in      io.Writer     // of testdata/airflow/commands.py
	answers *bufio.Reader // exit codes
	home    string
	objects string
	store   string
	dir     string // of the program and its configuration
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
	a := &airflow{t: t, home: t.TempDir(), objects: t.TempDir(), store: filepath.Join(t.TempDir(), "store"), dir: t.TempDir()}
	a.configure("")
	// While the file is there, the program takes one object in its first two tries, and fails.
	script := fmt.Sprintf("#!/bin/sh\ncase $1-$(wc -c < %[2]s/tries) in ingest-0|ingest-1)\n  printf x >> %[2]s/tries\n  %[1]s \"$@\" --limit 1\n  exit 1;;\nesac\nexec %[1]s \"$@\"\n", program, a.dir)
	if err := os.WriteFile(filepath.Join(a.dir, "symlake"), []byte(script), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(a.dir, "tries"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	a.env = append(os.Environ(), asProgram+"=1", "SYMLAKE_BIN="+filepath.Join(a.dir, "symlake"), "SYMLAKE_CONFIG="+filepath.Join(a.dir, "symlake.yaml"),
		"SYMLAKE_RETRIES=2", "SYMLAKE_RETRY_DELAY=0", "SYMLAKE_SHARDS=3", "AWS_MAX_ATTEMPTS=1", "AWS_EC2_METADATA_DISABLED=true",
		"AIRFLOW_HOME="+a.home, "AIRFLOW__OPENLINEAGE__DISABLED=True", "AIRFLOW__CORE__DAGS_FOLDER="+dags, "AIRFLOW__CORE__LOAD_EXAMPLES=False", "PYTHONDONTWRITEBYTECODE=1",
		"PATH="+bin+string(os.PathListSeparator)+os.Getenv("PATH"))
	a.start(filepath.Join(bin, "python"))
	a.command(0, "db", "migrate")
	a.command(0, "dags", "reserialize") // an asset is known before its first event
	if out := a.command(0, "dags", "list-import-errors"); !strings.Contains(out, "No data found") {
		t.Fatalf("the file has import errors:\n%s", out)
	}
	return a
}

// start starts the process that runs commands until the test ends.
func (a *airflow) start(python string) {
	a.t.Helper()
	cmd := exec.Command(python, formattest.Testdata(a.t, "airflow/commands.py"))
	cmd.Env = a.env
	in, err := cmd.StdinPipe()
	if err != nil {
		a.t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		a.t.Fatal(err)
	}
	var said bytes.Buffer
	cmd.Stderr = &said
	if err := cmd.Start(); err != nil {
		a.t.Fatal(err)
	}
	a.in, a.answers = in, bufio.NewReader(out)
	a.t.Cleanup(func() {
		in.Close() // it ends with its input
		if err := cmd.Wait(); err != nil {
			a.t.Errorf("commands.py: %v\n%s", err, tail(said.String(), 6000))
		}
	})
}

// command runs the command line of Airflow and wants an exit code.
func (a *airflow) command(code int, args ...string) string {
	a.t.Helper()
	env := map[string]string{}
	for _, pair := range a.env {
		name, value, _ := strings.Cut(pair, "=")
		env[name] = value
	}
	file := filepath.Join(a.dir, "out")
	question, err := json.Marshal(map[string]any{"args": args, "env": env, "out": file})
	if err != nil {
		a.t.Fatal(err)
	}
	if _, err := a.in.Write(append(question, '\n')); err != nil {
		a.t.Fatal(err)
	}
	answer, err := a.answers.ReadString('\n')
	if err != nil {
		a.t.Fatalf("airflow %v: %v", args, err)
	}
	out, err := os.ReadFile(file)
	if err != nil {
		a.t.Fatal(err)
	}
	if got := strings.TrimSpace(answer); got != strconv.Itoa(code) {
		a.t.Fatalf("airflow %v: exit code %s, want %d\n%s", args, got, code, tail(string(out), 6000))
	}
	return string(out)
}

// put gives the source an object.
func (a *airflow) put(name string, content []byte) {
	a.t.Helper()
	if err := os.WriteFile(filepath.Join(a.objects, name), content, 0o600); err != nil {
		a.t.Fatal(err)
	}
}

// configure writes the configuration, with more sources than the folder.
func (a *airflow) configure(sources string) {
	a.t.Helper()
	text := fmt.Sprintf("sources: [{url: %s}%s]\nstore: %s\nlimits: {workers: 1}\n", a.objects, sources, a.store)
	if err := os.WriteFile(filepath.Join(a.dir, "symlake.yaml"), []byte(text), 0o600); err != nil {
		a.t.Fatal(err)
	}
}

// ran is what the database of Airflow says of a run of the DAG.
type ran struct {
	states map[string]string // of its tasks, mapped ones by their index
	tries  map[string]int    // of its tasks
	report summary           // what its report told; zero: it told nothing
	event  summary           // what its asset event carries; zero: there is none
}

// summary is what XCom keeps of a report.
type summary struct {
	Runs      []string
	Loaded    int
	Rejected  int
	Artifacts int
	IDs       []string `json:"artifact_ids"`
	Ranges    int
	Stored    int
	Wanted    []report.WantedName
	Reasons   []report.Rejection
	Errors    []string
}

// newest reads the newest run.
func (a *airflow) newest() *ran {
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
	rows, err := db.QueryContext(ctx, "SELECT task_id, map_index, state, try_number FROM task_instance WHERE run_id = ?", run)
	if err != nil {
		a.t.Fatal(err)
	}
	defer rows.Close()
	r := &ran{states: map[string]string{}, tries: map[string]int{}}
	for rows.Next() {
		var task string
		var at, tries int
		var state sql.NullString
		if err := rows.Scan(&task, &at, &state, &tries); err != nil {
			a.t.Fatal(err)
		}
		if at >= 0 {
			task = fmt.Sprintf("%s %d", task, at)
		}
		r.states[task], r.tries[task] = state.String, tries
	}
	if err := rows.Err(); err != nil {
		a.t.Fatal(err)
	}
	scan := func(to *summary, query string) {
		var value []byte
		err := db.QueryRowContext(ctx, query, run).Scan(&value)
		if err == sql.ErrNoRows {
			return
		}
		if err == nil {
			var inner string
			if json.Unmarshal(value, &inner) == nil { // Airflow 3 keeps JSON in a string
				value = []byte(inner)
			}
			err = json.Unmarshal(value, to)
		}
		if err != nil {
			a.t.Fatalf("%s: %v", query, err)
		}
	}
	scan(&r.report, "SELECT value FROM xcom WHERE run_id = ? AND task_id = 'report' AND key = 'return_value'")
	events := "asset_event"
	if _, err := db.ExecContext(ctx, "SELECT 1 FROM asset_event LIMIT 1"); err != nil {
		events = "dataset_event"
	}
	scan(&r.event, "SELECT extra FROM "+events+" WHERE source_run_id = ?")
	return r
}

// run runs the DAG and wants an exit code and states of its tasks; the states of the shards are sorted. more are
// arguments of `dags test`.
func (a *airflow) run(code int, shards, rest string, more ...string) *ran {
	a.t.Helper()
	a.runs++ // of one day they would be one run
	out := a.command(code, append([]string{"dags", "test", "symlake_ingest", fmt.Sprintf("2026-01-%02d", a.runs)}, more...)...)
	r := a.newest()
	var mapped []string
	for task, state := range r.states {
		if strings.HasPrefix(task, "ingest ") {
			mapped = append(mapped, state)
		}
	}
	slices.Sort(mapped)
	got := ""
	for _, task := range []string{"report", "publish", "told", "rejected", "complete"} {
		got += " " + r.states[task]
	}
	if strings.Join(mapped, " ") != shards || got[1:] != rest {
		a.t.Fatalf("shards %v, want %s; report, publish, told, rejected, complete:%s; want %s\n%s", mapped, shards, got, rest, tail(out, 6000))
	}
	return r
}

// The DAG as real Airflows run it, the older one by its first run alone unless SYMLAKE_AIRFLOW_WHOLE is set. Everything that was loaded or rejected is told once, also after the death of the
// shards: also when all tries of one failed, and what other runs left untold.
func TestAirflow(t *testing.T) {
	t.Parallel()
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

			// Two tries fail after an object each. The report sums all three.
			a.put("a.so", object("libgame-arm64-dw5.so"))
			a.put("b.so", object("libgame-x64-dw5.so"))
			a.put("c.so", object("libgame-x86-dw4.so"))
			many := a.env
			a.env = append(slices.Clone(many), "SYMLAKE_SHARDS=1")
			r := a.run(0, "success", "success success success success success")
			ranges := 0
			for _, stored := range artifactsOf(t, a.store) {
				ranges += int(stored.Ranges)
			}
			if s := r.report; r.tries["ingest 0"] != 3 || s.Loaded != 3 || s.Rejected != 0 || s.Artifacts != 3 || len(s.IDs) != 3 || s.Ranges != ranges || ranges == 0 || s.Stored == 0 {
				t.Errorf("%d tries, %d ranges, told %+v", r.tries["ingest 0"], ranges, s)
			}
			if !reflect.DeepEqual(r.event, r.report) {
				t.Errorf("the event carries %+v, want %+v", r.event, r.report)
			}
			if out, _ := mustRun(t, []int{0}, "--store", a.store, "lookup", "a.so", "0x4748"); !strings.Contains(out, "engine.cpp") {
				t.Errorf("looked up: %s", out)
			}
			a.env = many
			if major == "2" && os.Getenv("SYMLAKE_AIRFLOW_WHOLE") == "" {
				return // make soak goes on
			}

			// Nothing is new, but a run that was not Airflow's left something to tell: a name came that was asked for.
			a.put("d.so", object("libgame-armv7-dw4.so"))
			out, _ := mustRun(t, []int{0}, "--json", "inspect", filepath.Join(a.objects, "d.so"))
			var d struct{ Names []string }
			if err := json.Unmarshal([]byte(out), &d); err != nil {
				t.Fatal(err)
			}
			stack := filepath.Join(a.dir, "stack")
			if err := os.WriteFile(stack, []byte("#00 pc 47d4  libgame.so (BuildId: "+d.Names[0]+")\n"), 0o600); err != nil {
				t.Fatal(err)
			}
			mustRun(t, []int{0}, "--store", a.store, "symbolicate", stack)
			mustRun(t, []int{0}, "--config", filepath.Join(a.dir, "symlake.yaml"), "ingest", "--run", "by hand", "--tell-later")
			r = a.run(0, "skipped skipped skipped", "success success success success success")
			if s := r.event; !slices.Equal(s.Runs, []string{"by hand"}) || s.Loaded != 1 || s.Artifacts != 1 || len(s.Wanted) != 1 || s.Wanted[0].Name != d.Names[0] || s.Wanted[0].Asked != 1 {
				t.Errorf("the event carries %+v, not %s", s, d.Names[0])
			}

			// Nothing at all: everything is skipped.
			a.run(0, "skipped skipped skipped", "skipped skipped skipped success success")

			// Parameters of a run: a source with a name that bash would read otherwise, one object of two, in two shards.
			other := filepath.Join(t.TempDir(), "it's $(touch here) \"x\"")
			for _, name := range []string{"libgame-arm64-dw4.so", "libgame-armv7thumb-dw5.so"} {
				if err := os.MkdirAll(other, 0o700); err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(filepath.Join(other, name), object(name), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			conf, err := json.Marshal(map[string]any{"sources": []string{other}, "shards": 1, "limit": 1, "deadline": "1h"})
			if err != nil {
				t.Fatal(err)
			}
			r = a.run(0, "success", "success success success success success", "--conf", string(conf))
			if s := r.report; s.Loaded != 1 || s.Artifacts != 1 {
				t.Errorf("with parameters: told %+v", s)
			}

			// A good and a broken object, and a source that no try can reach: both are told, and the run fails.
			broken := bytes.Clone(object("libgame-x64-dw5.so"))
			clear(broken[0x20:0x28])
			a.put("broken.so", append(broken[:0x1000], 1))
			a.put("e.so", object("libgame-riscv64-dw5.so"))
			a.configure(", {url: s3://dead/, endpoint: http://" + closedPort(t) + ", region: us-east-1, anonymous: true}")
			r = a.run(1, "failed failed failed", "success success success failed upstream_failed")
			if s := r.event; r.tries["ingest 0"] != 3 || s.Loaded != 1 || s.Rejected != 1 || len(s.Reasons) != 1 || !strings.HasSuffix(s.Reasons[0].URL, "broken.so") || len(s.Errors) == 0 {
				t.Errorf("%d tries, the event carries %+v", r.tries["ingest 0"], s)
			}

			// A configuration that is wrong fails at once: no try comes after the first.
			a.configure("}, {unknown: key")
			a.env = append(slices.Clone(many), "SYMLAKE_RETRY_DELAY=3600")
			r = a.run(1, "failed failed failed", "failed upstream_failed upstream_failed success upstream_failed")
			for task, tries := range r.tries {
				if tries > 1 {
					t.Errorf("%d tries of %s", tries, task)
				}
			}
		})
	}
}

// The provider is built, installed and tried in each version of Airflow: its parameters, credentials, links and lineage.
func TestAirflowProvider(t *testing.T) {
	t.Parallel()
	root := os.Getenv("SYMLAKE_AIRFLOW")
	python := filepath.Join(root, "uv", "bin", "python")
	if _, err := os.Stat(python); err != nil || root == "" {
		formattest.Missing(t, "Airflow", "make airflow installs it; then set SYMLAKE_AIRFLOW to its folder, as make test does")
	}
	source, err := filepath.Abs("airflow")
	if err != nil {
		t.Fatal(err)
	}
	script, err := filepath.Abs(filepath.Join("..", "testdata", "airflow", "test_provider.py"))
	if err != nil {
		t.Fatal(err)
	}
	dist := t.TempDir()
	python3 := func(env []string, dir, program string, args ...string) string {
		t.Helper()
		cmd := exec.Command(program, args...)
		cmd.Dir, cmd.Env = dir, append(append(os.Environ(), "PYTHONDONTWRITEBYTECODE=1"), env...)
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("%s %v: %v\n%s", program, args, err, tail(string(out), 6000))
		}
		return string(out)
	}
	python3(nil, source, python, "-m", "hatchling", "build", "--target", "wheel", "--directory", dist)
	wheels, err := filepath.Glob(filepath.Join(dist, "*.whl"))
	if err != nil || len(wheels) != 1 {
		t.Fatalf("wheels %v: %v", wheels, err)
	}
	readme, err := os.ReadFile(filepath.Join(source, "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	_, example, _ := strings.Cut(string(readme), "```python\n")
	example, _, ok := strings.Cut(example, "```")
	if !ok {
		t.Fatal("README.md has no example")
	}
	for _, major := range []string{"3", "2"} {
		t.Run(major, func(t *testing.T) {
			t.Parallel()
			bin := filepath.Join(root, major, "bin")
			home, packages := t.TempDir(), t.TempDir()
			python3([]string{"VIRTUAL_ENV=" + filepath.Join(root, major)}, dist, filepath.Join(root, "uv", "bin", "uv"), "pip", "install", "--quiet", "--offline", "--no-deps", "--target", packages, wheels[0])
			env := []string{"AIRFLOW_HOME=" + home, "AIRFLOW__CORE__LOAD_EXAMPLES=False", "PYTHONPATH=" + packages}
			python3(env, home, filepath.Join(bin, "python"), script)
			if out := python3(env, home, filepath.Join(bin, "python"), "-c", example+"print(ingest.dag_id, tidy.dag_id)"); !strings.Contains(out, "symlake_ingest symlake_tidy") {
				t.Errorf("the example of README.md prints\n%s", out)
			}
			if out := python3(env, home, filepath.Join(bin, "airflow"), "providers", "links"); !strings.Contains(out, "airflow_provider_symlake.symlake_ingest.RunLink") {
				t.Errorf("Airflow does not know the links:\n%s", out)
			}
		})
	}
}
