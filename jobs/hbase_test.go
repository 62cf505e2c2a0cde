package jobs

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/symlake/symlake/formats/formattest"
	"github.com/symlake/symlake/sinks/hbase/hbasetest"
)

// The main job on a real HBase: the same content and the same answers as in the embedded store, also
// after the server crashed.
func TestHBase(t *testing.T) {
	server := hbasetest.Start(t, hbasetest.Options{})
	t.Chdir(t.TempDir())
	if err := os.WriteFile("symlake.yaml", []byte("limits: {memory: 256MiB}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	url, objects := server.URL("lake")+"?regions=4", formattest.Testdata(t, "elf")
	_, errOut := mustRun(t, []int{exitDone}, "init", "--store", url)
	for _, table := range []string{"lake:blocks was made, with 4 regions", "lake:catalog was made, with 1 regions"} {
		if !strings.Contains(errOut, table) {
			t.Errorf("init does not say that table %s:\n%s", table, errOut)
		}
	}
	mustRun(t, []int{exitDone, exitRejected}, "ingest", objects, "--store", url)
	report, _ := mustRun(t, []int{exitDone}, "ingest", objects, "--store", url, "--report", "-")
	if !strings.Contains(report, `"loaded":0`) {
		t.Errorf("a second ingest found something new: %s", report)
	}
	mustRun(t, []int{exitDone, exitRejected}, "ingest", objects, "--store", "file:beside")

	same := func(args ...string) {
		t.Helper()
		want, _ := mustRun(t, []int{exitDone}, append(args, "--store", "file:beside")...)
		got, _ := mustRun(t, []int{exitDone}, append(args, "--store", url)...)
		if got != want {
			t.Errorf("%v: from HBase:\n%s\nfrom the embedded store:\n%s", args, got, want)
		}
		if len(want) == 0 {
			t.Errorf("%v prints nothing", args)
		}
	}
	same("verify", "--digest")
	lookups := []string{"lookup", "libgame-arm64-dw5.so"}
	for a := 0x700; a < 0x900; a += 4 {
		lookups = append(lookups, fmt.Sprintf("%#x", a))
	}
	same(lookups...)
	server.Kill()
	server.Restart(t)
	same(lookups...)
	mustRun(t, []int{exitDone}, "gc", "--store", url)
	same("verify", "--digest")
}
