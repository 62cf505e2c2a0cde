package all

import (
	"bytes"
	"strings"
	"testing"

	"github.com/symlake/symlake/formats/report"
	"github.com/symlake/symlake/formats/symbol"
)

// TestClassBesideStack answers the class of an exception in a string of its own, before its stack or behind it.
func TestClassBesideStack(t *testing.T) {
	t.Parallel()
	stack := `"stack":"s.c: cannot pay\n\tat s.b.a(SourceFile:8)\n\tat s.b.b(SourceFile:5)\n"`
	far := strings.Repeat(`"more",`, 40)
	for text, want := range map[string]string{
		`{"type":"s.c",` + stack + `}`:                                      `"type":"com.shop.Bad",`,
		`{` + stack + `,"type":"s.c"}`:                                      `"type":"com.shop.Bad"}`,
		`[{"key":"exception.type","value":"s.c"},{` + stack + `}]`:          `"value":"com.shop.Bad"`,
		`{"type":"s.d",` + stack + `}`:                                      `"type":"s.d"`,
		`{` + stack + `,"a":[` + far + `"s.c"]}`:                            `"s.c"]`,
		`[{"type":"s.c",` + stack + `},{"type":"s.c",` + stack + `},"s.c"]`: `},{"type":"com.shop.Bad",`,
		`{"e":"{\"type\":\"s.c\",` + strings.ReplaceAll(strings.ReplaceAll(stack, `\`, `\\`), `"`, `\"`) + `}"}`: `\"type\":\"com.shop.Bad\"`,
	} {
		var out bytes.Buffer
		for _, s := range split(t, text, report.Options{}) {
			var answers [][]symbol.Answer
			for i := range s.Threads {
				list := repeat(symbol.Answer{Status: symbol.Found, Frames: []symbol.Frame{{Function: "com.shop.Pay.go", File: "Pay.java", Line: 7}}}, len(s.Threads[i].Frames))
				for k := range list {
					if m := s.Threads[i].Frames[k].Managed; m != nil && m.Method == "" {
						list[k].Frames[0].Function = "com.shop.Bad"
					}
				}
				answers = append(answers, list)
			}
			if err := report.Print(&out, s, answers); err != nil {
				t.Fatal(err)
			}
		}
		if !strings.Contains(out.String(), want) {
			t.Errorf("%s has no %s", out.String(), want)
		}
	}
}
