package hbase

import (
	"bytes"
	"context"
	"errors"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/symlake/symlake/formats/formattest"
	"github.com/symlake/symlake/sinks"
	"github.com/symlake/symlake/sinks/hbase/hbasetest"
	"github.com/symlake/symlake/sinks/hbase/internal/bulk"
	"github.com/symlake/symlake/sinks/hbase/internal/client"
)

// disturbed is the cluster with something happening to it at some load.
type disturbed struct {
	cluster
	loads  atomic.Int32
	before func(n int)
	after  func(n int)
}

func (d *disturbed) Load(ctx context.Context, row []byte, h bulk.Handover) (bool, error) {
	n := int(d.loads.Add(1))
	if d.before != nil {
		d.before(n)
	}
	loaded, err := d.cluster.Load(ctx, row, h)
	if d.after != nil {
		d.after(n)
	}
	return loaded, err
}

// loadDisturbed writes loads in one batch that hands its files over one by one, or several at once.
func (x *target) loadDisturbed(d *disturbed, atOnce int, all ...[]sinks.Row) error {
	d.cluster = cluster{x.writer}
	b := bulk.New(x.t.Context(), bulk.Options{Generations: x.stamps,
		To: &bulk.Loader{Cluster: d, Files: x.files, Done: x.loaded, AtOnce: atOnce}})
	defer b.Abort()
	for _, r := range slices.Concat(all...) {
		if err := b.Write(r); err != nil {
			return err
		}
	}
	return b.Commit(x.t.Context())
}

// killInMidLoad kills the server beside a load and has it back a little later:
// the same batch ends well.
func killInMidLoad(x *target) {
	all := someLoads(200, 20, 4000)
	var back sync.WaitGroup
	var once sync.Once
	kill := func(n int) {
		if n == 3 {
			once.Do(func() {
				x.server.Kill()
				back.Go(func() { x.server.Restart(x.t) })
			})
		}
	}
	if err := x.loadDisturbed(&disturbed{before: kill}, 4, all...); err != nil {
		x.t.Fatal(err)
	}
	back.Wait()
	x.holds(all...)
}

// TestServerFaults is about a server that cannot be shared.
func TestServerFaults(t *testing.T) {
	t.Parallel()
	server := hbasetest.Start(t, hbasetest.Options{Servers: 2})
	t.Run("moved and silent", func(t *testing.T) { movedAndSilent(t, server) })
	t.Run("killed", func(t *testing.T) {
		killInMidLoad(newTarget(t, server, WriteOptions{}, 0x20, 0x40, 0x60, 0x80, 0xa0, 0xc0, 0xe0))
	})
}

// movedAndSilent: every region moves to the other server between the cut and the load, and then the servers are silent for a while.
func movedAndSilent(t *testing.T, server *hbasetest.Server) {
	x := newTarget(t, server, WriteOptions{}, 0x40, 0x80, 0xc0)
	all := someLoads(200, 20, 1000)
	var once sync.Once
	var back sync.WaitGroup
	disturb := func(n int) {
		if n <= 4 {
			server.Move(t, x.regionAt(byte(n-1)<<6+1))
		}
		if n == 4 {
			once.Do(func() {
				server.Pause(t, true)
				stopped := time.Now()
				back.Go(func() {
					formattest.Await(t, "the load says what it waits for", func() bool { return x.noted("waiting for region ", "table "+x.writer.rows.String()) })
					if took := time.Since(stopped); took > formattest.Soon {
						t.Errorf("the load says after %v what it waits for", took)
					}
					server.Pause(t, false)
				})
			})
		}
	}
	if err := x.loadDisturbed(&disturbed{before: disturb}, 1, all...); err != nil {
		t.Fatal(err)
	}
	back.Wait()
	x.holds(all...)
	if !x.noted("answers again") {
		t.Errorf("the load does not say that it goes on: %q", x.notices)
	}
}

// The connection breaks when the load is asked for, once before the server gets the request and once behind its answer.
func TestConnectionLost(t *testing.T) {
	server := hbasetest.Shared(t)
	x := newTarget(t, server, WriteOptions{}, 0x40, 0x80, 0xc0)
	var lose atomic.Int32
	x.c = client.New(client.Options{Servers: []string{server.Master}, User: "loader", Dial: func(ctx context.Context, address string) (net.Conn, error) {
		var d net.Dialer
		c, err := d.DialContext(ctx, "tcp", address)
		return &breaking{c, "BulkLoadHFile", &lose}, err
	}})
	t.Cleanup(func() { x.c.Close() })
	all := someLoads(200, 20, 1000)
	disturb := func(n int) {
		if n <= 6 {
			lose.Store(int32(1 + n%2))
		}
	}
	if err := x.loadDisturbed(&disturbed{before: disturb}, 1, all...); err != nil {
		t.Fatal(err)
	}
	if lose.Load() != 0 {
		t.Error("no connection broke")
	}
	x.holds(all...)
}

// breaking is a connection that breaks at the next write (1), or at the read after it (2).
type breaking struct {
	net.Conn
	method string // a call of it is lost
	lose   *atomic.Int32
}

var errBroken = errors.New("broken by the test")

func (b *breaking) Write(p []byte) (int, error) {
	if bytes.Contains(p, []byte(b.method)) && b.lose.CompareAndSwap(1, 0) {
		b.Conn.Close()
		return 0, errBroken
	}
	if bytes.Contains(p, []byte(b.method)) {
		b.lose.CompareAndSwap(2, 3)
	}
	return b.Conn.Write(p)
}

func (b *breaking) Read(p []byte) (int, error) {
	n, err := b.Conn.Read(p)
	if b.lose.CompareAndSwap(3, 0) {
		b.Conn.Close()
		return 0, errBroken
	}
	return n, err
}

// full is a file system on a disk that is full after some bytes.
type full struct {
	bulk.FileSystem
	left int
}

var errFull = errors.New("no space left on device")

func (f *full) Create(ctx context.Context, path string) (bulk.Output, error) {
	o, err := f.FileSystem.Create(ctx, path)
	return &fullOutput{o, f}, err
}

type fullOutput struct {
	bulk.Output
	f *full
}

func (o *fullOutput) Write(b []byte) (int, error) {
	if o.f.left -= len(b); o.f.left < 0 {
		return 0, errFull
	}
	return o.Output.Write(b)
}

// A disk that is full in staging ends the batch with its words and region, and leaves nothing.
func TestDiskFull(t *testing.T) {
	x := newTarget(t, hbasetest.Shared(t), WriteOptions{}, 0x80)
	all := someLoads(100, 20, 4000)
	b := bulk.New(t.Context(), bulk.Options{Generations: x.stamps, To: &bulk.Loader{Cluster: cluster{x.writer},
		Files: func(ctx context.Context, dir string) (bulk.FileSystem, error) {
			fs, err := x.files(ctx, dir)
			return &full{fs, 1 << 20}, err
		}}})
	for _, r := range slices.Concat(all...) {
		if err := b.Write(r); err != nil {
			t.Fatal(err)
		}
	}
	err := b.Commit(t.Context())
	if !errors.Is(err, errFull) || !strings.Contains(err.Error(), "stage ") {
		t.Errorf("%v", err)
	}
	b.Abort()
	x.holds() // nothing
	if err := x.load(all...); err != nil {
		t.Fatal(err)
	}
	x.holds(all...)
}

// Two loaders at once, on the same rows and on others.
func TestTwoLoaders(t *testing.T) {
	x := newTarget(t, hbasetest.Shared(t), WriteOptions{}, 0x40, 0x80, 0xc0)
	same, mine, theirs := someLoads(100, 20, 2000), someLoads(100, 20, 2000), someLoads(100, 20, 2000)
	var wg sync.WaitGroup
	for _, all := range [][][]sinks.Row{slices.Concat(same, mine), slices.Concat(theirs, same)} {
		wg.Go(func() {
			if err := x.load(all...); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	x.holds(slices.Concat(same, mine, theirs)...)
}

// A file that HBase refuses: the error names table, region and HBase's own words.
func TestRefused(t *testing.T) {
	x := newTarget(t, hbasetest.Shared(t), WriteOptions{})
	spoil := func(int) {
		root := strings.TrimPrefix(x.server.Root, "file://")
		staged, err := filepath.Glob(filepath.Join(root, "staging", "*"+x.rows.Name+"__*", rowFamily, "*"))
		if err != nil || len(staged) != 1 {
			t.Fatalf("staged: %v %v", staged, err)
		}
		if err := os.WriteFile(staged[0], []byte("no HFile at all"), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	err := x.loadDisturbed(&disturbed{before: spoil}, 1, someLoads(3, 3, 100)...)
	if err == nil || !strings.Contains(err.Error(), "CorruptHFileException") || !strings.Contains(err.Error(), "table "+x.rows.Name) || !strings.Contains(err.Error(), "region ") {
		t.Fatal(err)
	}
	t.Log(err)
	x.holds()
}

// The loader says so when a region has many files, and asks for a compaction; gc does where rows were dropped.
func TestCompactionsAskedFor(t *testing.T) {
	x := newTarget(t, hbasetest.Shared(t), WriteOptions{})
	all := someLoads(12, 5, 100)
	for _, rows := range all {
		if err := x.load(rows); err != nil {
			t.Fatal(err)
		}
	}
	x.holds(all...)
	if len(x.notices) == 0 || !strings.Contains(x.notices[0], "has 11 store files: a compaction was asked for") {
		t.Errorf("%q", x.notices)
	}
	x.notices = nil
	x.noteDropped(all[0][0].Key[:sinks.PrefixBytes])
	for range 2 {
		if _, err := x.Tidy(t.Context(), x.o.Now()); err != nil {
			t.Fatal(err)
		}
	}
	if len(x.notices) != 1 || !strings.Contains(x.notices[0], "rows of 1 loads were deleted: a major compaction of 1 regions") {
		t.Errorf("%q", x.notices)
	}
}

// What a killed loader leaves is found: its staging folder goes once its lease is over.
func TestTidyStaging(t *testing.T) {
	x := newTarget(t, hbasetest.Shared(t), WriteOptions{}, 0x80)
	x.cut(someLoads(10, 10, 1000)...)
	if _, err := x.Tidy(t.Context(), x.o.Now()); err != nil {
		t.Fatal(err)
	}
	dead := newWriter(x.c, x.writer.rows, x.notes, x.stamps, x.o) // another process
	staged := func() int {
		list, err := filepath.Glob(strings.TrimPrefix(x.server.Root, "file://") + "/staging/*" + x.writer.rows.Name + "__*")
		if err != nil {
			t.Fatal(err)
		}
		return len(list)
	}
	if _, err := dead.Tidy(t.Context(), x.o.Now()); err != nil || staged() != 1 {
		t.Fatalf("%d folders, want that of the living batch: %v", staged(), err)
	}
	later := x.o.Now().Add(2 * stagingLease)
	dead.o.Now = func() time.Time { return later }
	if _, err := dead.Tidy(t.Context(), later.Add(-stagingLease/2)); err != nil || staged() != 0 {
		t.Fatalf("%d folders: %v", staged(), err)
	}
}
