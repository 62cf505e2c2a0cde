package hbase

import (
	"bytes"
	"fmt"
	"testing"
	"time"

	"github.com/symlake/symlake/formats/formattest"
	"github.com/symlake/symlake/sinks"
	"github.com/symlake/symlake/sinks/hbase/hbasetest"
	"github.com/symlake/symlake/sinks/hbase/internal/client"
	"github.com/symlake/symlake/sinks/hbase/internal/places"
)

// unchecked makes tables with changed schemas, and a store on them that checks nothing.
func unchecked(t *testing.T, change func(blocks, catalog *client.Schema)) *store {
	t.Helper()
	server := hbasetest.Shared(t)
	a, err := parse("//"+server.Master+"/"+namespace(), false)
	if err != nil {
		t.Fatal(err)
	}
	s := &store{address: a, c: client.New(a.client)}
	t.Cleanup(func() { s.c.Close() })
	s.watched.begin(time.Now())
	s.records = places.New(values{s, catalogColumn})
	s.w = newWriter(s.c, a.blocks(), a.catalog(), blocks{s}.generations, WriteOptions{})
	schemas := a.schemas()
	change(&schemas[0], &schemas[1])
	if err := s.c.CreateNamespace(t.Context(), a.namespace); err != nil {
		t.Fatal(err)
	}
	for _, schema := range schemas {
		if _, err := s.c.CreateTable(t.Context(), schema, nil); err != nil {
			t.Fatal(err)
		}
	}
	return s
}

// Rows and records outlive a TTL. Rows of older programs do not, but new generations drop and replace them.
func TestTimestamps(t *testing.T) {
	keep := unchecked(t, func(_, _ *client.Schema) {})
	lose := unchecked(t, func(b, c *client.Schema) {
		for _, f := range append(b.Families, c.Families...) {
			f.Attributes["TTL"] = "1"
		}
	})
	rows := someLoads(1, 1, 100)[0]
	key := []byte("key")
	old := func(s *store) {
		t.Helper()
		row := client.Put(rows[0].Key, blocksColumn, []byte("old"), 1)
		rec := client.Put(key, catalogColumn, places.Value([]byte("old")), uint64(time.Now().UnixMilli()))
		if err := s.c.Write(t.Context(), s.blocks(), []client.Cell{row}, client.SyncWAL, false); err != nil {
			t.Fatal(err)
		}
		if err := s.c.Write(t.Context(), s.catalog(), []client.Cell{rec}, client.SyncWAL, false); err != nil {
			t.Fatal(err)
		}
	}
	load := func(s *store) {
		t.Helper()
		b, err := blocks{s}.Begin(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		defer b.Abort()
		if err := b.Write(rows[0]); err != nil {
			t.Fatal(err)
		}
		if err := b.Commit(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	holds := func(s *store, what, want string) {
		t.Helper()
		got := ""
		if err := (blocks{s}).Scan(t.Context(), sinks.Span{}, func(r sinks.Row) error { got += string(r.Value); return nil }); err != nil || got != want {
			t.Errorf("%s: the row is %.20q, want %.20q: %v", what, got, want, err)
		}
	}
	record := func(s *store, want string) {
		t.Helper()
		if got, err := s.records.Get(t.Context(), key); err != nil || !bytes.Equal(got, []byte(want)) {
			t.Errorf("the record is %q, want %q: %v", got, want, err)
		}
	}
	prefix := rows[0].Key[:sinks.PrefixBytes]
	now := string(rows[0].Value)

	old(keep)
	holds(keep, "of an older program", "old")
	load(keep)
	holds(keep, "loaded beside it", now)
	for n := range 2 {
		if err := (blocks{keep}).Drop(t.Context(), [][]byte{prefix}); err != nil {
			t.Fatal(err)
		}
		holds(keep, fmt.Sprintf("drop %d", n), "")
		load(keep)
		holds(keep, fmt.Sprintf("load after drop %d", n), now)
	}
	// An older program noted a drop: the next generation is above it.
	cell := client.Put(prefix, generationColumn, []byte{0, 0, 0, 0, 0, 0, 0, 9}, client.Everlasting)
	if err := keep.c.Write(t.Context(), keep.blocks(), []client.Cell{cell}, client.SyncWAL, false); err != nil {
		t.Fatal(err)
	}
	if list, err := (blocks{keep}).generations(t.Context(), [][]byte{prefix}); err != nil || list[0] != client.Everlasting+9 {
		t.Errorf("generation %v: %v", list, err)
	}
	was := "old"
	for _, next := range []string{"a", "b"} {
		if err := keep.records.Swap(t.Context(), key, []byte(was), []byte(next)); err != nil {
			t.Fatal(err)
		}
		record(keep, next)
		was = next
	}

	load(lose)
	if err := lose.records.Swap(t.Context(), key, nil, []byte("first")); err != nil {
		t.Fatal(err)
	}
	clock := client.Put([]byte("clock"), catalogColumn, []byte("x"), uint64(time.Now().Add(500*time.Millisecond).UnixMilli()))
	if err := lose.c.Write(t.Context(), lose.catalog(), []client.Cell{clock}, client.SyncWAL, false); err != nil {
		t.Fatal(err)
	}
	formattest.Await(t, "a cell with a later time on it expires", func() bool {
		cell, err := lose.c.Get(t.Context(), lose.catalog(), catalogColumn, clock.Row)
		return err == nil && cell.Row == nil
	})
	holds(lose, "after its TTL", now)
	record(lose, "first")
}
