package group_test

import (
	"fmt"

	"github.com/symlake/symlake/formats/report"
	"github.com/symlake/symlake/formats/symbol"
	"github.com/symlake/symlake/sinks/group"
)

// Two builds of one source: in the second, the compiler has inlined total and split pay.
func Example() {
	frame := func(file string, functions ...symbol.Frame) (*report.Frame, *symbol.Answer) {
		return &report.Frame{File: file}, &symbol.Answer{Status: symbol.Found, Frames: functions}
	}
	const app, libc = "/data/app/lib/arm64/libcart.so", "/apex/com.android.runtime/lib64/bionic/libc.so"
	total := symbol.Frame{Function: "shop::Cart::total(int) const", Linkage: "_ZNK4shop4Cart5totalEi"}
	pay := symbol.Frame{Function: "shop::Cart::pay(int)", Linkage: "_ZN4shop4Cart3payEi"}
	part := symbol.Frame{Function: "shop::Cart::pay(int) (.cold)", Linkage: "_ZN4shop4Cart3payEi.cold"}

	var n group.Namer
	var debug, release group.Stack
	for _, s := range []struct {
		to        *group.Stack
		file      string
		functions []symbol.Frame
	}{
		{&debug, libc, []symbol.Frame{{Function: "abort", Linkage: "abort"}}},
		{&debug, app, []symbol.Frame{total}},
		{&debug, app, []symbol.Frame{pay}},
		{&release, app, []symbol.Frame{total, part}},
	} {
		f, a := frame(s.file, s.functions...)
		s.to.Add(&n, f, a, true)
	}
	fmt.Println(debug.Names(), debug.Group())
	fmt.Println(release.Names(), release.Group())
	// Output:
	// [Cart::total Cart::pay] 2:b2954533e4fc820b
	// [Cart::total Cart::pay] 2:b2954533e4fc820b
}
