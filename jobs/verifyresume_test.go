package jobs

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/symlake/symlake/formats/formattest"
	"github.com/symlake/symlake/jobs/internal/exit"
)

// A verification that comes to its end removes its notes.
func TestVerifyNotes(t *testing.T) {
	t.Parallel()
	store := filepath.Join(t.TempDir(), "store")
	mustRun(t, []int{exit.Done}, "--store", store, "--lake", "off", "ingest", formattest.Testdata(t, "elf/libgame-arm64-dw5.so"))
	notes := filepath.Join(t.TempDir(), "notes")
	want, _ := mustRun(t, []int{exit.Done}, "--store", store, "verify")
	if got, _ := mustRun(t, []int{exit.Done}, "--store", store, "verify", "--resume", notes); got != want {
		t.Errorf("%q, want %q", got, want)
	}
	if _, err := os.Stat(notes); !os.IsNotExist(err) {
		t.Errorf("the notes are there: %v", err)
	}
	if err := os.WriteFile(notes, []byte("mine"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, said := mustRun(t, []int{exit.Failed}, "--store", store, "verify", "--resume", notes); !strings.Contains(said, "these are not the notes of verify") {
		t.Error(said)
	}
}
