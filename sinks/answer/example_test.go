package answer_test

import (
	"context"
	"fmt"
	"strings"

	"github.com/symlake/symlake/formats/report"
	"github.com/symlake/symlake/formats/report/all"
	"github.com/symlake/symlake/sinks/answer"
	"github.com/symlake/symlake/sinks/lookup"
	"github.com/symlake/symlake/sinks/lookup/lookuptest"
)

// A crash pipeline keeps one client and hands it reports as they come. The
// store is what sinks/stores.Open returns for its URL, the keys are what kek.OpenKeyset reads.
func Example() {
	store, keys := lookuptest.ExampleStore()
	client := answer.New(lookup.New(store, keys, lookup.Options{}))

	text := "ABI: 'arm64'\nbacktrace:\n  #00 pc 0000000000010014  /data/app/lib/arm64/libcart.so (BuildId: " + lookuptest.CartID + ")\n"
	err := report.Split(context.Background(), strings.NewReader(text), all.Dialects, report.Options{}, func(s *report.Report) error {
		answers, err := client.Stack(context.Background(), s, answer.Options{})
		if err != nil {
			return err // the context's; all else is in the answers
		}
		for _, thread := range answers {
			for _, a := range thread {
				fmt.Println(a.Status, len(a.Frames))
				for _, f := range a.Frames {
					fmt.Printf("%s at %s:%d\n", f.Function, f.File, f.Line)
				}
			}
		}
		return nil
	})
	fmt.Println(err)
	// Output:
	// found 2
	// boost::inline1(int) at include/boost/inline.hpp:100
	// cart0() at src/file0.cpp:2
	// <nil>
}
