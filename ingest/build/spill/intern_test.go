package spill

import (
	"maps"
	"reflect"
	"strconv"
	"sync"
	"testing"

	"github.com/symlake/symlake/formats/symbol"
	"github.com/symlake/symlake/sinks/scratch"
)

// Strings that come many at a time, in a table that parts share, equal strings that come one by one: some twice, some in the
// tables of other lanes too, some used by no run, which are no strings of the load, and some "". A sorter for few strings
// takes as many.
func TestManyStringsAtOnce(t *testing.T) {
	sorted := func(shared, lasting, few bool) (map[string]uint32, []got) {
		s := New(Options{Budget: scratch.NewBudget(1 << 20), Scratch: t.TempDir(), Lasting: lasting, Few: few})
		defer s.Close()
		var wg sync.WaitGroup
		for part := range 3 {
			lane := s.Lane()
			wg.Go(func() {
				strs, is := []string{""}, new(int)
				for i := range 3000 {
					for k := range i % 7 { // from none to more than one look-up takes
						strs = append(strs, [...]string{strconv.Itoa(i*part + k), "", strconv.Itoa(i)}[k%3])
					}
					at, f := uint64(i), uint32(len(strs)-1)
					r := symbol.Run{Rank: 1, Strings: strs, Scopes: []symbol.Scope{{Parent: -1, Function: f}},
						Ranges: []symbol.Range{{Start: at, End: at + 1, At: symbol.Site{File: f / 2, Line: 1}}}}
					if shared {
						r.Table = is
					}
					if err := lane.Add(part, &r); err != nil {
						t.Error(err)
						return
					}
				}
			})
		}
		wg.Wait()
		s.Sort()
		for i, text := range s.Table().Strings {
			if n := s.Table().Runs[i]; (n == 0 || text == "") && i > 0 {
				t.Errorf("string %d: %q of %d runs", i, text, n)
			}
		}
		return byText(s.Table()), collect(t, s)
	}
	uses, runs := sorted(false, false, false)
	for _, c := range []struct{ shared, lasting, few bool }{{true, false, false}, {true, true, false}, {true, false, true}, {false, true, true}} {
		gotUses, gotRuns := sorted(c.shared, c.lasting, c.few)
		if !maps.Equal(gotUses, uses) {
			t.Errorf("%+v: %d strings, want %d, or other runs use them", c, len(gotUses), len(uses))
		}
		if !reflect.DeepEqual(gotRuns, runs) {
			t.Errorf("%+v: %d runs, want %d, or they differ", c, len(gotRuns), len(runs))
		}
	}
}
