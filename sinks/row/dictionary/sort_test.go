package dictionary

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/symlake/symlake/sinks/row/rowtest"
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
	strs, _ := rowtest.Synthetic(300, 40)
	checkSorted(t, strs)
}

// Strings made so that each division is a bad one are sorted all the same.
func TestSortStringsBadDivisions(t *testing.T) {
	var strs []string
	var ss []sorted
	for i := range 5000 {
		strs = append(strs, fmt.Sprintf("%04d%06d", i*7919%500, i*7919%5000))
		ss = append(ss, sorted{at: uint32(i)})
	}
	s := sorter{strs: strs}
	for i := range ss {
		ss[i].key = s.key(uint32(i), 0)
	}
	s.keyed(ss, 0, 1, neighbor{})
	for i := 1; i < len(ss); i++ {
		a, b := strs[ss[i-1].at], strs[ss[i].at]
		if a >= b || int(ss[i].alike) != alike(a, b) {
			t.Fatalf("%q after %q, %d bytes alike", b, a, ss[i].alike)
		}
	}
}

func checkSorted(t interface {
	Helper()
	Fatalf(format string, args ...any)
}, strs []string) {
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
