package native

import (
	"errors"
	"strings"
	"testing"

	"github.com/symlake/symlake/formats"
	"github.com/symlake/symlake/formats/symbol"
)

// A name that is too long is cut. Names that share its bytes cannot ask for endless reading.
func TestLongNames(t *testing.T) {
	long := strings.Repeat("n", 127041)
	table := func(b string) *NameTable {
		return &NameTable{File: &Source{Format: "elf"}, Section: ".strtab", B: []byte(b), Max: 64 << 10}
	}
	n := table("\x00" + long + "\x00after\x00" + long)
	for _, c := range []struct {
		off  uint64
		want string
	}{{0, ""}, {1, symbol.CutName(long)}, {2, symbol.CutName(long[1:])}, {127043, "after"}, {127049, ""}, {1 << 40, ""}} {
		if got, err := n.At(c.off); got != c.want || err != nil {
			t.Errorf("at %d: %.80q %v", c.off, got, err)
		}
	}
	n = table(strings.Repeat("n", 1<<20) + "\x00")
	var err error
	for i := 0; err == nil && i < 1000; i++ {
		_, err = n.At(uint64(i))
	}
	if !errors.Is(err, formats.ErrLimit) {
		t.Error(err)
	}
}
