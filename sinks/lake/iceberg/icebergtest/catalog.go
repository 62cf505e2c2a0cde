package icebergtest

import (
	"bufio"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/symlake/symlake/formats/formattest"
)

// Catalog starts Iceberg's own REST catalog, which ends with the test, and returns its URL.
func Catalog(t testing.TB) string {
	t.Helper()
	dir := Folder(t)
	java, err := exec.LookPath("java")
	if err != nil {
		formattest.Missing(t, "java, for a REST catalog", "install a JDK of version 17 or newer")
	}
	cmd := exec.Command(java, "-Dorg.slf4j.simpleLogger.defaultLogLevel=error", "-cp", filepath.Join(dir, "jars/catalog/*"),
		formattest.Testdata(t, "lake/catalog/Catalog.java"), t.TempDir())
	cmd.Env = append(os.Environ(), formattest.QuickJava(t, ""))
	var said strings.Builder
	cmd.Stderr = &said
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		in.Close() // it ends with its input
		cmd.Wait()
	})
	url, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		in.Close()
		cmd.Wait()
		t.Fatalf("the catalog says: %s", said.String())
	}
	return strings.TrimSpace(url)
}
