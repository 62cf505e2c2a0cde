package scan

import (
	"strings"
	"testing"
)

func TestPlain(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"":                              "",
		"a b\r\nc\n":                    "a b\r\nc\n",
		"a\u00a0b":                      "a b",
		"\u00a0\t\u202fa\u3000b\u200bc": " \t a  bc",
		"a\u00a0\n\u00a0b \u00a0\r\nc":  "a\u00a0\n b \u00a0\r\nc",
		"a\rb\r\rc\r\nd\r\r\n":          "a\nb\n\nc\r\nd\r\r\n",
		"a\r":                           "a\n",
		"é…中\xc2":                       "é…中\xc2",
	} {
		if got := string(Plain([]byte(in))); got != want {
			t.Errorf("%q became %q, want %q", in, got, want)
		}
	}
	for in, want := range map[string]string{"a  ": "a  ", "a \u00a0 ": "a", "a\u200b": "a", "a\u00a0b": "a\u00a0b", "\u00a0": ""} {
		if got := string(TrimOdd([]byte(in))); got != want {
			t.Errorf("%q was cut to %q, want %q", in, got, want)
		}
	}
}

func TestNextLine(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]int{"": 0, "a": 0, "a\nb": 2, "a\r\nb": 3, "a\rb\n": 2, "a\r": 0, "a\r\r\nb": 4, "\r\rb": 1, "a\r\r": 0} {
		if got := NextLine([]byte(in)); got != want {
			t.Errorf("the first line of %q has %d bytes, want %d", in, got, want)
		}
	}
}

// TestPlainLinear: a run of odd spaces is looked at once, at the end of a line and before a letter.
func TestPlainLinear(t *testing.T) {
	for _, end := range []string{"", "\n", "x"} {
		text := []byte(strings.Repeat("\u00a0", 1<<20) + end)
		if got := Plain(text); (len(got) == len(text)) != (end != "x") {
			t.Errorf("%d bytes became %d", len(text), len(got))
		}
	}
}
