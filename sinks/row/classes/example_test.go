package classes

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"math"
	"reflect"
	"strings"
	"testing"

	"github.com/symlake/symlake/formats/symbol"
	"github.com/symlake/symlake/sinks/internal/column"
	"github.com/symlake/symlake/sinks/row/dictionary"
	"github.com/symlake/symlake/sinks/row/rowtest"
)

// The worked example of classes in the package doc of sinks/row.
const (
	exampleBody  = "000111001107070204030303020302010100000002020101010701010103030003612e6207000700000000010200070101000200020102040004000304060300030000020300032120140300030101000200020400030003140902020101000101010101010163000000020101000201010007000706030403060307200020782e4d61696e72756e766f6964696e74782e5574696c616464696e742c696e74"
	examplePlain = "0003612e6206782e4d61696e094d61696e2e6a617661030000000372756e04766f696403696e7402630a01040a04000006782e5574696c0361646403696e7407696e742c696e74000a0400070001000604000d0106782e5574696c075574696c2e6b74"
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

// exampleBlock is the body of its row, without a dictionary.
func exampleBlock(t testing.TB) []byte {
	t.Helper()
	return encode(t, &dictionary.Table{}, nil, &Packed{Form: NewPacker(nil).Append(nil, exampleClass())})
}

// encode makes a block of packed classes.
func encode(t testing.TB, table *dictionary.Table, numbers []uint32, packed ...*Packed) (body []byte) {
	t.Helper()
	w := NewWriter(table, numbers, column.NewEncoder(), nil, func(_, _ uint64, b []byte) error {
		body = bytes.Clone(b)
		return nil
	})
	for _, p := range packed {
		if err := w.Add(p); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(sha256.New()); err != nil {
		t.Fatal(err)
	}
	return body
}

func TestWorkedExample(t *testing.T) {
	if got := hex.EncodeToString(newPlain().append(nil, exampleClass())); got != examplePlain {
		t.Errorf("plain %s", got)
	}
	body := exampleBlock(t)
	if got := hex.EncodeToString(body); got != exampleBody {
		t.Errorf("body %s", got)
	}
	b, err := Decode(column.NewDecoder(), nil, body, math.MaxUint64)
	if err != nil {
		t.Fatal(err)
	}
	if got, err := b.Class("a.b"); err != nil || !reflect.DeepEqual(got.Whole(), exampleClass()) {
		t.Errorf("%+v, %v", got, err)
	}
	digits, err := rowtest.Example()
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{"body": exampleBody, "plain form": examplePlain} {
		if !strings.Contains(digits, want) {
			t.Errorf("the package doc does not show the %s %s", name, want)
		}
	}
}
