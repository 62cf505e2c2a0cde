package method_test

import (
	"testing"

	"github.com/symlake/symlake/formats/profile/otlp/internal/method"
)

// A method keeps its profiler's spelling.
func TestSpell(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ text, class, name, original, want string }{
		{"void a.b.c(a.d, int[])", "a.b", "c", "com.shop.Cart.add", "void com.shop.Cart.add(a.d, int[])"},
		{" a.b.c()", "a.b", "c", "com.shop.Cart.add", "com.shop.Cart.add()"},
		{"a/b.c", "a/b", "c", "com.shop.Cart.add", "com/shop/Cart.add"},
		{"a.b.<init>", "a.b", "<init>", "com.shop.Cart.<init>", "com.shop.Cart.<init>"},
		{"c", "", "", "", ""},
		{"std::vector<int>.x", "", "", "", ""},
		{"", "", "", "", ""},
		{".", "", "", "", ""},
		{"a.b.c(", "a.b", "c", "d.e", "d.e"},
	} {
		m := method.Parse(c.text)
		if m == nil {
			if c.name != "" {
				t.Errorf("%q is no method", c.text)
			}
			continue
		}
		if got := m.Spell(c.original, true); m.Method != c.name || got != c.want {
			t.Errorf("%q is %s of %s, and becomes %q: want %s, %q", c.text, m.Method, m.Class, got, c.name, c.want)
		}
	}
}
