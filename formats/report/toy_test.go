package report_test

import (
	"bytes"
	"testing"

	"github.com/symlake/symlake/formats/internal/scan"
	"github.com/symlake/symlake/formats/report"
	"github.com/symlake/symlake/formats/report/reporttest"
	"github.com/symlake/symlake/formats/symbol"
)

// toyForm and toyDialect are all that a new dialect needs: lines such as "toy> libcart.so 0x1f3a".
var toyForm = &report.Form{Name: "toy", Frame0: report.Exact, Kind: symbol.ELF, Lines: "toy> libcart.so 0x1f3a"}

var toyDialect = report.Dialect{
	Name:  "toy",
	Forms: []*report.Form{toyForm},
	Lines: func(*report.Builder) report.Lines { return report.Lines{Find: findToy} },
}

func findToy(l *report.Line, f *report.Found) bool {
	rest, ok := bytes.CutPrefix(l.Text, []byte("toy> "))
	if !ok {
		return false
	}
	name, address, ok := bytes.Cut(rest, []byte(" 0x"))
	if !ok {
		return false
	}
	v, end, ok := scan.Hex(address, 0)
	if !ok || end != len(address) {
		return false
	}
	p := report.Place{Tail: len("toy> "), PC: v, Space: symbol.Unslid}
	p.SetFile(name)
	*f = report.Found{Form: toyForm, Number: -1, Room: report.FrameRoom, Place: p}
	return true
}

// A dialect that stands in no list is passed to Split by value, read and printed.
func TestToyDialect(t *testing.T) {
	reporttest.Run(t, toyDialect, reporttest.Fixture{Name: "lines", Text: "before\ntoy> libcart.so 0x1f3a\ntoy> lib/app.so 0x20\nbehind\n", Frames: 2})

	const input = "toy> libcart.so 0x1f3a\ntoy> lib/app.so 0x20\n"
	var out bytes.Buffer
	err := report.Split(t.Context(), bytes.NewReader([]byte(input)), []report.Dialect{toyDialect}, report.Options{}, func(r *report.Report) error {
		frames := r.Threads[0].Frames
		if r.Format() != "toy" || frames[0].At.Value != 0x1f3a || frames[1].At.Value != 0x1e || frames[1].Image[0] != "app.so" {
			t.Errorf("%s: %+v", r.Format(), frames)
		}
		return report.Print(&out, r, [][]symbol.Answer{{{Status: symbol.Found, Frames: []symbol.Frame{{Function: "add", File: "cart.c", Line: 3}}}}})
	})
	if err != nil {
		t.Fatal(err)
	}
	if want := "toy> libcart.so 0x1f3a\n     add\n     cart.c:3:0\ntoy> lib/app.so 0x20\n"; out.String() != want {
		t.Errorf("%q, want %q", out.String(), want)
	}
}
