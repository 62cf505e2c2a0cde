package row

import (
	"bytes"
	"encoding/hex"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/symlake/symlake/formats/symbol"
	"github.com/symlake/symlake/sinks"
	"github.com/symlake/symlake/sinks/row/rowtest"
)

// The worked example of the package doc: it shows in hex what a reader needs and a writer makes. The
// value was sealed once, under the nonce that it holds. Packages ranges and classes test the bodies.
const (
	exampleDataKey = "000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f"
	exampleKey     = "a4ee0ed87244e8ac2e62cdee8c2b829501934a5b6c7dabcd01000000000000005f"
	exampleBody    = "000302030003090c0c01010140030003020203000200020001030101010101010102010101020002000102010100020002160b0201010204000401070301020101000201010001010100010101000300030403040b000b6d61696e612e6373746570"
	exampleValue   = "01027b2992ea2d864ca8ad6b02d9089ba0ddd1cc1f79c8f2ea90dd83e4efe85f3e616dd4954addee21d8dfb36f245c7f1097f9a85329d5f8332a13511a3bb04202cd76c0bf017960254943d54bcab61dd2ae6a647618b2d79967bfb3b918a898bc6dd6d6da2d0c8e26cfd11be4664353b257d2ef0857b9fb6e05fbee53a2b0d550f8db25"

	exampleClassPosition = "d9fd1af2872e7a54"
	exampleClassKey      = "49fe5cdc9fafa289c4b4cf61f0a295d201934a5b6c7dabcd02ffffffffffffffff"
)

var exampleLoad = sinks.Load{0x01, 0x93, 0x4a, 0x5b, 0x6c, 0x7d, 0xab, 0xcd}

func TestWorkedExample(t *testing.T) {
	if got := hex.EncodeToString(rowKey(symbol.NewID(symbol.ELF, "c0ffee"), exampleLoad, Ranges, 0x5f)); got != exampleKey {
		t.Errorf("key %s", got)
	}
	if got := hex.EncodeToString(rowKey(symbol.NewID(symbol.R8, "c0ffee"), exampleLoad, Classes, math.MaxUint64)); got != exampleClassKey {
		t.Errorf("key of classes %s", got)
	}
	secret := &Secret{data: unhex(t, exampleDataKey)}
	if got := fmt.Sprintf("%016x", secret.Position("a.b")); got != exampleClassPosition {
		t.Errorf("position %s", got)
	}
	s, err := secret.Sealer(symbol.NewID(symbol.ELF, "c0ffee"), exampleLoad)
	if err != nil {
		t.Fatal(err)
	}
	r := sinks.Row{Key: unhex(t, exampleKey), Value: unhex(t, exampleValue)}
	plain, err := s.Open(nil, s.Key(Ranges, 0x5f), r, FormRanges)
	if err != nil || !bytes.Equal(plain, unhex(t, exampleBody)) {
		t.Errorf("opened to %x, %v", plain, err)
	}
	digits, err := rowtest.Example()
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{"data key": exampleDataKey, "key": exampleKey, "body": exampleBody, "value": exampleValue,
		"position": exampleClassPosition, "key of classes": exampleClassKey} {
		if !strings.Contains(digits, want) {
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
