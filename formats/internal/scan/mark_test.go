package scan

import "testing"

func TestUnmarked(t *testing.T) {
	for in, want := range map[string]string{"": "", ">": " ", "a > b": "a > b", "> a\n>b\nc\n>> d": "  a\n b\nc\n   d"} {
		if got := string(Unmarked([]byte(in), QuoteMarks)); got != want {
			t.Errorf("%q without its marks is %q", in, got)
		}
	}
}
