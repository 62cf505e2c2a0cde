// Package clients tests the clients in Python and Java by their own tools. The conformance test of package jobs tries
// them on a server.
package clients

import (
	"archive/zip"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/symlake/symlake/formats/formattest"
)

// copied is a copy of a folder beside this file: tools build beside their sources.
func copied(t *testing.T, name string) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), name)
	if err := os.CopyFS(dir, os.DirFS(name)); err != nil {
		t.Fatal(err)
	}
	return dir
}

// run runs a program in a folder.
func run(t *testing.T, dir, program string, args ...string) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), program, args...)
	cmd.Dir = dir
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("%s %v: %v\n%s", program, args, err, out)
	}
}

// holds checks that an archive has files.
func holds(t *testing.T, dir, pattern string, names ...string) {
	t.Helper()
	found, err := filepath.Glob(filepath.Join(dir, pattern))
	if err != nil || len(found) != 1 {
		t.Fatalf("%s: %v, %v", pattern, found, err)
	}
	z, err := zip.OpenReader(found[0])
	if err != nil {
		t.Fatal(err)
	}
	defer z.Close()
	for _, name := range names {
		if !slices.ContainsFunc(z.File, func(f *zip.File) bool { return strings.HasSuffix(f.Name, name) }) {
			t.Errorf("%s lacks %s", pattern, name)
		}
	}
}

// The client in Python passes mypy --strict and its own tests, and its wheel is whole.
func TestPython(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("it runs other tools, for half a minute")
	}
	tools := os.Getenv("SYMLAKE_CLIENTS")
	if tools == "" {
		formattest.Missing(t, "mypy and pytest", "make clients installs them; then set SYMLAKE_CLIENTS to its folder, as make test does")
	}
	python := filepath.Join(tools, "py/bin/python")
	dir := copied(t, "python")
	run(t, dir, python, "-m", "mypy", "--cache-dir", filepath.Join(t.TempDir(), "mypy"))
	run(t, dir, python, "-m", "pytest", "-q")
	run(t, dir, python, "-m", "pip", "wheel", "--quiet", "--disable-pip-version-check", "--no-deps", "--no-build-isolation", "-w", "dist", ".")
	holds(t, dir, "dist/*.whl", "symlake_client/client.py", "symlake_client/py.typed")
}

// The client for Java builds without a warning, its document too.
func TestJava(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("it runs other tools, for half a minute")
	}
	maven := formattest.Tool(t, "mvn", "apt-get install maven default-jdk-headless")
	formattest.Tool(t, "javadoc", "apt-get install default-jdk-headless")
	dir := copied(t, "java")
	run(t, dir, maven, "-B", "-q", "package")
	holds(t, dir, "target/symlake-client-1.0.0.jar", "io/github/symlake/client/SymlakeClient.class", "module-info.class")
	holds(t, dir, "target/*-javadoc.jar", "io/github/symlake/client/SymlakeClient.html")
}
