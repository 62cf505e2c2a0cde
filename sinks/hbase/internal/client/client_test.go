package client_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"github.com/symlake/symlake/sinks/hbase/hbasetest"
	"github.com/symlake/symlake/sinks/hbase/internal/client"
)

func TestMain(m *testing.M) { hbasetest.Main(m) }

var col = client.Column{Family: "b", Qualifier: "v"}

// open gives a client of the shared server.
func open(t testing.TB, o client.Options) *client.Client {
	t.Helper()
	if o.Servers == nil && o.ZooKeeper == nil {
		o.Servers = []string{hbasetest.Shared(t).Master}
	}
	c := client.New(o)
	t.Cleanup(func() { c.Close() })
	return c
}

var tables atomic.Int64

// table makes a table with one family and region borders.
func table(t testing.TB, c *client.Client, splits ...string) client.Table {
	t.Helper()
	name := client.Table{Namespace: "default", Name: fmt.Sprintf("t%d", tables.Add(1))}
	var keys [][]byte
	for _, s := range splits {
		keys = append(keys, []byte(s))
	}
	schema := client.Schema{Table: name, Families: []client.Family{{Name: "b", Attributes: map[string]string{"VERSIONS": "1"}}}}
	if created, err := c.CreateTable(t.Context(), schema, keys); err != nil || !created {
		t.Fatal(created, err)
	}
	return name
}

func write(t testing.TB, c *client.Client, tb client.Table, kv ...string) {
	t.Helper()
	var cells []client.Cell
	for i := 0; i < len(kv); i += 2 {
		cells = append(cells, client.Put([]byte(kv[i]), col, []byte(kv[i+1]), 1))
	}
	if err := c.Write(t.Context(), tb, cells, client.SyncWAL, false); err != nil {
		t.Fatal(err)
	}
}

func dump(t testing.TB, c *client.Client, tb client.Table, s client.Span) string {
	t.Helper()
	var b bytes.Buffer
	if err := c.Scan(t.Context(), tb, col, s, client.ScanOptions{}, func(c client.Cell) error {
		fmt.Fprintf(&b, "%s=%s ", c.Row, c.Value)
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func TestCells(t *testing.T) {
	c := open(t, client.Options{})
	tb := table(t, c, "g", "p")
	write(t, c, tb, "a", "1", "g", "2", "h", "3", "z", "4")
	if got := dump(t, c, tb, client.Span{}); got != "a=1 g=2 h=3 z=4 " {
		t.Errorf("scan: %s", got)
	}
	if got := dump(t, c, tb, client.Span{From: []byte("b"), Stop: []byte("z")}); got != "g=2 h=3 " {
		t.Errorf("scan: %s", got)
	}
	spans := []client.Span{{}, {From: []byte("b")}, {From: []byte("b"), Stop: []byte("c")}, {From: []byte("hh")}, {From: []byte("a"), Stop: []byte("a")}, {From: []byte("zz")}}
	want := []string{"a", "g", "", "z", "", ""}
	calls := 0
	if err := c.First(t.Context(), tb, col, spans, func(i int, cell client.Cell, err error) {
		calls++
		if err != nil || string(cell.Row) != want[i] {
			t.Errorf("first %d: %q, %v, want %q", i, cell.Row, err, want[i])
		}
	}); err != nil || calls != len(spans) {
		t.Fatal(calls, err)
	}
	got, errs := c.GetAll(t.Context(), tb, col, [][]byte{[]byte("z"), []byte("no"), []byte("a")})
	if err := errors.Join(errs...); err != nil || string(got[0].Value) != "4" || got[1].Row != nil || string(got[2].Value) != "1" {
		t.Errorf("get: %v, %v", got, err)
	}
	cell, err := c.Get(t.Context(), tb, col, []byte("h"))
	if err != nil || string(cell.Value) != "3" || cell.Timestamp != 1 {
		t.Errorf("get: %v, %v", cell, err)
	}
	if cell, err := c.Get(t.Context(), tb, col, []byte("i")); err != nil || cell.Row != nil {
		t.Errorf("get: %v, %v", cell, err)
	}
	cas := func(row, old, new string, want bool) {
		t.Helper()
		done, err := c.CheckAndPut(t.Context(), tb, col, []byte(row), []byte(old), []byte(new))
		if err != nil || done != want {
			t.Errorf("%s from %q to %q: %v, %v", row, old, new, done, err)
		}
	}
	cas("new", "", "x", true)
	cas("new", "", "y", false)
	cas("new", "z", "y", false)
	cas("new", "x", "y", true)
	if err := c.Write(t.Context(), tb, []client.Cell{client.Delete([]byte("g"), col, 1), client.Delete([]byte("h"), col, 1)}, client.SyncWAL, true); err != nil {
		t.Fatal(err)
	}
	if got := dump(t, c, tb, client.Span{}); got != "a=1 new=y z=4 " {
		t.Errorf("scan: %s", got)
	}
	write(t, c, tb, "g", "hidden")
	if got := dump(t, c, tb, client.Span{From: []byte("b"), Stop: []byte("h")}); got != "" {
		t.Errorf("what was deleted at its time is seen: %s", got)
	}
}

func TestAdmin(t *testing.T) {
	c := open(t, client.Options{})
	ctx := t.Context()
	tb := table(t, c, "m")
	if created, err := c.CreateTable(ctx, client.Schema{Table: tb, Families: []client.Family{{Name: "b"}}}, nil); created || err != nil {
		t.Errorf("created again: %v, %v", created, err)
	}
	for range 2 {
		if err := c.CreateNamespace(ctx, "apart"); err != nil {
			t.Fatal(err)
		}
	}
	s, err := c.Describe(ctx, tb)
	if err != nil || len(s.Families) != 1 || s.Families[0].Name != "b" || s.Families[0].Attributes["VERSIONS"] != "1" {
		t.Errorf("%+v, %v", s, err)
	}
	if _, err := c.Describe(ctx, client.Table{Namespace: "apart", Name: "none"}); !errors.Is(err, client.ErrNoTable) {
		t.Errorf("describe of nothing: %v", err)
	}
	regions, err := c.Regions(ctx, tb)
	if err != nil || len(regions) != 2 || string(regions[1].Start) != "m" || len(regions[1].End) != 0 {
		t.Fatalf("%v, %v", regions, err)
	}
	write(t, c, tb, "a", "1")
	for i, want := range []int{1, 0} {
		if err := c.Flush(ctx, tb, regions[i]); err != nil {
			t.Fatal(err)
		}
		if files, err := c.StoreFiles(ctx, tb, regions[i], "b"); err != nil || len(files) != want {
			t.Errorf("store files %v, %v", files, err)
		}
	}
	if err := c.Compact(ctx, tb, regions[0], "b", true); err != nil {
		t.Fatal(err)
	}
	token, err := c.PrepareBulkLoad(ctx, tb)
	if err != nil || token == "" {
		t.Fatal(token, err)
	}
	if err := c.CleanupBulkLoad(ctx, tb, token); err != nil {
		t.Fatal(err)
	}
	if _, err := c.BulkLoadHFile(ctx, tb, regions[0], "b", []string{"/nowhere"}, "", nil, time.Minute); !client.Missing(err) {
		t.Errorf("bulk load of no file: %v", err)
	}
	if err := c.DeleteTable(ctx, tb); err != nil {
		t.Fatal(err)
	}
	if _, err := c.Regions(ctx, tb); !errors.Is(err, client.ErrNoTable) {
		t.Errorf("regions of a deleted table: %v", err)
	}
}

func TestZooKeeper(t *testing.T) {
	c := open(t, client.Options{ZooKeeper: []string{"127.0.0.1:1", hbasetest.Shared(t).ZooKeeper}})
	tb := table(t, c)
	write(t, c, tb, "a", "1")
	if got := dump(t, c, tb, client.Span{}); got != "a=1 " {
		t.Error(got)
	}
	lost := open(t, client.Options{ZooKeeper: []string{hbasetest.Shared(t).ZooKeeper}, Parent: "/elsewhere", Patience: time.Second})
	if _, err := lost.Regions(t.Context(), tb); err == nil || !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("another parent: %v", err)
	} else {
		t.Log(err)
	}
}
