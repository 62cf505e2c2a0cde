package jobs

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/symlake/symlake/formats/formattest"
	"github.com/symlake/symlake/jobs/internal/exit"
)

// Answers that the store fails to give end lookup and symbolicate with exit code 1, in each form, unless the caller goes on.
func TestKeepGoing(t *testing.T) {
	dir := t.TempDir()
	mustRun := runIn(t, dir)
	store := []string{"--store", "file:./data", "--lake", "off"}
	mustRun([]int{exit.Done}, append(store, "ingest", formattest.Testdata(t, "elf/libgame-arm64-dw5.so"))...)
	stack := filepath.Join(dir, "stack.txt")
	text := "    #00 pc 0000000000004748  /data/app/lib/arm64/libgame-arm64-dw5.so (BuildId: 564bb6c8be48eea9d9db622b8689806eea5af3c7)\n"
	if err := os.WriteFile(stack, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	rows := filepath.Join(dir, "rows.ndjson")
	if err := os.WriteFile(rows, []byte(`{"artifact":"564bb6c8be48eea9d9db622b8689806eea5af3c7","address":"0x4748"}`+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	commands := [][]string{
		{"lookup", "libgame-arm64-dw5.so", "0x4748"},
		{"lookup", "--json", "libgame-arm64-dw5.so", "0x4748"},
		{"symbolicate", stack},
		{"symbolicate", "--json", stack},
	}
	for _, c := range commands {
		mustRun([]int{exit.Done}, append(store, c...)...)
	}
	files, err := filepath.Glob(filepath.Join(dir, "data/blocks/*/*.hfile"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no files of rows: %v", err)
	}
	for _, f := range files {
		b, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		copy(b[40:], bytes.Repeat([]byte{0xa5}, len(b)/2))
		if err := os.Chmod(f, 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(f, b, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range commands {
		out, said := mustRun([]int{exit.Failed}, append(store, c...)...)
		if out == "" || !strings.Contains(said, "symlake: corrupt: ") {
			t.Errorf("%v: %s\n%s", c, out, said)
		}
		if kept, _ := mustRun([]int{exit.Done}, append(append(store, c...), "--keep-going")...); kept != out {
			t.Errorf("%v --keep-going: %s, want %s", c, kept, out)
		}
	}
	table := append(store, "symbolicate", "--input", rows, "--output", filepath.Join(dir, "out"), "--force")
	if _, said := mustRun([]int{exit.Failed}, table...); !strings.Contains(said, "corrupt: 1 of 1 rows have no answer") {
		t.Error(said)
	}
	mustRun([]int{exit.Done}, append(table, "--keep-going")...)
}

// A store that the configuration names by a relative path is the source of load --hfiles-out.
func TestExportRelative(t *testing.T) {
	dir := t.TempDir()
	mustRun := runIn(t, dir)
	if err := os.WriteFile(filepath.Join(dir, "symlake.yaml"), []byte("store: file:./sd\nlake: {url: off}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	mustRun([]int{exit.Done}, "ingest", formattest.Testdata(t, "elf/libgame-arm64-dw5.so"))
	for _, to := range [][]string{nil, {"--store", "hbase://master:16000/other"}} {
		out, _ := mustRun([]int{exit.Done}, append([]string{"load", "--hfiles-out", "out" + string(rune('a'+len(to)))}, to...)...)
		if !strings.Contains(out, "completebulkload") {
			t.Errorf("%v: %s", to, out)
		}
	}
}
