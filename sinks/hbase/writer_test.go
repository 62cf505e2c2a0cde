package hbase

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/symlake/symlake/sinks"
	"github.com/symlake/symlake/sinks/hbase/hbasetest"
	"github.com/symlake/symlake/sinks/hbase/hdfs"
	"github.com/symlake/symlake/sinks/hbase/internal/bulk"
	"github.com/symlake/symlake/sinks/hbase/internal/client"
)

// target is a pair of tables of its own on a server, and a writer to them.
type target struct {
	*writer
	t       testing.TB
	server  *hbasetest.Server
	noting  sync.Mutex
	notices []string
}

// note keeps a notice. Any goroutine may call it.
func (x *target) note(s string) {
	x.noting.Lock()
	defer x.noting.Unlock()
	x.notices = append(x.notices, s)
}

// noted reports whether a notice has all of the texts.
func (x *target) noted(texts ...string) bool {
	x.noting.Lock()
	defer x.noting.Unlock()
	return slices.ContainsFunc(x.notices, func(s string) bool {
		return !slices.ContainsFunc(texts, func(t string) bool { return !strings.Contains(s, t) })
	})
}

var targets atomic.Int64

// newTarget makes tables with regions that begin at bytes.
func newTarget(t testing.TB, server *hbasetest.Server, o WriteOptions, splits ...byte) *target {
	t.Helper()
	x := &target{t: t, server: server}
	c := client.New(client.Options{Servers: []string{server.Master}, User: "loader", Security: o.security, Notice: x.note})
	t.Cleanup(func() { c.Close() })
	n := targets.Add(1)
	rows := client.Table{Namespace: "default", Name: fmt.Sprintf("rows%d", n)}
	notes := client.Table{Namespace: "default", Name: fmt.Sprintf("notes%d", n)}
	var keys [][]byte
	for _, b := range splits {
		keys = append(keys, []byte{b})
	}
	for _, table := range []client.Table{rows, notes} {
		// HBase itself does not compact what few files there are, so that tests can count them.
		s := client.Schema{Table: table, Attributes: map[string]string{"hbase.hstore.compaction.min": "50"}, Families: []client.Family{{Name: map[bool]string{true: rowFamily, false: "c"}[table == rows], Attributes: map[string]string{"VERSIONS": "1"}}}}
		if table != rows {
			keys = nil
		}
		splitAt := keys
		if _, err := c.CreateTable(t.Context(), s, splitAt); err != nil {
			t.Fatal(err)
		}
	}
	o.Scratch, o.Remote.HDFS = t.TempDir(), hdfs.Open
	o.Notice = x.note
	one := func(_ context.Context, prefixes [][]byte) ([]uint64, error) {
		list := make([]uint64, len(prefixes))
		for i := range list {
			list[i] = 7
		}
		return list, nil
	}
	x.writer = newWriter(c, rows, notes, one, o)
	return x
}

// someLoads are n loads, in no order, of 1 to maxRows rows each. Each part of the keys has as many, as far as n goes.
func someLoads(n, maxRows, valueBytes int) [][]sinks.Row {
	rng := rand.New(rand.NewPCG(rand.Uint64(), 0))
	var all [][]sinks.Row
	for load := range n {
		p := make([]byte, sinks.PrefixBytes)
		for i := range p {
			p[i] = byte(rng.Uint32())
		}
		p[0] = byte((load*256 + rng.IntN(256)) / n)
		var rows []sinks.Row
		for i := range 1 + rng.IntN(maxRows) {
			v := make([]byte, rng.IntN(valueBytes))
			for i := range v {
				v[i] = byte(rng.Uint32())
			}
			rows = append(rows, sinks.Row{Key: binary.BigEndian.AppendUint64(append(bytes.Clone(p), 1), uint64(i)*10+9), Value: v})
		}
		all = append(all, rows)
	}
	rng.Shuffle(n, func(i, j int) { all[i], all[j] = all[j], all[i] })
	return all
}

// load writes loads in one batch.
func (x *target) load(all ...[]sinks.Row) error {
	b, err := x.Begin(x.t.Context())
	if err != nil {
		return err
	}
	defer b.Abort()
	for _, r := range slices.Concat(all...) {
		if err := b.Write(r); err != nil {
			return err
		}
	}
	return b.Commit(x.t.Context())
}

// holds checks that the table is exactly these loads, and that nothing is staged.
func (x *target) holds(all ...[]sinks.Row) {
	x.t.Helper()
	want := slices.Concat(all...)
	slices.SortFunc(want, func(a, b sinks.Row) int { return bytes.Compare(a.Key, b.Key) })
	i := 0
	err := x.c.Scan(x.t.Context(), x.rows, rowColumn(), client.Span{}, client.ScanOptions{}, func(c client.Cell) error {
		if i >= len(want) || !bytes.Equal(c.Row, want[i].Key) || !bytes.Equal(c.Value, want[i].Value) || c.Timestamp != 7 {
			return fmt.Errorf("row %d of %d is %x, timestamp %d", i, len(want), c.Row, c.Timestamp)
		}
		i++
		return nil
	})
	if err != nil || i != len(want) {
		x.t.Fatalf("%d rows, want %d: %v", i, len(want), err)
	}
	if root, ok := strings.CutPrefix(x.server.Root, "file://"); ok {
		left, err := os.ReadDir(filepath.Join(root, "staging"))
		for _, e := range left {
			if strings.Contains(e.Name(), x.rows.Name+"__") {
				x.t.Errorf("left in staging: %s", e.Name())
			}
		}
		if err != nil && !os.IsNotExist(err) {
			x.t.Error(err)
		}
	}
}

func (x *target) storeFiles() (n []int) {
	x.t.Helper()
	list, err := x.read(x.t.Context(), true)
	for _, r := range list {
		var files []string
		if files, err = x.c.StoreFiles(x.t.Context(), x.rows, r, rowFamily); err != nil {
			break
		}
		n = append(n, len(files))
	}
	if err != nil {
		x.t.Fatal(err)
	}
	return n
}

func TestBulkLoad(t *testing.T) {
	x := newTarget(t, hbasetest.Shared(t), WriteOptions{}, 0x40, 0x80, 0xc0)
	a, b := someLoads(200, 20, 4000), someLoads(100, 20, 4000)
	if err := x.load(a...); err != nil {
		t.Fatal(err)
	}
	x.holds(a...)
	if got := x.storeFiles(); !slices.Equal(got, []int{1, 1, 1, 1}) {
		t.Errorf("store files: %v, want one a region", got)
	}
	if err := x.load(slices.Concat(a, b)...); err != nil { // again, with more
		t.Fatal(err)
	}
	x.holds(slices.Concat(a, b)...)
}

func TestPuts(t *testing.T) {
	x := newTarget(t, hbasetest.Shared(t), WriteOptions{Puts: true}, 0x40, 0x80, 0xc0)
	a := someLoads(200, 20, 4000)
	if err := x.load(a...); err != nil {
		t.Fatal(err)
	}
	x.holds(a...)
	if left, err := os.ReadDir(x.o.Scratch); err != nil || len(left) > 0 {
		t.Errorf("left in scratch: %v %v", left, err)
	}
}

// cut is a batch with files that are cut and staged, and not handed over yet.
func (x *target) cut(all ...[]sinks.Row) sinks.Batch {
	x.t.Helper()
	b, err := x.Begin(x.t.Context())
	if err != nil {
		x.t.Fatal(err)
	}
	x.t.Cleanup(b.Abort)
	for _, r := range slices.Concat(all...) {
		if err := b.Write(r); err != nil {
			x.t.Fatal(err)
		}
	}
	if err := b.(*bulk.Batch).Flush(x.t.Context()); err != nil {
		x.t.Fatal(err)
	}
	return b
}

func (x *target) regionAt(row ...byte) hbasetest.Region {
	x.t.Helper()
	r, err := x.region(x.t.Context(), row, true)
	if err != nil {
		x.t.Fatal(err)
	}
	return hbasetest.Region{Name: r.Name, End: r.End}
}

// Regions split and merge between the cut and the load.
func TestSplitBeforeLoad(t *testing.T) {
	x := newTarget(t, hbasetest.Shared(t), WriteOptions{}, 0x80, 0xc0, 0xe0)
	first := someLoads(100, 20, 1000)
	if err := x.load(first...); err != nil { // a region without rows is not split
		t.Fatal(err)
	}
	a := someLoads(200, 20, 1000)
	b := x.cut(a...)
	inside := slices.IndexFunc(a, func(rows []sinks.Row) bool { return rows[0].Key[0] < 0x80 && rows[0].Key[0] > 0 && len(rows) > 10 })
	at := a[inside][5].Key
	x.server.Split(t, x.regionAt(at...), at) // within a load
	x.server.Merge(t, x.regionAt(0xc1), x.regionAt(0xe1))
	if err := b.Commit(t.Context()); err != nil {
		t.Fatal(err)
	}
	x.holds(slices.Concat(first, a)...)
}
