package jobs

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/symlake/symlake/formats/formattest"
)

// Stacks that engines printed of a module with DWARF and of a module with a source map come back with functions, files
// and lines of the source. The expected texts were checked by hand beside llvm-symbolizer and trace-mapping.
func TestModuleStacks(t *testing.T) {
	store, dir := filepath.Join(t.TempDir(), "store"), t.TempDir()
	for _, name := range []string{"app-dw5.wasm", "map/cart.wasm", "map/cart.wasm.map"} {
		b, err := os.ReadFile(formattest.Testdata(t, "wasm/"+name))
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, filepath.Base(name)), b, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	mustRun(t, []int{0}, "--store", store, "ingest", dir)
	for _, engine := range []string{"node", "chromium", "firefox", "safari", "wasmtime"} {
		t.Run(engine, func(t *testing.T) {
			path := formattest.Testdata(t, "wasm/stacks/"+engine+".txt")
			got, _ := mustRun(t, []int{0}, "--store", store, "symbolicate", path)
			expected := strings.TrimSuffix(path, ".txt") + ".expected.txt"
			if *update {
				if err := os.WriteFile(expected, []byte(got), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(expected)
			if err != nil {
				t.Fatal(err)
			}
			if got != string(want) {
				t.Errorf("%s", got)
			}
		})
	}
}
