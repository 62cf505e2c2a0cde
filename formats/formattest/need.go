// Package formattest is what every format is tested with: the conformance
// suite and fuzz body, and the one way to find fixtures and outside tools.
package formattest

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

// Require names the environment variable under which nothing may be skipped:
// what a test needs and cannot find fails it. CI sets it.
const Require = "SYMLAKE_REQUIRE"

// root is found when the process starts: a test may change its working folder later.
var root = findRoot()

// findRoot gives the nearest folder with a go.mod at or above the working folder, or "".
func findRoot() string {
	dir, err := os.Getwd()
	for err == nil {
		if _, serr := os.Stat(filepath.Join(dir, "go.mod")); serr == nil {
			return dir
		}
		up := filepath.Dir(dir)
		if up == dir {
			break
		}
		dir = up
	}
	return ""
}

// Root is the top of the source tree. A test starts in the folder of its package, so builds with
// -trimpath find it too.
func Root() string {
	if root == "" {
		panic("this test was not started inside the source tree")
	}
	return root
}

// Testdata is the path of a file or folder below testdata at the root; it
// must be there.
func Testdata(t testing.TB, name string) string {
	t.Helper()
	p := filepath.Join(Root(), "testdata", filepath.FromSlash(name))
	if _, err := os.Stat(p); err != nil {
		t.Fatal(err)
	}
	return p
}

// Fixture is the path of a development fixture (../shared/fixtures beside the
// source tree), which a user's clone does not have: the test is skipped there.
func Fixture(t testing.TB, name string) string {
	t.Helper()
	p := filepath.Join(filepath.Dir(Root()), "shared", "fixtures", filepath.FromSlash(name))
	if _, err := os.Stat(p); err != nil {
		Missing(t, "development fixture "+name, "they are not part of the source tree")
	}
	return p
}

// GOROOT returns the folder of the Go distribution. Tests read source files and objects there.
// runtime.GOROOT is empty in a test that was built with -trimpath.
func GOROOT(t testing.TB) string {
	t.Helper()
	dir, err := goroot()
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

var goroot = sync.OnceValues(func() (string, error) {
	out, err := exec.Command("go", "env", "GOROOT").Output()
	return strings.TrimSpace(string(out)), err
})

// Bench leaves out a test that measures, unless SYMLAKE_BENCH is set, as make bench does.
func Bench(t testing.TB) {
	t.Helper()
	if os.Getenv("SYMLAKE_BENCH") == "" {
		t.Skip("make bench runs it (SYMLAKE_BENCH=1)")
	}
}

// Tool is the path of an outside program; how tells a person how to get it.
func Tool(t testing.TB, program, how string) string {
	t.Helper()
	p, err := exec.LookPath(program)
	if err != nil {
		Missing(t, program, how)
	}
	return p
}

// QuickJava returns an environment variable for Java programs that run for seconds: they spend no time on code that is faster
// later. They leave their temporary files in a folder of the test. archive is the path of an archive of their classes, which
// the JVM maps in place of reading jars; it starts without one that is missing or of another Java. "" names none.
func QuickJava(t testing.TB, archive string) string {
	t.Helper()
	options := "JDK_JAVA_OPTIONS=-XX:TieredStopAtLevel=1 -XX:+UseSerialGC -XX:-UsePerfData -Xlog:disable -Djava.io.tmpdir=" + t.TempDir()
	if archive != "" {
		options += " -XX:SharedArchiveFile=" + archive
	}
	return options
}

// Missing skips a test that lacks something from outside, which how says how to get, or fails it under Require.
func Missing(t testing.TB, what, how string) {
	t.Helper()
	if os.Getenv(Require) != "" {
		t.Fatalf("%s is missing and %s is set: %s", what, Require, how)
	}
	t.Skipf("SKIP: %s is missing: %s", what, how)
}
