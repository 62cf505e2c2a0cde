package lookup_test

import (
	"testing"

	"github.com/symlake/symlake/formats/symbol"
	"github.com/symlake/symlake/sinks/catalog"
	"github.com/symlake/symlake/sinks/lookup"
	"github.com/symlake/symlake/sinks/row"
)

// Where a function begins, from everywhere in it, also where it goes through several rows.
func TestEntry(t *testing.T) {
	w := newWorld(t)
	im := newImage(cartID, "libcart.so", 3000)
	loaded := w.publish(im)
	failIf(t, loaded.Rows < 3, "%d rows", loaded.Rows)
	c := w.client()
	for pos := uint64(0); pos < im.End; pos += 3 {
		start, ok := c.Entry(t.Context(), at(im.ID, pos))
		status, _ := im.want(pos)
		failIf(t, ok != (status == symbol.Found), "position %#x: %v, it is a %s", pos, ok, status)
		failIf(t, ok && start != pos/64*64, "position %#x: begins at %#x", pos, start)
	}

	// One function of 40,000 ranges.
	long := symbol.Artifact{ID: symbol.NewID(symbol.ELF, "feed"), Kind: symbol.ELF, Canonical: "feed", End: 16 * 40_000}
	table := row.Table{Strings: []string{"", "long"}, Runs: []uint32{0, 1}}
	batch, err := w.store.Blocks.Begin(t.Context())
	w.must(err)
	enc, err := row.NewEncoder(w.ring, &long, row.NewLoad(w.now()), table, batch.Write)
	w.must(err)
	r := symbol.Run{Rank: symbol.RankDWARF, Strings: table.Strings, Scopes: []symbol.Scope{{Parent: -1, Function: 1}}}
	for i := uint64(16); i < 40_000; i++ {
		r.Ranges = append(r.Ranges, symbol.Range{Start: 16 * i, End: 16*i + 16, At: symbol.Site{Line: uint32(i)}})
	}
	w.must(enc.Add(&r))
	loaded, err = enc.Close()
	w.must(err)
	w.must(batch.Commit(t.Context()))
	w.record(long.ID, func(r *catalog.Record) { r.Published = loaded })
	failIf(t, loaded.Rows < 5, "%d rows", loaded.Rows)
	for _, pos := range []uint64{256, 300_000, 639_999} {
		start, ok := c.Entry(t.Context(), lookup.Query{Artifact: long.ID, Where: symbol.Where{Value: pos}})
		failIf(t, !ok || start != 256, "position %d: %v, begins at %d", pos, ok, start)
	}
}
