package discover

import (
	"slices"
	"testing"
)

// A run lists only the folders that patterns begin with.
func TestLiterals(t *testing.T) {
	for _, c := range []struct{ include, want []string }{
		{nil, nil},
		{[]string{"**/*.so"}, nil},
		{[]string{"android/**/*.so", "android/7/mapping.txt", "ios/*"}, []string{"android/", "ios/"}},
		{[]string{"a/b*", "x.so"}, nil},
		{[]string{"a/b{app}/c"}, []string{"a/"}},
	} {
		if got := literals(c.include); !slices.Equal(got, c.want) {
			t.Errorf("%q: %q, want %q", c.include, got, c.want)
		}
	}
}
