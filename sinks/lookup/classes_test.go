package lookup_test

import (
	"cmp"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"testing"

	"github.com/symlake/symlake/formats/symbol"
	"github.com/symlake/symlake/sinks/catalog"
	"github.com/symlake/symlake/sinks/lookup"
	"github.com/symlake/symlake/sinks/row"
)

// mappingOf makes n classes and the facts.
func mappingOf(n int) []*symbol.Class {
	all := []*symbol.Class{{Facts: &symbol.Facts{Version: "2.2", Packages: []string{"", "o"}}}}
	for i := range n {
		c := &symbol.Class{Name: fmt.Sprintf("o.c%d", i), Original: fmt.Sprintf("com.example.shop.Thing%d", i), File: fmt.Sprintf("Thing%d.java", i)}
		for k := range i % 40 {
			c.Members = append(c.Members, symbol.Member{Name: fmt.Sprintf("m%02d", k), Method: &symbol.Method{Original: fmt.Sprintf("method%d", k*i), Type: "void", Params: "int,java.lang.String"},
				Lines: symbol.Lines{First: uint32(k), Last: uint32(k), Count: 2}, From: symbol.Lines{First: uint32(i + k), Last: uint32(i + k), Count: 2}})
		}
		all = append(all, c)
	}
	return all
}

// publishClasses stores a mapping and makes it findable.
func (w *world) publishClasses(classes []*symbol.Class) symbol.ID {
	w.t.Helper()
	a := symbol.Artifact{ID: symbol.NewID(symbol.R8, "cafe"), Kind: symbol.R8, Canonical: "cafe"}
	secret, err := row.NewSecret()
	w.must(err)
	classes = slices.Clone(classes)
	slices.SortFunc(classes, func(x, y *symbol.Class) int { return cmp.Compare(secret.Position(x.Name), secret.Position(y.Name)) })
	batch, err := w.store.Blocks.Begin(w.ctx())
	w.must(err)
	enc, err := row.NewEncoder(w.ring, &a, row.NewLoad(w.now()), row.Table{Strings: []string{""}, Runs: []uint32{0}, Secret: secret}, batch.Write)
	w.must(err)
	packer := row.NewPacker(nil)
	for _, c := range classes {
		w.must(enc.AddClass(&row.Packed{Position: secret.Position(c.Name), Form: packer.Append(nil, c)}))
	}
	loaded, err := enc.Close()
	w.must(err)
	w.must(batch.Commit(w.ctx()))
	w.record(a.ID, func(r *catalog.Record) { r.Published = loaded })
	return a.ID
}

func TestClasses(t *testing.T) {
	w := newWorld(t)
	all := mappingOf(3000)
	id := w.publishClasses(all)
	c := w.client()
	var names []string
	for _, class := range all {
		names = append(names, class.Name)
	}
	names = append(names, "not.There")
	for range 2 { // cold, then cached
		got, err := c.Classes(t.Context(), id, names)
		noError(t, err)
		for i, class := range all {
			failIf(t, !reflect.DeepEqual(got[i], class), "%q:\n got %+v\nwant %+v", class.Name, got[i], class)
		}
		failIf(t, got[len(all)] != nil, "a class that nobody has: %+v", got[len(all)])
	}
	_, err := c.Classes(t.Context(), symbol.NewID(symbol.R8, "beef"), names)
	var why *lookup.ClassError
	failIf(t, !errors.As(err, &why) || why.Status != symbol.NoArtifact, "no such mapping: %v", err)
}
