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

// documented returns the programs in a language that a document has, a path below the root with slashes.
func documented(t *testing.T, document, language string) (all [][]byte) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(formattest.Root(), filepath.FromSlash(document)))
	if err != nil {
		t.Fatal(err)
	}
	for {
		_, rest, found := bytes.Cut(text, []byte("\n```"+language+"\n"))
		block, after, ended := bytes.Cut(rest, []byte("\n```\n"))
		if !found || !ended {
			break
		}
		all, text = append(all, append(bytes.Clone(block), '\n')), after
	}
	if len(all) == 0 {
		t.Fatalf("%s has no program in %s", document, language)
	}
	return all
}

// javaClasses compiles the client for Java with its tests, and returns the folder of the classes.
func javaClasses(t *testing.T) string {
	t.Helper()
	javac := formattest.Tool(t, "javac", "apt-get install default-jdk-headless")
	sources, err := filepath.Glob(filepath.Join(formattest.Root(), "jobs/serve/clients/java/src/*/java/io/github/symlake/client/*.java"))
	if err != nil {
		t.Fatal(err)
	}
	classes := t.TempDir()
	if out, err := exec.Command(javac, append([]string{"--release", "11", "-Xlint:all", "-Werror", "-d", classes}, sources...)...).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	return classes
}

// pythonOfGRPC makes the Python form of symlake.proto, and returns the folder of it.
func pythonOfGRPC(t *testing.T, python string) string {
	t.Helper()
	dir, proto := t.TempDir(), filepath.Join(formattest.Root(), "jobs/serve/symlakev1")
	if out, err := exec.Command(python, "-m", "grpc_tools.protoc", "-I"+proto, "--python_out="+dir, "--grpc_python_out="+dir, "symlake.proto").CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	return dir
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
	records := []string{"found \n    game::Engine::step(int)", "no-artifact no artifact is called"}
	programs := map[string][][]byte{}
	for _, language := range []string{"python", "java"} {
		programs[language] = documented(t, "jobs/serve/README.md", language)
	}
	for _, c := range []struct {
		name, language string
		at             int
		says           []string // nil: the tombstone with its frames replaced
	}{
		{"python package", "python", 0, records},
		{"python", "python", 1, records},
		{"python gRPC", "python", 2, nil},
		{"java package", "java", 0, nil},
		{"java", "java", 1, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			block := programs[c.language][c.at]
			if n := bytes.Count(block, []byte{'\n'}); n > 15 {
				t.Errorf("it has %d lines", n)
			}
			file := filepath.Join(t.TempDir(), map[string]string{"python": "symbolicate.py", "java": "Symbolicate.java"}[c.language])
			if err := os.WriteFile(file, block, 0o600); err != nil {
				t.Fatal(err)
			}
			run := exec.CommandContext(t.Context(), "python3", "-B", file, tombstone)
			run.Env = append(os.Environ(), "SYMLAKE_URL="+s.url, "SYMLAKE_TOKEN="+token)
			switch {
			case c.name == "java package":
				run.Path, run.Args = formattest.Tool(t, "java", "apt-get install default-jdk-headless"), []string{"java", "-cp", javaClasses(t), file, tombstone}
			case c.language == "java":
				run.Path, run.Args = formattest.Tool(t, "java", "apt-get install default-jdk-headless"), []string{"java", file, tombstone}
			case c.name == "python gRPC":
				run.Path = filepath.Join(clientsFolder(t), "py/bin/python")
				run.Env = append(run.Env, "PYTHONPATH="+pythonOfGRPC(t, run.Path))
			default:
				run.Path = formattest.Tool(t, "python3", "apt-get install python3")
				run.Env = append(run.Env, "PYTHONPATH="+filepath.Join(formattest.Root(), "jobs/serve/clients/python/src"))
			}
			run.Err = nil          // the path is set
			run.Args[0] = run.Path // by which Python finds its packages
			out, err := run.CombinedOutput()
			if err != nil {
				t.Fatalf("%v: %s", err, out)
			}
			if c.says == nil && !bytes.Equal(out, expected) {
				t.Errorf("%s\nwant\n%s", out, expected)
			}
			for _, says := range c.says {
				if !strings.Contains(string(out), says) {
					t.Errorf("%s\nwant %q in it", out, says)
				}
			}
		})
	}
	t.Run("go", func(t *testing.T) {
		file := filepath.Join(t.TempDir(), "main.go")
		if err := os.WriteFile(file, documented(t, "sinks/lookup/README.md", "go")[0], 0o600); err != nil {
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
