package jobs

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/symlake/symlake/formats/formattest"
)

// A client that reads the OpenAPI file asks what it allows, and what it does not, and holds every answer against it:
// no 5xx, no answer that is not described, nothing wrong accepted.
func TestServeFuzzed(t *testing.T) {
	dir := os.Getenv("SYMLAKE_SCHEMATHESIS")
	if _, err := os.Stat(filepath.Join(dir, ".version")); dir == "" || err != nil {
		formattest.Missing(t, "schemathesis", "make schemathesis installs it; then set SYMLAKE_SCHEMATHESIS to its folder, as make test does")
	}
	program, err := filepath.Abs(filepath.Join(dir, "bin", "schemathesis"))
	if err != nil {
		t.Fatal(err)
	}
	const token = "a-token-of-some-length"
	tokens := filepath.Join(t.TempDir(), "tokens")
	if err := os.WriteFile(tokens, []byte("fuzz "+token+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	s := startServe(t, ingested(t, "elf/libgame-arm64-dw5.so", "r8", "js"), "--tokens", tokens)
	// The short form asks the same each time; the long one, under make soak, something new.
	length := []string{"--max-time", "12", "--seed", "1"}
	if v := os.Getenv("SYMLAKE_FUZZ_SECONDS"); v != "" {
		length = []string{"--max-time", v}
	}
	run := exec.CommandContext(t.Context(), program, append([]string{"--config-file", filepath.Join(formattest.Testdata(t, "serve"), "schemathesis.toml"), "--no-color",
		"run", s.url + "/openapi.json", "-H", "Authorization: Bearer " + token, "--continue-on-failure"}, length...)...)
	run.Dir = t.TempDir()
	out, err := run.CombinedOutput()
	if err != nil || !strings.Contains(string(out), " passed") {
		t.Errorf("%v\n%s", err, short(string(out)))
	}
	if text := s.text(); strings.Contains(text, `"msg":"panic"`) || strings.Contains(text, `"status":500`) {
		t.Errorf("the server's log:\n%s", text)
	}
}

// short leaves out what stands between the ends of long lines: bodies of a megabyte.
func short(out string) string {
	var b strings.Builder
	for line := range strings.Lines(out) {
		if len(line) > 600 {
			line = line[:400] + " … " + line[len(line)-100:]
		}
		b.WriteString(line)
	}
	return b.String()
}
