package jobs

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/symlake/symlake/formats/formattest"
)

// Rows that go through a real Spark by mapInArrow have the answers that files get, and README's example runs.
func TestSpark(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	raw, out := filepath.Join(dir, "raw"), filepath.Join(dir, "out")
	readme, err := filepath.Abs("spark/README.md")
	if err != nil {
		t.Fatal(err)
	}
	cmd := python(t, "spark", formattest.Testdata(t, "rest/spark.py"), raw, out, readme)
	if exec.Command(cmd.Path, "-c", "import pandas, pyarrow").Run() != nil {
		formattest.Missing(t, "Spark with pandas and pyarrow", "make readers installs them")
	}
	run := runIn(t, dir)
	run([]int{0}, "ingest", formattest.Testdata(t, "elf/libgame-arm64-dw5.so"))
	restPython(t, "make", raw, restArtifact, formattest.Testdata(t, restGolden))
	run([]int{0}, "symbolicate", "--input", raw, "--output", out)
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	// Spark would send a symbolic link by the name of its file.
	if text, err := exec.Command("cp", exe, filepath.Join(dir, "symlake")).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, text)
	}
	cmd.Dir, cmd.Env = dir, append(cmd.Environ(), asProgram+"=1", "PYSPARK_PYTHON="+cmd.Path, "PYTHONDONTWRITEBYTECODE=1")
	var text, errOut bytes.Buffer
	cmd.Stdout, cmd.Stderr = &text, &errOut
	if err := cmd.Run(); err != nil {
		t.Fatalf("spark.py: %v: %s", err, tail(errOut.String(), 3000))
	}
	lines := strings.Split(strings.TrimSpace(text.String()), "\n")
	if n, _ := strconv.Atoi(lines[len(lines)-1]); n < 150 || !strings.Contains(text.String(), "found|") {
		t.Errorf("%d rows were compared: %s", n, text.String())
	}
}
