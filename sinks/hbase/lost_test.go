package hbase

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/symlake/symlake/sinks"
	"github.com/symlake/symlake/sinks/hbase/hbasetest"
	"github.com/symlake/symlake/sinks/hbase/internal/client"
	"github.com/symlake/symlake/sinks/row"
)

// A table that was dropped is never made anew beside the other one, unless the operator asks for it.
func TestLostTables(t *testing.T) {
	server := hbasetest.Shared(t)
	c := client.New(client.Options{Servers: []string{server.Master}})
	defer c.Close()
	rest := "//" + server.Master + "/" + namespace() + "?regions=2"
	a, err := parse(rest, false)
	if err != nil {
		t.Fatal(err)
	}
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	load := sinks.Row{Key: append(row.LoadPrefix([16]byte{1}, sinks.Load{2}), slices.Repeat([]byte{3}, 9)...), Value: []byte("value")}
	write := func() {
		t.Helper()
		s, err := Open(t.Context(), rest, Options{})
		must(err)
		defer s.Close()
		b, err := s.Blocks.Begin(t.Context())
		must(err)
		must(b.Write(load))
		must(b.Commit(t.Context()))
		n := 0
		must(s.Blocks.Scan(t.Context(), sinks.Span{}, func(sinks.Row) error { n++; return nil }))
		if n != 1 {
			t.Errorf("%d rows", n)
		}
	}
	refused := func(gone client.Table) {
		t.Helper()
		_, reading := Open(t.Context(), rest, Options{ReadOnly: true})
		_, writing := Open(t.Context(), rest, Options{})
		for i, err := range []error{reading, writing, Create(t.Context(), rest, Options{})} {
			if !errors.Is(err, sinks.ErrLost) || !strings.Contains(err.Error(), gone.String()+" is missing") {
				t.Errorf("%d: %v", i, err)
			}
		}
		if _, err := c.Describe(t.Context(), gone); !errors.Is(err, client.ErrNoTable) {
			t.Errorf("the table was made: %v", err)
		}
	}
	must(Create(t.Context(), rest, Options{}))
	must(Create(t.Context(), rest, Options{}))
	// An empty table alone is a store that another process makes.
	must(c.DeleteTable(t.Context(), a.catalog()))
	must(Create(t.Context(), rest, Options{}))
	s, err := Open(t.Context(), rest, Options{})
	must(err)
	must(s.Catalog.Swap(t.Context(), []byte("a"), nil, []byte("record")))
	must(s.Close())
	write()

	must(c.DeleteTable(t.Context(), a.blocks()))
	refused(a.blocks())
	must(Create(t.Context(), rest, Options{NewBlocks: true}))
	write()

	must(c.DeleteTable(t.Context(), a.catalog()))
	refused(a.catalog())
	if err := Create(t.Context(), rest, Options{NewBlocks: true}); !errors.Is(err, sinks.ErrLost) {
		t.Errorf("a catalog is made: %v", err)
	}
}
