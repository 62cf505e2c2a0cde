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
	seconds := "12"
	if v := os.Getenv("SYMLAKE_FUZZ_SECONDS"); v != "" {
		seconds = v
	}
	run := exec.CommandContext(t.Context(), program, "--config-file", filepath.Join(formattest.Testdata(t, "serve"), "schemathesis.toml"), "--no-color",
		"run", s.url+"/openapi.json", "-H", "Authorization: Bearer "+token, "--max-time", seconds, "--continue-on-failure")
	run.Dir = t.TempDir()
	out, err := run.CombinedOutput()
	if err != nil || !strings.Contains(string(out), " passed") {
		t.Errorf("%v\n%s", err, out)
	}
	if text := s.text(); strings.Contains(text, `"msg":"panic"`) || strings.Contains(text, `"status":500`) {
		t.Errorf("the server's log:\n%s", text)
	}
}
