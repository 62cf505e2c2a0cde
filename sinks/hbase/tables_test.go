package hbase

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/symlake/symlake/sinks"
	"github.com/symlake/symlake/sinks/hbase/hbasetest"
	"github.com/symlake/symlake/sinks/hbase/internal/client"
)

// Tables that would lose symbols are refused, others that are not as ours are used with a word on each difference.
func TestTables(t *testing.T) {
	server := hbasetest.Shared(t)
	c := client.New(client.Options{Servers: []string{server.Master}})
	defer c.Close()
	for _, tt := range []struct {
		name   string
		change func(blocks, catalog *client.Schema)
		unfit  string   // in the error
		notes  []string // in the notes, in order
	}{
		{"as made", func(_, _ *client.Schema) {}, "", nil},
		{"finite TTL", func(b, _ *client.Schema) { b.Families[0].Attributes["TTL"] = "86400" }, "family b: with TTL 86400", nil},
		{"catalog with TTL", func(_, c *client.Schema) { c.Families[0].Attributes["TTL"] = "5" }, "catalog, family c: with TTL 5", nil},
		{"missing family", func(b, _ *client.Schema) { b.Families = b.Families[:1] }, "family g is missing", nil},
		{"other attributes", func(b, _ *client.Schema) {
			b.Families[0].Attributes["BLOCKSIZE"], b.Families[0].Attributes["BLOOMFILTER"] = "8192", "NONE"
		}, "", []string{"family b: BLOCKSIZE is 8192", "family b: BLOOMFILTER is NONE"}},
		{"of an older program", func(b, _ *client.Schema) { delete(b.Families[0].Configuration, smallFile) }, "",
			[]string{"family b: hbase.hstore.compaction.min.size is not set; symlake sets it to 1048576"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			rest := "//" + server.Master + "/" + namespace()
			a, err := parse(rest, false)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := Open(t.Context(), rest, Options{}); !errors.Is(err, sinks.ErrMissing) {
				t.Errorf("before there are tables: %v", err)
			}
			if _, err := Open(t.Context(), rest, Options{ReadOnly: true}); !errors.Is(err, sinks.ErrMissing) {
				t.Errorf("to read, before there are tables: %v", err)
			}
			schemas := a.schemas()
			tt.change(&schemas[0], &schemas[1])
			if err := c.CreateNamespace(t.Context(), a.namespace); err != nil {
				t.Fatal(err)
			}
			for _, s := range schemas {
				if _, err := c.CreateTable(t.Context(), s, nil); err != nil {
					t.Fatal(err)
				}
			}
			s, err := Open(t.Context(), rest, Options{})
			if tt.unfit != "" {
				if !errors.Is(err, sinks.ErrUnfit) || !strings.Contains(err.Error(), tt.unfit) {
					t.Errorf("%v, want %q", err, tt.unfit)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			defer s.Close()
			if !slices.EqualFunc(s.Notes, tt.notes, strings.Contains) {
				t.Errorf("notes %q, want %q", s.Notes, tt.notes)
			}
		})
	}
}
