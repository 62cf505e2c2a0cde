package jobs

import (
	"path/filepath"
	"strings"
	"testing"
)

// The report stays the very last line when a library writes to standard error on its own.
func TestReportIsLast(t *testing.T) {
	objects := t.TempDir()
	poisonObject(t, objects, "speaks.so", "speaks", 0)
	said, err := symlake(t, "--store", filepath.Join(t.TempDir(), "store"), "ingest", objects, "--report", "-").CombinedOutput()
	lines := strings.Split(strings.TrimSpace(string(said)), "\n")
	if err != nil || !strings.Contains(string(said), "a library speaks") || !strings.HasPrefix(lines[len(lines)-1], `{"job":"ingest"`) {
		t.Errorf("%v: %s", err, said)
	}
}
