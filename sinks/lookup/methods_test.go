package lookup_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/symlake/symlake/formats/report"
	"github.com/symlake/symlake/formats/retrace"
	"github.com/symlake/symlake/formats/symbol"
	"github.com/symlake/symlake/sinks/lookup"
)

// Methods asked for in any order have the names that their classes say, also where what is kept of those has no room; and
// where it has, no row is read twice.
func TestMethods(t *testing.T) {
	w := newWorld(t)
	const classes = 500
	id := w.publishClasses(mappingOf(classes))
	for _, most := range []int{1, 1 << 24} {
		reads := 0
		c := w.clientWith(lookup.Options{CacheBytes: 1, Observer: lookup.Observer{Read: func(r lookup.Read) { reads += r.Rows }}})
		m := c.Methods(id, most)
		d := rand.New(rand.NewPCG(1, 2))
		ask := func() {
			i := d.IntN(classes)
			k := d.IntN(45)
			asked := report.Managed{Class: fmt.Sprintf("o.c%d", i), Method: fmt.Sprintf("m%02d", k), Params: true, Line: -1,
				Types: []report.Type{{Name: "int"}, {Name: "java.lang.String"}}}
			want := retrace.Original{Class: fmt.Sprintf("com.example.shop.Thing%d", i), Name: asked.Method, Params: "int,java.lang.String", File: fmt.Sprintf("Thing%d.java", i)}
			if k < i%40 { // it was renamed
				want.Name, want.Type = fmt.Sprintf("method%d", k*i), "void"
			}
			got, err := m.Find(t.Context(), &asked, "")
			noError(t, err)
			failIf(t, len(got) != 1 || got[0] != want, "%s.%s: %+v, want %+v", asked.Class, asked.Method, got, want)
		}
		for range 20 * classes {
			ask()
		}
		before := reads
		for range 1000 {
			ask()
		}
		failIf(t, (reads == before) != (most > 1), "%d rows read again with %d bytes", reads-before, most)
		got, err := m.Find(t.Context(), &report.Managed{Class: "o.none", Method: "m", Line: -1}, "void")
		noError(t, err)
		failIf(t, got != nil, "a class that is not there: %v", got)
	}
	_, err := w.client().Methods(symbol.NewID(symbol.R8, "beef"), 1).Find(t.Context(), &report.Managed{Class: "o.c1", Method: "m", Line: -1}, "")
	failIf(t, err == nil, "a mapping that is not there")
}
