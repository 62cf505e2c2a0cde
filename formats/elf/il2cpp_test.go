package elf

import (
	"context"
	"strings"
	"testing"

	"github.com/symlake/symlake/formats"
	"github.com/symlake/symlake/formats/formattest"
	"github.com/symlake/symlake/formats/symbol"
)

// A program that il2cpp made answers with methods and places of C#: each of its instructions.
func TestIl2cpp(t *testing.T) {
	file := formattest.Testdata(t, "il2cpp/libil2cpp.so")
	if n := formattest.GoldenOf(t, &Format, formattest.Beside(t, file), file+".golden.json", nil); n < 50 {
		t.Errorf("%d addresses only", n)
	}
}

// Without its maps it answers in C++, and names the missing map.
func TestIl2cppAlone(t *testing.T) {
	in := formattest.Input(t, formattest.Testdata(t, "il2cpp/libil2cpp.so"))
	in.Companion = func(_ context.Context, want formats.Ref) (*formats.Input, error) { return nil, formats.ErrNoCompanion }
	obj := formattest.Open(t, &Format, in)
	var q symbol.Quality
	for part := range obj.Artifacts[0].Parts {
		one, err := obj.Artifacts[0].Explode(t.Context(), part, func(*symbol.Run) error { return nil })
		if err != nil {
			t.Fatal(err)
		}
		q.Add(one)
	}
	if len(q.Missing) != 1 || !strings.HasPrefix(q.Missing[0], "il2cpp:") {
		t.Errorf("missing %v", q.Missing)
	}
}
