package jobs

import (
	"bytes"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/symlake/symlake/formats/formattest"
)

// During and after an ingest no symbol text stands anywhere in clear: not in
// rows, catalog, scratch or logs. The little memory makes the sorter spill.
func TestNoSymbolTextInClear(t *testing.T) {
	store, objects := filepath.Join(t.TempDir(), "store"), formattest.Testdata(t, "elf")
	secrets := [][]byte{[]byte("_ZN4game"), []byte("game_entry"), []byte("engine.cpp"), []byte("Engine")}
	config := filepath.Join(t.TempDir(), "symlake.yaml")
	if err := os.WriteFile(config, []byte("limits: {memory: 1MiB}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	cmd := symlake(t, "--config", config, "--store", store, "--log-level", "debug", "ingest", objects)
	var logs bytes.Buffer
	cmd.Stderr = &logs
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	done := make(chan struct{})
	go func() { cmd.Wait(); close(done) }()
	for running, looks := true, 0; running; looks++ {
		select {
		case <-done:
			running = false
		case <-time.After(time.Millisecond):
		}
		grep(t, store, secrets)
	}
	if code := cmd.ProcessState.ExitCode(); code != 0 && code != 3 {
		t.Fatalf("exit code %d: %s", code, logs.String())
	}
	for _, s := range secrets {
		if bytes.Contains(logs.Bytes(), s) {
			t.Errorf("the log holds %q", s)
		}
	}
}

func grep(t *testing.T, dir string, secrets [][]byte) {
	t.Helper()
	filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return nil
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return nil // removed meanwhile
		}
		for _, s := range secrets {
			if bytes.Contains(text, s) {
				t.Errorf("%s holds %q in clear", path, s)
			}
		}
		return nil
	})
}
