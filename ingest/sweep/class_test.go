package sweep

import (
	"fmt"
	"slices"
	"testing"

	"github.com/symlake/symlake/formats/symbol"
)

// The last class of a name counts; names that share a position are kept apart.
func TestClasses(t *testing.T) {
	position := func(name string) uint64 { return uint64(name[0]) }
	src := []string{"a1:x", "b1:x", "b1:y", "c1:x", "c2:x", "c1:y", "c3:x", "c2:z", "d1:x"}
	var runs [2]symbol.Class // as the sorter's, gone at the call after the next
	i := 0
	var got []string
	counts, err := Classes(func(into *symbol.Run) (uint64, bool, error) {
		if i == len(src) {
			return 0, false, nil
		}
		runs[i%2] = symbol.Class{Name: src[i][:2], Original: src[i][3:]}
		into.Class = &runs[i%2]
		i++
		return uint64(i), true, nil
	}, position, func(r *symbol.Run) error {
		got = append(got, fmt.Sprintf("%s:%s", r.Class.Name, r.Class.Original))
		return nil
	})
	want := []string{"a1:x", "b1:y", "c1:y", "c3:x", "c2:z", "d1:x"}
	if err != nil || !slices.Equal(got, want) || counts.Runs != 6 {
		t.Fatalf("%q, want %q; %d, %v", got, want, counts.Runs, err)
	}
	i = 0
	src = []string{"b1:x", "a1:x"}
	if _, err := Classes(func(into *symbol.Run) (uint64, bool, error) {
		into.Class = &symbol.Class{Name: src[i][:2]}
		i++
		return 0, true, nil
	}, position, func(*symbol.Run) error { return nil }); err == nil {
		t.Fatal("positions that descend are taken")
	}
}
