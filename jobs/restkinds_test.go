package jobs

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/symlake/symlake/formats/formattest"
)

// kinds runs kinds.py, and returns how many columns it compared.
func kinds(t *testing.T, args ...string) int {
	t.Helper()
	cmd := python(t, "pyarrow", append([]string{formattest.Testdata(t, "rest/kinds.py")}, args...)...)
	cmd.Env = append(cmd.Environ(), "RUST_BACKTRACE=0", asProgram+"=1") // for the program that it runs
	var out, errOut bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errOut
	if err := cmd.Run(); err != nil {
		t.Fatalf("kinds.py %s: %v: %s", args[0], err, tail(errOut.String(), 1500))
	}
	n, _ := strconv.Atoi(strings.TrimSpace(out.String()))
	return n
}

// Columns of every type that pyarrow, Polars and DuckDB write come out with their Arrow type, metadata and values, in files
// and in streams, plain and compressed.
func TestRestKinds(t *testing.T) {
	t.Parallel()
	readersDir(t)
	store, raw := filepath.Join(t.TempDir(), "store"), filepath.Join(t.TempDir(), "raw")
	mustRun(t, []int{0}, "--store", store, "--lake", "off", "ingest", formattest.Testdata(t, "elf/libgame-arm64-dw5.so"))
	kinds(t, "make", raw, restArtifact, fmt.Sprint(0x46e6))
	out := filepath.Join(t.TempDir(), "out")
	report := restReport(t, []int{0}, "--store", store, "symbolicate", "--input", raw+"/*.parquet", "--output", out)
	if report.Files.Written != 6 || report.Statuses["found"] != report.Rows {
		t.Errorf("%+v", report)
	}
	if n := kinds(t, "check", raw, out); n < 500 {
		t.Errorf("%d columns were compared", n)
	}
	again := filepath.Join(t.TempDir(), "again")
	restReport(t, []int{0}, "--store", store, "symbolicate", "--input", out, "--output", again)
	kinds(t, "check", raw, again)
	stream := symlake(t, "--store", store, "symbolicate", "--arrow")
	if n := kinds(t, append([]string{"stream", raw}, stream.Args...)...); n < 700 {
		t.Errorf("%d columns of streams were compared", n)
	}
}

// A stream that ends too early has an exit code, and one line on standard error.
func TestArrowFaults(t *testing.T) {
	t.Parallel()
	readersDir(t)
	store, raw := filepath.Join(t.TempDir(), "store"), filepath.Join(t.TempDir(), "raw")
	mustRun(t, []int{0}, "--store", store, "--lake", "off", "ingest", formattest.Testdata(t, "elf/libgame-arm64-dw5.so"))
	kinds(t, "make", raw, restArtifact, fmt.Sprint(0x46e6))
	file, err := os.ReadFile(filepath.Join(raw, "polars.arrow"))
	if err != nil {
		t.Fatal(err)
	}
	stream, err := os.ReadFile(filepath.Join(raw, "polars.arrows"))
	if err != nil {
		t.Fatal(err)
	}
	huge := append([]byte{0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f}, stream[8:]...)
	for _, c := range []struct {
		name string
		in   []byte
		args []string
		code int
		want string
	}{
		{"stream", stream, nil, 0, ""},
		{"file form", file, nil, 3, "write it as a stream"},
		{"cut", stream[:len(stream)/2], nil, 3, "it ends within message"},
		{"text", []byte("not Arrow at all"), nil, 3, "the input may be of another form"},
		{"huge", huge, nil, 3, "bytes of metadata, above"},
		{"nothing", nil, nil, 0, ""},
		{"never a success", stream[:len(stream)/2], []string{"--rejected-code", "0"}, 1, "it ends within message"},
		{"no such column", stream, []string{"--column", "address=pc"}, 3, `there is no column "pc"`},
		{"some columns", stream, []string{"--add", "line,status"}, 0, ""},
		{"no such answer", stream, []string{"--add", "lines"}, 2, "--add"},
		{"another form", stream, []string{"--add", "chain"}, 1, "stacks get chain, and frames inlines"},
		{"with a file", stream, []string{"crash.txt"}, 2, "--arrow reads standard input"},
		{"with tables", stream, []string{"--input", raw}, 2, "--arrow reads standard input"},
		{"report", stream, []string{"--report", "-"}, 2, "name a file"},
	} {
		cmd := symlake(t, append([]string{"--store", store, "symbolicate", "--arrow"}, c.args...)...)
		var out, errOut bytes.Buffer
		cmd.Stdin, cmd.Stdout, cmd.Stderr = bytes.NewReader(c.in), &out, &errOut
		var exit *exec.ExitError
		if err := cmd.Run(); err != nil && !errors.As(err, &exit) {
			t.Fatal(err)
		}
		if code := cmd.ProcessState.ExitCode(); code != c.code || !strings.Contains(errOut.String(), c.want) || strings.Count(errOut.String(), "\n") > 1 {
			t.Errorf("%s: exit code %d, want %d: %s", c.name, code, c.code, errOut.String())
		}
		if ended := bytes.HasSuffix(out.Bytes(), []byte{0xff, 0xff, 0xff, 0xff, 0, 0, 0, 0}); ended != (c.code == 0 && len(c.in) > 0) {
			t.Errorf("%s: the output is marked as whole: %t", c.name, ended)
		}
	}
}
