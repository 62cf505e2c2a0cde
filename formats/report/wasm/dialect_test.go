package wasm_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/symlake/symlake/formats/report"
	"github.com/symlake/symlake/formats/report/all"
	"github.com/symlake/symlake/formats/report/reporttest"
	"github.com/symlake/symlake/formats/report/wasm"
	"github.com/symlake/symlake/formats/symbol"
)

func TestDialect(t *testing.T) {
	reporttest.Run(t, wasm.Dialect,
		reporttest.Fixture{Name: "wasmtime", Frames: 3, Text: "error while executing at wasm backtrace:\n    0:    0x254 - app.wasm!app::Disc::area(int) const\n    1:     0xc5 - <unknown>!<wasm function 1>\n   10: 0x1a2b3c - app.wasm!run\n"},
		reporttest.Fixture{Name: "wasm3", Frames: 2, Text: "==== wasm backtrace:\n  0: 0x000c59 - .unnamed!c\n  1: 0x000c5e - app.wasm!b\nError: [trap] unreachable executed\n"},
	)
}

// Offsets count from the module's first byte and are not stepped back. Offsets of wasm3 lie behind the instruction.
func TestPlaces(t *testing.T) {
	for line, want := range map[string]*report.Frame{
		"    0:    0x254 - app.wasm!app::Disc::area(int) const":   {Image: []string{"app.wasm"}, At: symbol.Where{Value: 0x254}},
		"    1:     0xc5 - app.wasm!run":                          {Image: []string{"app.wasm"}, At: symbol.Where{Value: 0xc5}},
		"    1:     0xc5 - <unknown>!<wasm function 1>":           {At: symbol.Where{Value: 0xc5}},
		"  1: 0x000c5e - .unnamed!b":                              {At: symbol.Where{Value: 0xc5d}},
		"   1:        0x103f8fd10 - std::backtrace::trace":        nil,
		"   1:        0x103f8fd10 - std::backtrace::trace!now(1)": nil,
		"   1:     0xc5 - app.wasm":                               nil,
	} {
		var got []report.Frame
		err := report.Split(t.Context(), strings.NewReader("backtrace:\n    0:     0x10 - app.wasm!f\n"+line+"\n"), all.Dialects, report.Options{}, func(r *report.Report) error {
			for _, thread := range r.Threads {
				got = append(got, thread.Frames...)
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		got = slices.DeleteFunc(got, func(f report.Frame) bool { return f.Raw == 0x10 || f.Kind != symbol.Wasm })
		switch {
		case want == nil && len(got) == 0:
		case want == nil || len(got) != 1:
			t.Errorf("%s: %+v", line, got)
		case !slices.Equal(got[0].Image, want.Image) || got[0].At != want.At:
			t.Errorf("%s: %q at %+v", line, got[0].Image, got[0].At)
		}
	}
}
