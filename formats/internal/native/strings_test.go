package native

import (
	"errors"
	"slices"
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

func TestFunctionName(t *testing.T) {
	for symbol, want := range map[string]string{
		"f.__part.1": "f", "_ZN2ns4workEi.__part.12": "_ZN2ns4workEi", "f.llvm.123.__part.4": "f.llvm.123", "f": "f", "": "", "f1": "f1",
		"f.cold": "f.cold", "f.cold.1": "f.cold.1", "f.part.0": "f.part.0", "f.__part.": "f.__part.", ".__part.1": ".__part.1", "f.__part.1a": "f.__part.1a",
		"f.__part.1.__part.2": "f.__part.1",
	} {
		if got := FunctionName(symbol); got != want {
			t.Errorf("%s: %s, want %s", symbol, got, want)
		}
	}
}

// Parts ascend and lie apart, whatever sections a file lists.
func TestParts(t *testing.T) {
	got := Parts([]symbol.Part{{Name: ".data", Start: 0x3000, End: 0x3100}, {Name: ".low", Start: 0x10, End: 0x20}, {Name: ".rodata", Start: 0x1100, End: 0x1200},
		{Name: ".over", Start: 0x1180, End: 0x1280}, {Name: ".inside", Start: 0x3010, End: 0x3020}, {Name: ".wraps", Start: ^uint64(0), End: 5}, {Name: ".empty", Start: 0x4000, End: 0x4000}}, 0x1000)
	want := []symbol.Part{{Name: ".rodata", Start: 0x100, End: 0x200}, {Name: ".over", Start: 0x200, End: 0x280}, {Name: ".data", Start: 0x2000, End: 0x2100}}
	if !slices.Equal(got, want) {
		t.Errorf("%+v", got)
	}
	var many []symbol.Part
	for i := range uint64(1000) {
		many = append(many, symbol.Part{Start: i << 16, End: i<<16 + i})
	}
	if got = Parts(many, 0); len(got) != symbol.MaxParts || got[0].Start != (1000-symbol.MaxParts)<<16 || got[63].Start != 999<<16 {
		t.Errorf("%d parts from %+v", len(got), got[0])
	}
}
