package row

import (
	"bytes"
	"encoding/hex"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/symlake/symlake/formats/formattest"
	"github.com/symlake/symlake/formats/symbol"
	"github.com/symlake/symlake/sinks"
)

// The worked example of the package doc: what it says in hex is what a reader
// needs and a writer makes. The value was sealed once, under the nonce it holds.
const (
	exampleDataKey = "000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f"
	exampleKey     = "a4ee0ed87244e8ac2e62cdee8c2b829501934a5b6c7dabcd01000000000000005f"
	exampleBody    = "000302030003090c0c01010140030003020203000200020001030101010101010102010101020002000102010100020002160b0201010204000401070301020101000201010001010100010101000300030403040b000b6d61696e612e6373746570"
	exampleValue   = "01027b2992ea2d864ca8ad6b02d9089ba0ddd1cc1f79c8f2ea90dd83e4efe85f3e616dd4954addee21d8dfb36f245c7f1097f9a85329d5f8332a13511a3bb04202cd76c0bf017960254943d54bcab61dd2ae6a647618b2d79967bfb3b918a898bc6dd6d6da2d0c8e26cfd11be4664353b257d2ef0857b9fb6e05fbee53a2b0d550f8db25"
)

var exampleLoad = sinks.Load{0x01, 0x93, 0x4a, 0x5b, 0x6c, 0x7d, 0xab, 0xcd}

func exampleRun() *symbol.Run {
	return &symbol.Run{Strings: []string{"", "main", "a.c", "step"},
		Scopes: []symbol.Scope{
			{Parent: -1, Function: 1},
			{Parent: 0, Function: 3, Call: symbol.Site{File: 2, Line: 12, Column: 7}},
		},
		Ranges: []symbol.Range{
			{Start: 0x40, End: 0x44, Scope: 0, At: symbol.Site{File: 2, Line: 11, Column: 1}},
			{Start: 0x44, End: 0x4a, Scope: 1, At: symbol.Site{File: 2, Line: 5, Column: 3}},
			{Start: 0x4a, End: 0x50, Scope: 0, At: symbol.Site{File: 2, Line: 13, Column: 1}},
		},
	}
}

func TestWorkedExample(t *testing.T) {
	a := artifact(0x60)
	key := rowKey(a.ID, exampleLoad, Ranges, 0x5f)
	if got := hex.EncodeToString(key); got != exampleKey {
		t.Errorf("key %s", got)
	}
	w := newBlockWriter(exampleRun().Strings, nil, false)
	w.begin(exampleRun(), nil)
	w.open(0)
	for _, g := range exampleRun().Ranges {
		w.add(&g)
	}
	body := w.body(newCompressor())
	if got := hex.EncodeToString(body); got != exampleBody {
		t.Errorf("body %s", got)
	}
	s, err := newSealer(unhex(t, exampleDataKey), forRows)
	if err != nil {
		t.Fatal(err)
	}
	value := unhex(t, exampleValue)
	plain, err := s.open(nil, rowHeader, unhex(t, exampleKey), value)
	if err != nil || !bytes.Equal(plain, unhex(t, exampleBody)) {
		t.Errorf("opened to %x, %v", plain, err)
	}
	k, _ := newRing(t)
	b, err := decodeBlock(k.decompressor(), nil, plain, 0x5f, bodyRanges)
	if err != nil {
		t.Fatal(err)
	}
	got, _ := b.Find(0x47, nil)
	if want := exampleRun().Chain(1, nil); !slices.Equal(got, want) {
		t.Errorf("0x47: %v, want %v", got, want)
	}
	// The doc shows the same bytes, broken into lines.
	doc, err := os.ReadFile(formattest.Root() + "/sinks/row/doc.go")
	if err != nil {
		t.Fatal(err)
	}
	var digits strings.Builder
	for line := range strings.Lines(string(doc)) {
		line, _, _ = strings.Cut(strings.TrimPrefix(strings.TrimSpace(line), "//"), "  ; ")
		digits.WriteString(strings.Join(strings.Fields(line), ""))
	}
	for name, want := range map[string]string{"data key": exampleDataKey, "key": exampleKey, "body": exampleBody, "value": exampleValue} {
		if !strings.Contains(digits.String(), want) {
			t.Errorf("the package doc does not show the %s %s", name, want)
		}
	}
}

func unhex(t *testing.T, s string) []byte {
	t.Helper()
	b, err := hex.DecodeString(s)
	if err != nil {
		t.Fatal(err)
	}
	return b
}
