package symbol

import (
	"slices"
	"testing"
	"unsafe"
)

// A list of one string is copied too: what a parser read it from is written over.
func TestCloneStrings(t *testing.T) {
	if CloneStrings(nil) != nil {
		t.Error("the copy of nil is not nil")
	}
	for _, want := range [][]string{{}, {""}, {"one"}, {"one", "", "three"}} {
		var from [][]byte
		list := []string{}
		for _, s := range want {
			b := []byte(s)
			from = append(from, b)
			list = append(list, unsafe.String(unsafe.SliceData(b), len(b)))
		}
		got := CloneStrings(list)
		for _, b := range from {
			clear(b)
		}
		if got == nil || !slices.Equal(got, want) {
			t.Errorf("CloneStrings(%q) = %q after what it copied was written over", want, got)
		}
	}
}
