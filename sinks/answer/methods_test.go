package answer_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/symlake/symlake/formats/report"
	"github.com/symlake/symlake/formats/retrace"
	"github.com/symlake/symlake/formats/symbol"
	"github.com/symlake/symlake/sinks"
	"github.com/symlake/symlake/sinks/answer"
	"github.com/symlake/symlake/sinks/lookup"
	"github.com/symlake/symlake/sinks/lookup/lookuptest"
)

// Methods asked for in any order have the names that their classes say, also where the cache has no room for classes; and
// where it has, no row is read twice.
func TestMethods(t *testing.T) {
	w := lookuptest.NewWorld(t)
	const classes = 500
	id := w.PublishClasses(lookuptest.MappingOf(classes))
	for _, most := range []int{1, 1 << 24} {
		reads := 0
		c := answer.New(w.ClientWith(lookup.Options{CacheBytes: 1, Observer: lookup.Observer{Read: func(r lookup.Read) { reads += r.Rows }}}))
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
			lookuptest.NoError(t, err)
			lookuptest.FailIf(t, len(got) != 1 || got[0] != want, "%s.%s: %+v, want %+v", asked.Class, asked.Method, got, want)
		}
		for range 20 * classes {
			ask()
		}
		before := reads
		for range 1000 {
			ask()
		}
		lookuptest.FailIf(t, (reads == before) != (most > 1), "%d rows read again with %d bytes", reads-before, most)
		got, err := m.Find(t.Context(), &report.Managed{Class: "o.none", Method: "m", Line: -1}, "void")
		lookuptest.NoError(t, err)
		lookuptest.FailIf(t, got != nil, "a class that is not there: %v", got)
	}
	_, err := answerer(w).Methods(symbol.NewID(symbol.R8, "beef"), 1).Find(t.Context(), &report.Managed{Class: "o.c1", Method: "m", Line: -1}, "")
	lookuptest.FailIf(t, err == nil, "a mapping that is not there")
}

// A method of a class in a damaged row has the status corrupt, and a reason.
func TestMethodOfBadRow(t *testing.T) {
	w := lookuptest.NewWorld(t)
	id := w.PublishClasses(lookuptest.MappingOf(10))
	damaged := func(sinks.Row) (sinks.Row, error) { return sinks.Row{}, sinks.ErrCorrupt }
	w.Blocks.Change.Store(&damaged)
	a := answerer(w).Method(t.Context(), id, "o.c1", "m00", 0)
	lookuptest.FailIf(t, a.Status != symbol.Corrupt || a.Err == nil, "%+v", a)
}
