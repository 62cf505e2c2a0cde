package pe

import (
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/symlake/symlake/formats/formattest"
)

// TestImagesOracle asks llvm-symbolizer about images with DWARF below SYMLAKE_PE_DWARF, under make bench.
func TestImagesOracle(t *testing.T) {
	formattest.Bench(t)
	dir := os.Getenv("SYMLAKE_PE_DWARF")
	if dir == "" {
		t.Skip("SYMLAKE_PE_DWARF names no folder of images")
	}
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		switch filepath.Ext(path) {
		case ".dll", ".exe":
			t.Run(filepath.Base(path), func(t *testing.T) { formattest.Oracle(t, &Format, path, 10000, 1, known(t, path)) })
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}
