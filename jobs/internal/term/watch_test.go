package term

import (
	"io"
	"os"
	"testing"

	"github.com/symlake/symlake/formats/formattest"
)

// A null device is no terminal: cron's jobs print no bar.
func TestIsTerminal(t *testing.T) {
	for path, want := range map[string]bool{"/dev/null": false, "/dev/zero": false, "/dev/ptmx": true} {
		f, err := os.OpenFile(path, os.O_RDWR, 0)
		if err != nil {
			formattest.Missing(t, path, err.Error())
		}
		defer f.Close()
		if got := isTerminal(f); got != want {
			t.Errorf("%s is a terminal: %t", path, got)
		}
	}
	if isTerminal(io.Discard) {
		t.Error("a writer that is no file is a terminal")
	}
}
