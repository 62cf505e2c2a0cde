package elf

import (
	"bytes"
	"debug/elf"
	"os"
	"testing"

	"github.com/symlake/symlake/formats"
	"github.com/symlake/symlake/formats/formattest"
	"github.com/symlake/symlake/formats/symbol"
)

// layout returns the layout of the one artifact of an input, with the digest of its code.
func layout(t *testing.T, in *formats.Input) symbol.Layout {
	t.Helper()
	a := artifact(t, in)
	code, err := a.CodeDigest(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return symbol.Layout{Table: a.Table, Code: code}
}

// TestLayout: a stripped file and its debug file agree, whichever tool parted them; files of other
// code do not.
func TestLayout(t *testing.T) {
	for _, pair := range [][2]string{
		{"elf/symbolic/crash", "elf/symbolic/crash.debug"},
		{"elf/symbolic/crash.debug-zlib", "elf/symbolic/crash.debug-zstd"},
		{"elf/datadog/dyn_aarch64", "elf/datadog/dyn_aarch64.debug"},
	} {
		one := layout(t, formattest.Input(t, formattest.Fixture(t, pair[0])))
		two := layout(t, formattest.Input(t, formattest.Fixture(t, pair[1])))
		if !one.Agrees(two) || !two.Agrees(one) {
			t.Errorf("%s and %s do not agree", pair[0], pair[1])
		}
	}
	one := layout(t, formattest.Input(t, formattest.Fixture(t, "elf/symbolic/crash")))
	if two := layout(t, formattest.Input(t, formattest.Fixture(t, "elf/datadog/dyn_aarch64"))); one.Agrees(two) {
		t.Error("two programs agree")
	}
	if one.Agrees(symbol.Layout{}) || (symbol.Layout{}).Agrees(symbol.Layout{}) {
		t.Error("what is unknown agrees")
	}
}

// TestLayoutOfTools parts one file with each tool that is installed.
func TestLayoutOfTools(t *testing.T) {
	whole := formattest.Testdata(t, "elf/libgame-x64-dw5.so")
	want := layout(t, formattest.Input(t, whole))
	dir := t.TempDir()
	for _, c := range [][]string{
		{"binutils", "objcopy", "--only-keep-debug", whole, dir + "/gnu.debug"},
		{"binutils", "objcopy", "--strip-debug", whole, dir + "/gnu.so"},
		{"llvm", "llvm-objcopy", "--only-keep-debug", whole, dir + "/llvm.debug"},
		{"llvm", "llvm-objcopy", "--strip-all", whole, dir + "/llvm.so"},
	} {
		run(t, dir, formattest.Tool(t, c[1], "apt-get install "+c[0]), c[2:]...)
		if got := layout(t, formattest.Input(t, c[4])); !got.Agrees(want) {
			t.Errorf("%v changes the layout", c[1:3])
		}
	}
}

// TestLayoutOfCode: bytes of code that differ are told where both files hold them.
func TestLayoutOfCode(t *testing.T) {
	b, err := os.ReadFile(formattest.Testdata(t, "elf/libgame-x64-dw5.so"))
	if err != nil {
		t.Fatal(err)
	}
	of := func(b []byte) symbol.Layout { return layout(t, formattest.InputOf("x.so", b, formats.Limits{})) }
	want := of(b)
	file, err := elf.NewFile(bytes.NewReader(b))
	if err != nil {
		t.Fatal(err)
	}
	other := bytes.Clone(b)
	other[file.Section(".text").Offset] ^= 0xff
	got := of(other)
	if got.Table != want.Table || got.Agrees(want) {
		t.Error("other code agrees")
	}
	got.Code = [32]byte{}
	if !got.Agrees(want) {
		t.Error("a file without code does not agree")
	}
}
