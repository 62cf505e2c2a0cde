package lookup_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/symlake/symlake/formats/report"
	"github.com/symlake/symlake/formats/symbol"
	"github.com/symlake/symlake/sinks"
	"github.com/symlake/symlake/sinks/lookup"
)

// A crash pipeline keeps one client and hands it reports as they come. The
// store is what sinks/all.Open returns for its URL, the keys are what kek.OpenKeyset reads.
func Example() {
	store, keys := exampleStore()
	client := lookup.New(store, keys, lookup.Options{})

	text := "ABI: 'arm64'\nbacktrace:\n  #00 pc 0000000000010014  /data/app/lib/arm64/libcart.so (BuildId: " + cartID + ")\n"
	err := report.Split(context.Background(), strings.NewReader(text), report.Options{}, func(s *report.Report) error {
		answers, err := client.Stack(context.Background(), s, lookup.StackOptions{})
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

// A service that writes answers out at once, wherever their place is, keeps none of them.
func ExampleClient_Each() {
	store, keys := exampleStore()
	client := lookup.New(store, keys, lookup.Options{})

	cart := newImage(cartID, "libcart.so", 5).ID
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

func exampleStore() (*sinks.Store, sinks.KEK) {
	w := newWorld(exampleTB{})
	w.publish(newImage(cartID, "libcart.so", 5))
	return w.store, w.kek
}

// exampleTB lets an example build a test's world.
type exampleTB struct{ testing.TB }

func (exampleTB) Helper()                   {}
func (exampleTB) Context() context.Context  { return context.Background() }
func (exampleTB) Fatal(args ...any)         { panic(fmt.Sprint(args...)) }
func (exampleTB) Fatalf(f string, a ...any) { panic(fmt.Sprintf(f, a...)) }
