package macho

import (
	"testing"

	"github.com/symlake/symlake/formats/formattest"
)

// The object files that an executable's debug map names answer as the dSYM
// does that dsymutil made of the same files.
func TestObjectFiles(t *testing.T) {
	main := formattest.Fixture(t, "macho/samply/oso/main")
	golden := formattest.Fixture(t, "macho/samply/simple/main.dSYM.golden.json")
	formattest.GoldenOf(t, &Format, formattest.Beside(t, main), golden, known(t, main))
}
