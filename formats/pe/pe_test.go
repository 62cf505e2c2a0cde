package pe

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/symlake/symlake/formats/formattest"
)

// own are the images that testdata/pe.sh makes.
var own = []string{"libgame-x64-dw5.dll", "libgame-x64-dw4.dll", "libgame-x86-dw4.dll", "libgame-arm64-dw5.dll", "libgame-arm-dw5.dll"}

func ownPaths(t testing.TB) (paths []string) {
	for _, n := range own {
		paths = append(paths, formattest.Testdata(t, "pe/"+n))
	}
	return append(paths, formattest.Testdata(t, "pe/separate/libgame.dll"), formattest.Testdata(t, "pe/separate/libgame.dbg"))
}

func TestConformance(t *testing.T) { formattest.Run(t, &Format, ownPaths(t)...) }

func TestGoldens(t *testing.T) {
	formattest.Goldens(t, &Format, formattest.Testdata(t, "pe"), nil, known)
}

func TestOracle(t *testing.T) {
	n := 1000
	if os.Getenv("SYMLAKE_BENCH") != "" {
		n = 10000
	}
	for i, path := range ownPaths(t) {
		t.Run(filepath.Base(path), func(t *testing.T) { formattest.Oracle(t, &Format, path, n, uint64(i), known(t, path)) })
	}
}
