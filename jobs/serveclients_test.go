package jobs

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/symlake/symlake/formats/formattest"
)

// documented returns the program in a language that a document has, a path below the root with slashes.
func documented(t *testing.T, document, language string) []byte {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(formattest.Root(), filepath.FromSlash(document)))
	if err != nil {
		t.Fatal(err)
	}
	_, rest, found := bytes.Cut(text, []byte("\n```"+language+"\n"))
	block, _, ended := bytes.Cut(rest, []byte("\n```\n"))
	if !found || !ended {
		t.Fatalf("%s has no program in %s", document, language)
	}
	return append(block, '\n')
}

// The clients of the documents, in fifteen lines each, answer a tombstone as the command does.
func TestDocumentedClients(t *testing.T) {
	tombstone := formattest.Testdata(t, "stacks/tombstone.txt")
	expected, err := os.ReadFile(formattest.Testdata(t, "stacks/tombstone.expected.txt"))
	if err != nil {
		t.Fatal(err)
	}
	store := ingested(t, "elf")
	const token = "a-token-of-some-length"
	tokens := filepath.Join(t.TempDir(), "tokens")
	if err := os.WriteFile(tokens, []byte("test "+token+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	s := startServe(t, store, "--tokens", tokens)
	for _, c := range []struct{ language, program, install, file string }{
		{"python", "python3", "apt-get install python3", "symbolicate.py"},
		{"java", "java", "apt-get install default-jdk-headless", "Symbolicate.java"},
	} {
		t.Run(c.language, func(t *testing.T) {
			program := formattest.Tool(t, c.program, c.install)
			block := documented(t, "jobs/serve/README.md", c.language)
			if n := bytes.Count(block, []byte{'\n'}); n > 15 {
				t.Errorf("it has %d lines", n)
			}
			file := filepath.Join(t.TempDir(), c.file)
			if err := os.WriteFile(file, block, 0o600); err != nil {
				t.Fatal(err)
			}
			run := exec.CommandContext(t.Context(), program, file, tombstone)
			run.Env = append(os.Environ(), "SYMLAKE_URL="+s.url, "SYMLAKE_TOKEN="+token)
			out, err := run.CombinedOutput()
			if err != nil {
				t.Fatalf("%v: %s", err, out)
			}
			if c.language == "java" && !bytes.Equal(out, expected) {
				t.Errorf("%s\nwant\n%s", out, expected)
			}
			if text := string(out); c.language == "python" && (!strings.Contains(text, "found \n    game::Engine::step(int)") || !strings.Contains(text, "no-artifact no artifact is called")) {
				t.Errorf("%s", out)
			}
		})
	}
	t.Run("go", func(t *testing.T) {
		file := filepath.Join(t.TempDir(), "main.go")
		if err := os.WriteFile(file, documented(t, "sinks/lookup/README.md", "go"), 0o600); err != nil {
			t.Fatal(err)
		}
		in, err := os.Open(tombstone)
		if err != nil {
			t.Fatal(err)
		}
		defer in.Close()
		run := exec.CommandContext(t.Context(), "go", "run", file, store)
		run.Dir, run.Stdin = formattest.Root(), in
		out, err := run.CombinedOutput()
		if err != nil || !strings.HasPrefix(string(out), "found [{game::") || !bytes.HasSuffix(out, expected) {
			t.Errorf("%v: %s\nwant at its end\n%s", err, out, expected)
		}
	})
}
