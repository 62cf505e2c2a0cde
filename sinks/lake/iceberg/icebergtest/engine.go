package icebergtest

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/symlake/symlake/formats/formattest"
)

// Engines read Iceberg tables in tests.
func Engines() []string { return []string{"pyiceberg", "polars", "duckdb", "spark"} }

// Folder is where testdata/lake/iceberg.sh put the engines. Without them the test is skipped.
func Folder(t testing.TB) string {
	t.Helper()
	dir := filepath.Join(os.Getenv("SYMLAKE_READERS"), "iceberg")
	if _, err := os.Stat(filepath.Join(dir, ".versions")); err != nil {
		formattest.Missing(t, "a folder with pyiceberg, and DuckDB and Spark that read Iceberg", "make readers makes it; then set SYMLAKE_READERS to it, as make test does")
	}
	return dir
}

// Python is a script under the interpreter of an engine.
func Python(t testing.TB, engine string, args ...string) *exec.Cmd {
	t.Helper()
	env := map[string]string{"pyiceberg": "py", "polars": "py", "duckdb": "duckdb", "spark": "spark"}[engine]
	dir := Folder(t)
	cmd := exec.Command(filepath.Join(dir, env, "bin/python3"), args...)
	cmd.Dir = dir // where the jars lie
	cmd.Env = append(os.Environ(), formattest.QuickJava(t, filepath.Join(dir, "spark", "classes.jsa")))
	return cmd
}

// Dump returns every row of the tables of a lake as an engine reads them, one JSON record a row, sorted. env names a REST
// catalog and tables, as iceberg.py says.
func Dump(t testing.TB, engine, lake string, env ...string) []string {
	t.Helper()
	cmd := Python(t, engine, formattest.Testdata(t, "lake/iceberg.py"), engine, lake)
	cmd.Env = append(cmd.Environ(), env...)
	var out, errOut bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errOut
	if err := cmd.Run(); err != nil {
		said := errOut.String()
		t.Fatalf("%s: %v\n%s", engine, err, said[max(0, len(said)-1500):])
	}
	var rows []string
	if text := strings.TrimSpace(out.String()); text != "" {
		rows = strings.Split(text, "\n")
	}
	slices.Sort(rows)
	return rows
}
