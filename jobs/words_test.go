package jobs

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/symlake/symlake/jobs/internal/exit"
)

// Words that make no sense are exit code 2, and are found before anything is created.
func TestWrongWords(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	store := filepath.Join(dir, "store")
	for words, want := range map[string]string{
		"ingest . --lake s3://":           "name of the bucket",
		"ingest . --workers=-3":           "below 0",
		"ingest . --limit=-3":             "below 0",
		"ingest . --deadline=-3s":         "below 0",
		"ingest . --hints nosuch://queue": "hints nosuch://queue",
		"serve --listen 8080":             "HOST:PORT",
		"serve --listen 127.0.0.1:99999":  "99999",
		"serve --max-time=-1s":            "below 0",
		"report --ack monday":             "32 hex digits",
	} {
		if _, said := mustRun(t, []int{exit.WrongUsage}, append([]string{"--store", store}, strings.Fields(words)...)...); !strings.Contains(said, want) {
			t.Errorf("%s says %q, want %q", words, said, want)
		}
	}
	if _, said := mustRun(t, []int{exit.Failed}, "--store", store, "ingest", filepath.Join(dir, "missing")); !strings.Contains(said, "nothing was loaded") {
		t.Errorf("said %q", said)
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
		t.Errorf("%v, %v", left, err)
	}
}
