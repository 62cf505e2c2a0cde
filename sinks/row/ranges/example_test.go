package ranges

import (
	"encoding/hex"
	"slices"
	"strings"
	"testing"

	"github.com/symlake/symlake/formats/symbol"
	"github.com/symlake/symlake/sinks/internal/column"
	"github.com/symlake/symlake/sinks/row/rowtest"
)

// The body of the worked example in the package doc of sinks/row.
const exampleBody = "000302030003090c0c01010140030003020203000200020001030101010101010102010101020002000102010100020002160b0201010204000401070301020101000201010001010100010101000300030403040b000b6d61696e612e6373746570"

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
	run := exampleRun()
	var body []byte
	w := NewWriter(run.Strings, make([]uint32, len(run.Strings)), false, nil, func(b *Full) (*Full, error) {
		body = b.Body(column.NewEncoder())
		return b, nil
	})
	if err := w.Add(run); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(0x60); err != nil {
		t.Fatal(err)
	}
	if got := hex.EncodeToString(body); got != exampleBody {
		t.Errorf("body %s", got)
	}
	b := new(Block)
	if _, err := b.Decode(column.NewDecoder(), nil, body, 0x5f, false); err != nil {
		t.Fatal(err)
	}
	got, _ := b.Find(0x47, nil)
	if want := run.Chain(1, nil); !slices.Equal(got, want) {
		t.Errorf("0x47: %v, want %v", got, want)
	}
	digits, err := rowtest.Example()
	if err != nil || !strings.Contains(digits, exampleBody) {
		t.Errorf("the package doc does not show the body %s, %v", exampleBody, err)
	}
}
