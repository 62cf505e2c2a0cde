package macho

import (
	"context"
	"os"
	"path"
	"path/filepath"
	"testing"

	"github.com/symlake/symlake/formats"
	"github.com/symlake/symlake/formats/formattest"
)

// beside gives an input whose companions are the files of its folder.
func beside(t *testing.T, file string) *formats.Input {
	in := formattest.Input(t, file)
	in.Companion = func(_ context.Context, want formats.Ref) (*formats.Input, error) {
		name := filepath.Join(filepath.Dir(file), path.Base(want.Name))
		b, err := os.ReadFile(name)
		if err != nil {
			return nil, formats.ErrNoCompanion
		}
		return formattest.InputOf(name, b, formats.Limits{}), nil
	}
	return in
}

// The object files that an executable's debug map names answer as the dSYM
// does that dsymutil made of the same files.
func TestObjectFiles(t *testing.T) {
	main := formattest.Fixture(t, "macho/samply/oso/main")
	golden := formattest.Fixture(t, "macho/samply/simple/main.dSYM.golden.json")
	formattest.GoldenOf(t, &Format, beside(t, main), golden, known(t, main))
}
