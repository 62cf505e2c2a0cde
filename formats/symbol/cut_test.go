package symbol

import (
	"strings"
	"testing"
	"unicode/utf8"
)

func TestCutName(t *testing.T) {
	long := strings.Repeat("x", 127041)
	cut := CutName(long)
	if !strings.HasPrefix(cut, long[:4000]+"…[cut, 127041 bytes, sha256 ") || len(cut) > CutBytes || !IsCut(cut) {
		t.Error(cut)
	}
	if other := CutName(long[1:] + "y"); other == cut || !IsCut(other) {
		t.Errorf("two names are cut to %s", other)
	}
	for i := range 5 {
		if cut := CutName(strings.Repeat("x", i) + strings.Repeat("é…🙂", 9000)); !utf8.ValidString(cut) || !IsCut(cut) {
			t.Errorf("%q", cut[3900:])
		}
	}
	if name := "a\xff" + strings.Repeat("\x80", 70000); len(CutName(name)) > CutBytes {
		t.Error("bytes that are no text")
	}
	for _, whole := range []string{"", "f]", long[:4096], "f()…[cut, 9 bytes, sha256 00]"} {
		if IsCut(whole) || ShortName(whole, 1<<16) != whole {
			t.Errorf("%.20q is cut", whole)
		}
	}
	if got := ShortName(long, 1<<16); got != cut {
		t.Error(got)
	}
}

// Pieces make the same name as the whole.
func TestCutter(t *testing.T) {
	name := strings.Repeat("ab…", 30000)
	for _, n := range []int{1, 7, 3999, 4000, 65536} {
		var c Cutter
		for rest := name; rest != ""; {
			k := min(n, len(rest))
			c.WriteString(rest[:k])
			rest = rest[k:]
		}
		if c.Name() != CutName(name) {
			t.Errorf("pieces of %d bytes make %q", n, c.Name()[3900:])
		}
	}
}
