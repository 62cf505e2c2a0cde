package lookup_test

import (
	"context"
	"fmt"
	"strings"

	"github.com/symlake/symlake/formats/symbol"
	"github.com/symlake/symlake/sinks/lookup"
	"github.com/symlake/symlake/sinks/lookup/lookuptest"
)

// A service that writes answers out at once, wherever their place is, keeps none of them.
func ExampleClient_Each() {
	store, keys := lookuptest.ExampleStore()
	client := lookup.New(store, keys, lookup.Options{})

	cart := lookuptest.NewImage(lookuptest.CartID, "libcart.so", 5).ID
	var questions []lookup.Query
	for _, pc := range []uint64{0x10014, 0x100ff0, 0x10054} {
		questions = append(questions, lookup.Query{Artifact: cart, Where: symbol.Where{Space: symbol.Unslid, Value: pc}})
	}
	lines := make([]string, len(questions))
	err := client.Each(context.Background(), questions, func(i int, a *symbol.Answer) error {
		lines[i] = string(a.Status)
		for _, f := range a.Frames { // valid here, and no longer
			lines[i] += fmt.Sprintf(" %s:%d", f.Function, f.Line)
		}
		return nil
	})
	fmt.Println(strings.Join(lines, "\n"))
	fmt.Println(err)
	// Output:
	// found boost::inline1(int):100 cart0():2
	// outside
	// found boost::inline1(int):101 cart1():12
	// <nil>
}
