package loads

import (
	"slices"

	"github.com/symlake/symlake/formats/symbol"
	"github.com/symlake/symlake/sinks/row/ranges"
)

// together: asked together, questions get the answers that they get alone.
func together(t fataler, qs []ranges.Question) {
	t.Helper()
	ranges.Locate(qs)
	for i := range qs {
		q := &qs[i]
		want, known := q.Block.Find(q.Pos, make([]symbol.Frame, 1))
		if got, found := q.Find(make([]symbol.Frame, 1)); found != known || !slices.Equal(got, want) {
			t.Fatalf("%#x: with %d others found %v %v, alone %v %v", q.Pos, len(qs)-1, found, got, known, want)
		}
	}
}
