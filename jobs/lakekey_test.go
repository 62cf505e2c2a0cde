package jobs

import (
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/symlake/symlake/formats/formattest"
)

// With data_key: dataset one key opens every file, which readers that take only one need; by default it opens its own alone.
func TestReadersDataKey(t *testing.T) {
	t.Parallel()
	readersDir(t)
	for _, c := range []struct {
		setting string
		want    int // files that the key of the first one opens
	}{{"dataset", 2}, {"file", 1}} {
		lake := filepath.Join(t.TempDir(), "lake")
		flags := lakeConfig(t, "url: "+lake+", data_key: "+c.setting)
		for _, name := range []string{"libgame-arm64-dw5.so", "libgame-x64-dw5.so"} {
			mustRun(t, []int{0}, append(flags, "ingest", formattest.Testdata(t, "elf/"+name))...)
		}
		mustRun(t, []int{0}, append(flags, "verify")...)
		keys, _ := mustRun(t, []int{0}, append(flags, "--json", "keys", "export", "--lake")...)
		for _, engine := range []string{"pyarrow", "polars"} {
			out, err := python(t, engine, formattest.Testdata(t, "lake/onekey.py"), engine, lake, keys).CombinedOutput()
			if err != nil {
				t.Fatalf("%s: %v\n%s", engine, err, tail(string(out), 600))
			}
			if n, err := strconv.Atoi(strings.TrimSpace(string(out))); err != nil || n != c.want {
				t.Errorf("data_key %s: %s opens %s of 2 files with one key, want %d", c.setting, engine, out, c.want)
			}
		}
	}
}
