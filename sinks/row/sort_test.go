package row

import (
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// Strings that begin alike, end within eight bytes, and hold zeros.
func TestSortStrings(t *testing.T) {
	part := rapid.SampledFrom([]string{"", "a", "_ZNSt6__ndk1", "\x00", "\x00\x00\x00", "\xff", "12345678", "12345679"})
	rapid.Check(t, func(t *rapid.T) {
		var strs []string
		for _, p := range rapid.SliceOfNDistinct(rapid.SliceOfN(part, 0, 6), 0, 150, func(s []string) string { return strings.Join(s, "") }).Draw(t, "strings") {
			strs = append(strs, strings.Join(p, ""))
		}
		checkSorted(t, strs)
	})
	strs, _ := synthetic(300, 40)
	checkSorted(t, strs)
}

func checkSorted(t fataler, strs []string) {
	t.Helper()
	var got []sorted
	for i := range strs {
		got = append(got, sorted{at: uint32(i), alike: 99})
	}
	want := slices.Sorted(slices.Values(strs))
	sortStrings(strs, got)
	last := ""
	for i, s := range got {
		if strs[s.at] != want[i] {
			t.Fatalf("%q: %d is %q, want %q", strs, i, strs[s.at], want[i])
		}
		n := 0
		for n < len(last) && n < len(want[i]) && last[n] == want[i][n] {
			n++
		}
		if int(s.alike) != n {
			t.Fatalf("%q after %q: %d bytes alike, want %d", want[i], last, s.alike, n)
		}
		last = want[i]
	}
}
