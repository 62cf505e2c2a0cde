package formattest

import (
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// What make test prints: packages, failures whole, and each tool that is missing once.
func TestSkipsAreTold(t *testing.T) {
	const verbose = "=== RUN   TestA\n" +
		"    a_test.go:7: SKIP: node is missing: apt-get install nodejs\n" +
		"--- SKIP: TestA (0.00s)\n" +
		"=== RUN   TestB\n" +
		"    b_test.go:9: read 7 rows\n" +
		"--- PASS: TestB (0.00s)\n" +
		"PASS\n" +
		"ok  \texample.org/a\t0.1s\n" +
		"?   \texample.org/none\t[no test files]\n" +
		"=== RUN   TestC\n" +
		"    c_test.go:3: got 1, want 2\n" +
		"--- FAIL: TestC (0.00s)\n" +
		"=== RUN   TestD\n" +
		"    --- SKIP: TestD/sub (0.00s)\n" +
		"        d_test.go:3: SKIP: node is missing: apt-get install nodejs\n" +
		"FAIL\n" +
		"FAIL\texample.org/c\t0.1s\n" +
		"    e_test.go:3: SKIP: development fixture elf/a is missing: they are not part of the source tree\n" +
		"    e_test.go:4: SKIP: development fixture elf/b is missing: they are not part of the source tree\n" +
		"ok  \texample.org/e\t0.1s\n" +
		"FAIL\n"
	const want = "ok  \texample.org/a\t0.1s\n" +
		"?   \texample.org/none\t[no test files]\n" +
		"    c_test.go:3: got 1, want 2\n" +
		"--- FAIL: TestC (0.00s)\n" +
		"        d_test.go:3: SKIP: node is missing: apt-get install nodejs\n" +
		"FAIL\n" +
		"FAIL\texample.org/c\t0.1s\n" +
		"ok  \texample.org/e\t0.1s\n" +
		"FAIL\n" +
		"SKIP: node is missing: apt-get install nodejs (2 tests)\n" +
		"SKIP: development fixtures are missing: they are not part of the source tree (2 tests)\n"
	cmd := exec.Command(Tool(t, "awk", "apt-get install mawk"), "-f", filepath.Join(Root(), "testdata", "skips.awk"))
	cmd.Stdin = strings.NewReader(verbose)
	got, err := cmd.CombinedOutput()
	if err != nil || string(got) != want {
		t.Errorf("%v, got\n%s", err, got)
	}
}
