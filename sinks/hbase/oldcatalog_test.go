package hbase

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/symlake/symlake/sinks"
	"github.com/symlake/symlake/sinks/hbase/hbasetest"
	"github.com/symlake/symlake/sinks/hbase/internal/client"
	"github.com/symlake/symlake/sinks/hbase/internal/places"
)

// The catalog of an older program, one region that may not split, with unsalted ledger rows: a reader reads it as it
// is, a writer lets it split, changes move rows, and so does Tidy. It answers right at each of these times.
func TestOldCatalog(t *testing.T) {
	const n = 300
	url := func(i int) string { return fmt.Sprintf("s3://b/2026-11-23/lib%03d.so", i) }
	s := unchecked(t, func(_, c *client.Schema) {
		c.Attributes = map[string]string{splitEnabled: "false"}
		c.Families[0].Attributes[blockEncoding] = "NONE"
	})
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	want := map[string]string{}
	var cells []client.Cell
	put := func(row, record string, stamp uint64) {
		cells = append(cells, client.Put([]byte(row), catalogColumn, places.Value([]byte(record)), stamp))
		want[row] = record
	}
	now := uint64(time.Now().UnixMilli())
	for i := range n {
		put("o"+url(i), fmt.Sprint("old ", i), now)
	}
	put("a", "artifact", now)
	put("p", "obligation", client.Everlasting)
	gone := client.Put([]byte("os3://deleted"), catalogColumn, nil, now)
	must(s.c.Write(t.Context(), s.catalog(), append(cells, gone), client.SyncWAL, false))

	rest := "//" + hbasetest.Shared(t).Master + "/" + s.namespace
	holds := func(store *sinks.Store) {
		t.Helper()
		var last []byte
		got := map[string]string{}
		must(store.Catalog.List(t.Context(), sinks.Span{}, func(r sinks.Row) error {
			if bytes.Compare(last, r.Key) >= 0 {
				t.Errorf("%q after %q", r.Key, last)
			}
			last = r.Key
			got[string(r.Key)] = string(r.Value)
			return nil
		}))
		for k, v := range want {
			if got[k] != v {
				t.Fatalf("%s is %q in the list, want %q", k, got[k], v)
			}
		}
		if len(got) != len(want) {
			t.Fatalf("%d records, want %d", len(got), len(want))
		}
		keys := [][]byte{[]byte("os3://deleted"), []byte("o" + url(0)), []byte("a"), []byte("o" + url(n-1))}
		list, err := store.Catalog.GetAll(t.Context(), keys)
		must(err)
		for i, k := range keys {
			if string(list[i]) != want[string(k)] {
				t.Errorf("%s is %q, want %q", k, list[i], want[string(k)])
			}
		}
	}
	reader, err := Open(t.Context(), rest, Options{ReadOnly: true})
	must(err)
	defer reader.Close()
	holds(reader)
	have, err := s.c.Describe(t.Context(), s.catalog())
	must(err)
	if have.Attributes[splitEnabled] != "false" {
		t.Error("a reader altered the table")
	}

	w, err := Open(t.Context(), rest, Options{Write: WriteOptions{Notice: func(string) {}}})
	must(err)
	defer w.Close()
	if slices.ContainsFunc(w.Notes, func(s string) bool { return strings.Contains(s, "catalog") }) {
		t.Errorf("notes %q", w.Notes)
	}
	have, err = s.c.Describe(t.Context(), s.catalog())
	must(err)
	if have.Attributes[splitEnabled] == "false" || have.Families[0].Attributes[blockEncoding] != catalogEncoding {
		t.Errorf("the table was not altered: %v %v", have.Attributes, have.Families[0].Attributes)
	}
	holds(w)
	var changes []sinks.Change
	for i := 0; i < n; i += 3 { // touched, one of two deleted
		key := "o" + url(i)
		ch := sinks.Change{Key: []byte(key), Old: []byte(want[key])}
		if delete(want, key); i%2 == 0 {
			want[key] = "new"
			ch.New = []byte("new")
		}
		changes = append(changes, ch)
	}
	must(errors.Join(w.Catalog.SwapAll(t.Context(), changes)...))
	if err := w.Catalog.Swap(t.Context(), []byte("o"+url(1)), nil, []byte("x")); !errors.Is(err, sinks.ErrConflict) {
		t.Errorf("an old row is no conflict: %v", err)
	}
	holds(w)
	holds(reader)

	// A process that moves rows dies after the first ones were copied, and after some were removed.
	part := []byte("o" + url(1))
	must(errors.Join(values{s, catalogColumn}.Check(t.Context(), []sinks.Change{{Key: places.Row(part), New: places.Value([]byte(want[string(part)]))}})...))
	must(values{s, catalogColumn}.Delete(t.Context(), [][]byte{part}))
	holds(w)
	holds(reader)

	_, err = w.Blocks.Tidy(t.Context(), time.Now())
	must(err)
	holds(w)
	holds(reader)
	left := 0
	must(s.c.Scan(t.Context(), s.catalog(), catalogColumn, client.Span{From: []byte("os"), Stop: []byte("p")}, client.ScanOptions{},
		func(client.Cell) error { left++; return nil }))
	if left > 0 {
		t.Errorf("%d old rows are left", left)
	}
}

// A region of the catalog that hbase:meta does not name costs the answers of its records. No record of it is absent.
func TestCatalogHole(t *testing.T) {
	server := hbasetest.Shared(t)
	rest := "//" + server.Master + "/" + namespace() + "?regions=1"
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	must(Create(t.Context(), rest, Options{}))
	w, err := Open(t.Context(), rest, Options{})
	must(err)
	defer w.Close()
	keys := [][]byte{[]byte("a"), []byte("n"), []byte("ourl"), []byte("p")}
	for _, k := range keys {
		must(w.Catalog.Swap(t.Context(), k, nil, k))
	}
	a, err := parse(rest, false)
	must(err)
	lost := []byte("ourl")
	c := client.New(a.client)
	defer c.Close()
	regions, err := c.Regions(t.Context(), a.catalog())
	must(err)
	for _, r := range regions {
		if r.Holds(places.Row(lost)) {
			server.Forget(t, hbasetest.Region{Name: r.Name, End: r.End})
		}
	}
	s, err := Open(t.Context(), rest, Options{ReadOnly: true})
	must(err)
	defer s.Close()
	for _, k := range keys {
		v, err := s.Catalog.Get(t.Context(), k)
		switch is := bytes.Equal(k, lost); {
		case is && !errors.Is(err, sinks.ErrCorrupt):
			t.Errorf("%s in a lost region: %q, %v", k, v, err)
		case !is && (err != nil || !bytes.Equal(v, k)):
			t.Errorf("%s: %q, %v", k, v, err)
		}
	}
	values, err := s.Catalog.GetAll(t.Context(), keys) // in one request
	for i, err := range sinks.ByKey(err, len(keys)) {
		switch is := bytes.Equal(keys[i], lost); {
		case is && !errors.Is(err, sinks.ErrCorrupt):
			t.Errorf("%s in a lost region, read with others: %q, %v", keys[i], values[i], err)
		case !is && (err != nil || !bytes.Equal(values[i], keys[i])):
			t.Errorf("%s, read with a lost one: %q, %v", keys[i], values[i], err)
		}
	}
	for _, span := range []sinks.Span{{}, sinks.Under([]byte("o")), sinks.Exactly(lost)} {
		err = s.Catalog.List(t.Context(), span, func(sinks.Row) error { return nil })
		if !errors.Is(err, sinks.ErrCorrupt) || !strings.Contains(err.Error(), a.catalog().String()) {
			t.Errorf("a list over the lost region: %v", err)
		}
	}
}
