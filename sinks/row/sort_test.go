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
		for _, p := range rapid.SliceOfDistinct(rapid.SliceOfN(part, 0, 6), func(s []string) string { return strings.Join(s, "") }).Draw(t, "strings") {
			strs = append(strs, strings.Join(p, ""))
		}
		var got []uint32
		for i := range strs {
			got = append(got, uint32(i))
		}
		want := slices.Clone(got)
		slices.SortFunc(want, func(a, b uint32) int { return strings.Compare(strs[a], strs[b]) })
		sortStrings(strs, got)
		if !slices.Equal(got, want) {
			t.Fatalf("%q: %v, want %v", strs, got, want)
		}
	})
}
