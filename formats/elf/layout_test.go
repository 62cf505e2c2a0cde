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

// TestSegments finds code of each object by its offset in the file, and of a debug file by its mapping.
func TestSegments(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"libgame-x64-dw5.so", "libgame-arm64-dw5.so", "libgame-x86-dw4.so", "libgame-armv7thumb-dw5.so", "libgame-arm64be-dw5.so"} {
		whole := formattest.Testdata(t, "elf/"+name)
		f, err := elf.Open(whole)
		if err != nil {
			t.Fatal(err)
		}
		text := f.Section(".text")
		of := artifact(t, formattest.Input(t, whole)).Artifact
		at := symbol.Where{Space: symbol.FileOffset, Value: text.Offset + 4}
		if pos, ok := of.Position(at); !ok || of.Unslid(pos) != text.Addr+4 {
			t.Errorf("%s: the offset %#x leads to %#x, %v, want %#x", name, at.Value, of.Unslid(pos), ok, text.Addr+4)
		}
		for _, tool := range [][]string{{"binutils", "objcopy"}, {"llvm", "llvm-objcopy"}} {
			if tool[1] == "objcopy" && name != "libgame-x64-dw5.so" { // it knows one machine
				continue
			}
			run(t, dir, formattest.Tool(t, tool[1], "apt-get install "+tool[0]), "--only-keep-debug", whole, dir+"/"+name)
			of := artifact(t, formattest.Input(t, dir+"/"+name)).Artifact
			if pos, ok := of.Position(at); ok {
				t.Errorf("%s by %s: the offset %#x leads to %#x", name, tool[1], at.Value, pos)
			}
			for _, p := range f.Progs {
				if p.Type != elf.PT_LOAD || p.Flags&elf.PF_X == 0 {
					continue
				}
				first := p.Off &^ 0xfff
				mapped := at
				mapped.Mapped = &symbol.Mapping{Offset: first, Size: (p.Off+p.Filesz+0xfff)&^0xfff - first}
				if pos, ok := of.Position(mapped); !ok || of.Unslid(pos) != text.Addr+4 {
					t.Errorf("%s by %s: the offset %#x leads to %#x, %v, want %#x", name, tool[1], at.Value, of.Unslid(pos), ok, text.Addr+4)
				}
			}
		}
	}
	obj := artifact(t, formattest.Input(t, formattest.Testdata(t, "elf/obj/engine-x64.o"))).Artifact
	f, err := elf.Open(formattest.Testdata(t, "elf/obj/engine-x64.o"))
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range f.Sections {
		at, known := obj.Anchors[s.Name]
		if pos, ok := obj.Position(symbol.Where{Space: symbol.FileOffset, Value: s.Offset}); known && s.Size > 0 && (!ok || pos != at) {
			t.Errorf("%s of a relocatable file: %#x, %v, want %#x", s.Name, pos, ok, at)
		}
	}
}
