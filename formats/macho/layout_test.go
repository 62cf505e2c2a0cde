package macho

import (
	"bytes"
	"debug/macho"
	"testing"

	"github.com/symlake/symlake/formats/formattest"
	"github.com/symlake/symlake/formats/symbol"
)

// TestLayout: an image and its dSYM agree; images of other code do not.
func TestLayout(t *testing.T) {
	of := func(path string) (symbol.Layout, string) {
		t.Helper()
		a := formattest.Open(t, &Format, formattest.Input(t, formattest.Fixture(t, path))).Artifacts[0]
		code, err := a.CodeDigest(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		return symbol.Layout{Table: a.Table, Code: code}, a.Canonical
	}
	var last symbol.Layout
	for _, pair := range [][2]string{
		{"macho/symbolic/crash", "macho/symbolic/crash.dSYM"},
		{"macho/samply/simple/main", "macho/samply/simple/main.dSYM"},
	} {
		image, id := of(pair[0])
		debug, same := of(pair[1])
		if id != same || !image.Agrees(debug) {
			t.Errorf("%s (%s) and %s (%s) do not agree", pair[0], id, pair[1], same)
		}
		if image.Code == [32]byte{} || debug.Code != [32]byte{} {
			t.Errorf("%s: code %x, its dSYM's %x", pair[0], image.Code, debug.Code)
		}
		if image.Agrees(last) {
			t.Errorf("%s agrees with another program", pair[0])
		}
		last = image
	}
}

// TestLayoutOfCode: code that differs is told, though every section lies where it lay.
func TestLayoutOfCode(t *testing.T) {
	b := own(t, "objects/libmapped.dylib")
	of := func(b []byte) symbol.Layout {
		t.Helper()
		obj, err := openBytes(t, &Format, "libmapped.dylib", b)
		if err != nil {
			t.Fatal(err)
		}
		defer obj.Close()
		code, err := obj.Artifacts[0].CodeDigest(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		return symbol.Layout{Table: obj.Artifacts[0].Table, Code: code}
	}
	want := of(b)
	file, err := macho.NewFile(bytes.NewReader(b))
	if err != nil {
		t.Fatal(err)
	}
	other := bytes.Clone(b)
	other[file.Section("__text").Offset] ^= 0xff
	if got := of(other); got.Table != want.Table || got.Agrees(want) {
		t.Error("other code agrees")
	}
}

// TestSegments finds code of an image, and of its dSYM, by its offset in the file of the image.
func TestSegments(t *testing.T) {
	of := func(path string) symbol.Artifact {
		return formattest.Open(t, &Format, formattest.Input(t, path)).Artifacts[0].Artifact
	}
	for _, a := range []symbol.Artifact{
		of(formattest.Testdata(t, "macho/objects/libmapped.dylib")),
		of(formattest.Testdata(t, "macho/libgame.dylib.dSYM/Contents/Resources/DWARF/libgame.dylib")),
	} {
		pos, ok := a.Position(symbol.Where{Space: symbol.FileOffset, Value: 0x400})
		if !ok || pos != 0x400 || len(a.Segments) != 1 {
			t.Errorf("%v: offset 0x400 leads to %#x, %v, by %v", a.Names, pos, ok, a.Segments)
		}
	}
}
