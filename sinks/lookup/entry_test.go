package lookup_test

import (
	"testing"

	"github.com/symlake/symlake/formats/symbol"
	"github.com/symlake/symlake/sinks/catalog"
	"github.com/symlake/symlake/sinks/lookup"
	"github.com/symlake/symlake/sinks/lookup/lookuptest"
	"github.com/symlake/symlake/sinks/row"
	"github.com/symlake/symlake/sinks/row/dictionary"
	"github.com/symlake/symlake/sinks/row/loads"
)

// Where a function begins, from everywhere in it, also where it goes through several rows.
func TestEntry(t *testing.T) {
	w := lookuptest.NewWorld(t)
	im := lookuptest.NewImage(lookuptest.CartID, "libcart.so", 3000)
	loaded := w.Publish(im)
	lookuptest.FailIf(t, loaded.Rows < 3, "%d rows", loaded.Rows)
	c := w.Client()
	for pos := uint64(0); pos < im.End; pos += 3 {
		start, ok := c.Entry(t.Context(), lookuptest.At(im.ID, pos))
		status, _ := im.Want(pos)
		lookuptest.FailIf(t, ok != (status == symbol.Found), "position %#x: %v, it is a %s", pos, ok, status)
		lookuptest.FailIf(t, ok && start != pos/64*64, "position %#x: begins at %#x", pos, start)
	}

	// One function of 40,000 ranges.
	long := symbol.Artifact{ID: symbol.NewID(symbol.ELF, "feed"), Kind: symbol.ELF, Canonical: "feed", End: 16 * 40_000}
	table := dictionary.Table{Strings: []string{"", "long"}, Runs: []uint32{0, 1}}
	batch, err := w.Store.Blocks.Begin(t.Context())
	w.Must(err)
	enc, err := loads.NewEncoder(w.Ring, &long, row.NewLoad(w.Now()), nil, table, batch.Write)
	w.Must(err)
	r := symbol.Run{Rank: symbol.RankDWARF, Strings: table.Strings, Scopes: []symbol.Scope{{Parent: -1, Function: 1}}}
	for i := uint64(16); i < 40_000; i++ {
		r.Ranges = append(r.Ranges, symbol.Range{Start: 16 * i, End: 16*i + 16, At: symbol.Site{Line: uint32(i)}})
	}
	w.Must(enc.Add(&r))
	loaded, err = enc.Close()
	w.Must(err)
	w.Must(batch.Commit(t.Context()))
	w.Record(long.ID, func(r *catalog.Record) { r.Published = loaded })
	lookuptest.FailIf(t, loaded.Rows < 5, "%d rows", loaded.Rows)
	for _, pos := range []uint64{256, 300_000, 639_999} {
		start, ok := c.Entry(t.Context(), lookup.Query{Artifact: long.ID, Where: symbol.Where{Value: pos}})
		lookuptest.FailIf(t, !ok || start != 256, "position %d: %v, begins at %d", pos, ok, start)
	}
}
