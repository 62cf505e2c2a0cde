package row

import (
	"encoding/hex"
	"errors"
	"fmt"
	"math"
	"os"
	"reflect"
	"strings"
	"testing"

	"github.com/symlake/symlake/formats/formattest"
	"github.com/symlake/symlake/formats/symbol"
)

// The worked example of classes in the package doc.
const (
	exampleClassPosition = "d9fd1af2872e7a54"
	exampleClassKey      = "49fe5cdc9fafa289c4b4cf61f0a295d201934a5b6c7dabcd02ffffffffffffffff"
	exampleClassBody     = "000111001107070204030303020302010100000002020101010701010103030003612e6207000700000000010200070101000200020102040004000304060300030000020300032120140300030101000200020400030003140902020101000101010101010163000000020101000201010007000706030403060307200020782e4d61696e72756e766f6964696e74782e5574696c616464696e742c696e74"
	exampleClassPlain    = "0003612e6206782e4d61696e094d61696e2e6a617661030000000372756e04766f696403696e7402630a01040a04000006782e5574696c0361646403696e7407696e742c696e74000a0400070001000604000d0106782e5574696c075574696c2e6b74"
)

func exampleClass() *symbol.Class {
	lines := func(first, last uint32, count uint8) symbol.Lines {
		return symbol.Lines{First: first, Last: last, Count: count}
	}
	run := symbol.Member{Name: "c", Method: &symbol.Method{Original: "run", Type: "void", Params: "int"}}
	first, outer := run, run
	first.Lines, first.From = lines(1, 3, 2), lines(10, 12, 2)
	outer.Lines, outer.From = lines(4, 4, 2), lines(13, 13, 1)
	inner := symbol.Member{Name: "c", Method: &symbol.Method{Class: "x.Util", Original: "add", Type: "int", Params: "int,int"}, Lines: lines(4, 4, 2), From: lines(7, 7, 2)}
	return &symbol.Class{Name: "a.b", Original: "x.Main", File: "Main.java", Members: []symbol.Member{first, inner, outer},
		Files: []symbol.ClassFile{{Class: "x.Util", File: "Util.kt"}}}
}

// exampleClassBlock is the body of its row, without a dictionary.
func exampleClassBlock(t fataler) []byte {
	t.Helper()
	w := newClassWriter(&Table{}, nil)
	w.open(0)
	var p packedClass
	if err := errors.Join(p.read(NewPacker(nil).Append(nil, exampleClass())), w.add(&p)); err != nil {
		t.Fatal(err)
	}
	return w.body(newCompressor())
}

func TestWorkedExampleOfClasses(t *testing.T) {
	names, err := newNamer(unhex(t, exampleDataKey))
	if err != nil {
		t.Fatal(err)
	}
	if got := fmt.Sprintf("%016x", names.position("a.b")); got != exampleClassPosition {
		t.Errorf("position %s", got)
	}
	id := symbol.NewID(symbol.R8, "c0ffee")
	if got := hex.EncodeToString(rowKey(id, exampleLoad, Classes, math.MaxUint64)); got != exampleClassKey {
		t.Errorf("key %s", got)
	}
	if got := hex.EncodeToString(newPlain().append(nil, exampleClass())); got != exampleClassPlain {
		t.Errorf("plain %s", got)
	}
	body := exampleClassBlock(t)
	if got := hex.EncodeToString(body); got != exampleClassBody {
		t.Errorf("body %s", got)
	}
	k, _ := newRing(t)
	b, err := decodeClasses(k.decompressor(), nil, body, math.MaxUint64)
	if err != nil {
		t.Fatal(err)
	}
	if got, err := b.Class("a.b"); err != nil || !reflect.DeepEqual(got.Whole(), exampleClass()) {
		t.Errorf("%+v, %v", got, err)
	}
	doc, err := os.ReadFile(formattest.Root() + "/sinks/row/doc.go")
	if err != nil {
		t.Fatal(err)
	}
	var digits strings.Builder
	for line := range strings.Lines(string(doc)) {
		line, _, _ = strings.Cut(strings.TrimPrefix(strings.TrimSpace(line), "//"), "  ; ")
		digits.WriteString(strings.Join(strings.Fields(line), ""))
	}
	for name, want := range map[string]string{"position": exampleClassPosition, "key": exampleClassKey, "body": exampleClassBody, "plain form": exampleClassPlain} {
		if !strings.Contains(digits.String(), want) {
			t.Errorf("the package doc does not show the %s %s", name, want)
		}
	}
}
