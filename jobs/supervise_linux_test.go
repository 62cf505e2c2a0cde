package jobs

import (
	"bytes"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/symlake/symlake/formats/formattest"
	"github.com/symlake/symlake/jobs/internal/exit"
	"github.com/symlake/symlake/jobs/internal/host"
	"github.com/symlake/symlake/jobs/internal/program"
	"github.com/symlake/symlake/jobs/internal/session"
)

// poisonObject writes an object that does something to its reader.
func poisonObject(t *testing.T, dir, name, what string, i int) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(dir, name), []byte("POISON "+what+" "+poisonID(i)), 0o644); err != nil {
		t.Fatal(err)
	}
}

// However a process ends that does not end its work, the exit code is 1, one sentence says why, and report and metrics do too.
func TestDeath(t *testing.T) {
	for what, want := range map[string]string{"thread": "panic: a thread of its own", "stack": "fatal error: stack overflow", "memory": "no memory left"} {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			objects, out := t.TempDir(), t.TempDir()
			poisonObject(t, objects, "good.so", "good", 0)
			poisonObject(t, objects, "poison.so", what, 1)
			report, metrics := filepath.Join(out, "report.json"), filepath.Join(out, "symlake_ingest.prom")
			args := []string{"--store", filepath.Join(out, "store"), "--log-level", "error", "--metrics", out, "ingest", objects, "--report", report}
			_, said := mustRun(t, []int{exit.Failed}, args...)
			if !strings.Contains(said, "ingest died: ") || !strings.Contains(said, want) || strings.Count(said, "\n") != 1 {
				t.Errorf("said %q, want one line with %q", said, want)
			}
			for path, want := range map[string]string{report: `"error":"ingest died: `, metrics: "symlake_run_success 0"} {
				if text, err := os.ReadFile(path); err != nil || !strings.Contains(string(text), want) {
					t.Errorf("%s: %v %s, want %s", path, err, text, want)
				}
			}
			// After three deaths the object is read in a process of its own, which alone condemns it.
			for range maxDeaths {
				cmd := symlake(t, args...)
				if cmd.Run(); cmd.ProcessState.ExitCode() == exit.Rejected {
					break
				}
			}
			text, err := os.ReadFile(report)
			if err != nil || !strings.Contains(string(text), "poison.so") || !strings.Contains(string(text), `"rejected":1`) {
				t.Errorf("%v: the last report is %s", err, text)
			}
			if all, _ := mustRun(t, []int{0}, "--store", filepath.Join(out, "store"), "objects", "--state", "loaded"); !strings.Contains(all, "good.so") {
				t.Errorf("loaded are %q", all)
			}
		})
	}
}

// maxDeaths is how many runs it takes at most until an object that kills is rejected.
const maxDeaths = 5

// What has no supervisor dies of a signal: 2 would say that the words were wrong.
func TestDeathAlone(t *testing.T) {
	objects := t.TempDir()
	poisonObject(t, objects, "poison.so", "thread", 0)
	cmd := symlake(t, "symbolicate", "--symbols", objects, filepath.Join(objects, "poison.so"))
	var said bytes.Buffer
	cmd.Stderr = &said
	cmd.Run()
	if status, ok := cmd.ProcessState.Sys().(syscall.WaitStatus); !ok || status.Signal() != syscall.SIGABRT || !strings.Contains(said.String(), "a thread of its own") {
		t.Errorf("%s: %s", cmd.ProcessState, said.String())
	}
	var logged bytes.Buffer
	p := &session.Session{Log: slog.New(slog.NewTextHandler(&logged, &slog.HandlerOptions{Level: slog.LevelDebug}))}
	err := program.Guard(p, "lookup", func() error { panic("a fault") })
	if exit.Code(err) != exit.Failed || !strings.Contains(err.Error(), "lookup died: panic: a fault") || !strings.Contains(logged.String(), "TestDeathAlone") {
		t.Errorf("%v\n%s", err, logged.String())
	}
}

// A worker ends when its supervisor is killed, and gets the signals of the supervisor.
func TestSupervisor(t *testing.T) {
	for _, signal := range []syscall.Signal{syscall.SIGKILL, syscall.SIGTERM} {
		t.Run(signal.String(), func(t *testing.T) {
			t.Parallel()
			objects, store := t.TempDir(), filepath.Join(t.TempDir(), "store")
			poisonObject(t, objects, "slow.so", "slow", 0)
			cmd := symlake(t, "--store", store, "ingest", objects)
			var said bytes.Buffer
			cmd.Stderr = &said
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			defer cmd.Process.Kill()
			worker := 0
			formattest.Await(t, "a worker that reads the object", func() bool {
				worker = workerOf(cmd.Process.Pid)
				_, err := os.Stat(filepath.Join(objects, "slow.so.opened"))
				return worker != 0 && err == nil
			})
			start := host.StartOf(worker)
			if err := cmd.Process.Signal(signal); err != nil {
				t.Fatal(err)
			}
			cmd.Wait()
			formattest.Await(t, "the end of the worker", func() bool { return host.StartOf(worker) != start })
			if code := cmd.ProcessState.ExitCode(); signal == syscall.SIGTERM && code != exit.Failed {
				t.Errorf("%s: %s", cmd.ProcessState, said.String())
			}
			if err := os.Remove(filepath.Join(objects, "slow.so.opened")); err != nil {
				t.Fatal(err)
			}
			poisonObject(t, objects, "slow.so", "good", 0)
			if out, _ := mustRun(t, []int{0}, "--store", store, "ingest", objects, "--report", "-"); !strings.Contains(out, `"loaded":1`) {
				t.Errorf("the next run: %s", out)
			}
		})
	}
}
