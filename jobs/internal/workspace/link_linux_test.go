package workspace

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
)

// A report goes where a link leads, and the link stays. An open file, such as /dev/stdout, gets it behind what it has.
func TestReportThroughLink(t *testing.T) {
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	f, err := os.Create(at("stream"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	f.WriteString("before\n")
	for name, to := range map[string]string{"file": "text", "open": fmt.Sprintf("/proc/self/fd/%d", f.Fd()), "twice": "open"} {
		if err := os.Symlink(to, at(name)); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(at("text"), []byte("old"), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"file", "open", "twice"} {
		if err := replaceFile(at(name), []byte(name+"\n")); err != nil {
			t.Error(err)
		}
		if info, err := os.Lstat(at(name)); err != nil || info.Mode().Type() != os.ModeSymlink {
			t.Errorf("%s is no link any more: %v", name, err)
		}
	}
	for name, want := range map[string]string{"text": "file\n", "stream": "before\nopen\ntwice\n"} {
		if text, err := os.ReadFile(at(name)); err != nil || string(text) != want {
			t.Errorf("%s has %q, %v", name, text, err)
		}
	}
}
