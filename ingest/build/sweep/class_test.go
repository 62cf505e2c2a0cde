package sweep

import (
	"fmt"
	"slices"
	"testing"

	"github.com/symlake/symlake/formats/symbol"
	"github.com/symlake/symlake/sinks/row/classes"
	"github.com/symlake/symlake/sinks/row/dictionary"
)

// The last class of a name counts; names that share a position are kept apart.
func TestClasses(t *testing.T) {
	src := []string{"a1:x", "b1:x", "b1:y", "c1:x", "c2:x", "c1:y", "c3:x", "c2:z", "d1:x"}
	packer := classes.NewPacker(nil)
	var packed [2][]byte // as the sorter's, gone at the call after the next
	next := func(i int, into *classes.Packed) {
		packed[i%2] = packer.Append(packed[i%2][:0], &symbol.Class{Name: src[i][:2], Original: src[i][3:]})
		into.Form, into.Position = packed[i%2], uint64(src[i][0])
	}
	i := 0
	var got []string
	counts, err := Classes(func(into *classes.Packed) (uint64, bool, error) {
		if i == len(src) {
			return 0, false, nil
		}
		next(i, into)
		i++
		return uint64(i), true, nil
	}, func(r *classes.Packed) error {
		c, err := classes.Unpack(new(dictionary.Table), r.Form)
		if err != nil {
			return err
		}
		got = append(got, fmt.Sprintf("%s:%s", c.Name, c.Original))
		return nil
	})
	want := []string{"a1:x", "b1:y", "c1:y", "c3:x", "c2:z", "d1:x"}
	if err != nil || !slices.Equal(got, want) || counts.Runs != 6 {
		t.Fatalf("%q, want %q; %d, %v", got, want, counts.Runs, err)
	}
	i = 0
	src = []string{"b1:x", "a1:x"}
	if _, err := Classes(func(into *classes.Packed) (uint64, bool, error) {
		next(i, into)
		i++
		return 0, true, nil
	}, func(*classes.Packed) error { return nil }); err == nil {
		t.Fatal("positions that descend are taken")
	}
}
