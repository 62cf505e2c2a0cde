package all

import (
	"strings"
	"testing"

	"github.com/symlake/symlake/formats/report"
)

// A JSON object behind other text of a line is read as JSON, and the text around it stays.
func TestObjectsBehindText(t *testing.T) {
	const (
		stack  = `{"stack":"a.b: x\n\tat a.c.d(SourceFile:1)\n\tat a.c.e(SourceFile:2)"}`
		frames = `{"frames":[{"filename":"app.min.js","lineno":1,"colno":44}]}`
	)
	for text, want := range map[string]int{
		"2026-11-23T03:37:49Z app[12]: " + stack + "\n":                                 2,
		"sent " + frames + " to the service\r\nsent " + frames:                          2,
		"W x " + strings.Repeat("{} ", 3) + frames + "\n":                               1,
		"W x {\"pad\":\"" + strings.Repeat("0", 1<<20) + "\"," + frames[1:] + " tail\n": 1,
		"func f() {\"x\"} {\n" + "at a.c.d(SourceFile:1)\n":                             1,
		"java.lang.Error: bad {\"a\":1}\n\tat a.c.d(SourceFile:1)\n":                    1,
		"cut {\"frames\":[{\"filename\":\"app.min.js\",\"lineno\":1,\"colno\":44}":      0,
	} {
		var out strings.Builder
		n := 0
		for _, s := range split(t, text, report.Options{}) {
			n += s.Frames()
			out.Write(s.Text)
		}
		if n < want || want == 0 && n > 0 || out.String() != text {
			t.Errorf("%.200q: %d frames, want %d\n%.200q", text, n, want, out.String())
		}
	}
}
