package symbol_test

import (
	"fmt"

	"github.com/symlake/symlake/formats/symbol"
)

// A parser of an object emits runs like this one: total was inlined into checkout, from 0x1010 on.
func Example() {
	run := symbol.Run{
		Rank:    symbol.RankDWARF,
		Strings: []string{"", "checkout", "cart.cc", "total", "cart.h"},
		Scopes: []symbol.Scope{
			{Parent: -1, Function: 1},
			{Parent: 0, Function: 3, Call: symbol.Site{File: 2, Line: 21, Column: 9}},
		},
		Ranges: []symbol.Range{
			{Start: 0x1000, End: 0x1010, Scope: 0, At: symbol.Site{File: 2, Line: 20, Column: 3}},
			{Start: 0x1010, End: 0x1018, Scope: 1, At: symbol.Site{File: 4, Line: 7, Column: 12}},
		},
	}
	for i, r := range run.Ranges {
		fmt.Printf("[%#x, %#x)\n", r.Start, r.End)
		for _, f := range run.Chain(i, nil) {
			fmt.Printf("  %s %s:%d:%d\n", f.Linkage, f.File, f.Line, f.Column)
		}
	}
	// Output:
	// [0x1000, 0x1010)
	//   checkout cart.cc:20:3
	// [0x1010, 0x1018)
	//   total cart.h:7:12
	//   checkout cart.cc:21:9
}
