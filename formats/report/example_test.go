package report_test

import (
	"context"
	"fmt"
	"os"
	"strings"

	"github.com/symlake/symlake/formats/report"
	"github.com/symlake/symlake/formats/report/all"
	"github.com/symlake/symlake/formats/symbol"
)

// Split finds the reports in a text. The caller answers their frames, and Print writes the report with the answers.
func Example() {
	const text = "E libc: crash\nABI: 'arm64'\nbacktrace:\n" +
		"  #00 pc 0000000000010014  /data/app/lib/arm64/libcart.so (BuildId: 564bb6c8be48eea9d9db622b8689806eea5af3c7)\n"
	err := report.Split(context.Background(), strings.NewReader(text), all.Dialects, report.Options{}, func(r *report.Report) error {
		answers := make([][]symbol.Answer, len(r.Threads))
		for i, thread := range r.Threads {
			for _, f := range thread.Frames {
				fmt.Printf("ask %s for %#x\n", f.Image[0], f.At.Value)
				found := symbol.Frame{Function: "Cart::total() const", File: "cart.cc", Line: 7, Column: 12}
				answers[i] = append(answers[i], symbol.Answer{Status: symbol.Found, Frames: []symbol.Frame{found}})
			}
		}
		return report.Print(os.Stdout, r, answers)
	})
	fmt.Println(err)
	// Output:
	// ask 564bb6c8be48eea9d9db622b8689806eea5af3c7 for 0x10014
	// E libc: crash
	// ABI: 'arm64'
	// backtrace:
	//   #00 pc 0000000000010014  /data/app/lib/arm64/libcart.so (BuildId: 564bb6c8be48eea9d9db622b8689806eea5af3c7)
	//                            Cart::total() const
	//                            cart.cc:7:12
	// <nil>
}
