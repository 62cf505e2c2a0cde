package hbase

import (
	"bytes"
	"context"
	"crypto/sha256"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/symlake/symlake/formats/all"
	"github.com/symlake/symlake/ingest"
	"github.com/symlake/symlake/ingest/discover"
	"github.com/symlake/symlake/ingest/survey"
	"github.com/symlake/symlake/ingest/upkeep/gc"
	"github.com/symlake/symlake/ingest/upkeep/verify"
	"github.com/symlake/symlake/sinks"
	bucketfile "github.com/symlake/symlake/sinks/bucket/file"
	"github.com/symlake/symlake/sinks/catalog"
	"github.com/symlake/symlake/sinks/file"
	"github.com/symlake/symlake/sinks/hbase/hbasetest"
	"github.com/symlake/symlake/sinks/hbase/internal/places"
	"github.com/symlake/symlake/sinks/kek"
	"github.com/symlake/symlake/sinks/row"
)

// smallObjects writes n Breakpad files of some 600 bytes, with ten functions each.
func smallObjects(t *testing.T, n int) discover.Source {
	t.Helper()
	dir := t.TempDir()
	for i := range n {
		sum := sha256.Sum256([]byte(strconv.Itoa(i)))
		var b strings.Builder
		fmt.Fprintf(&b, "MODULE Linux arm64 %X0 libsmall%05d.so\nINFO CODE_ID %X\nFILE 0 src/module%d.c\n", sum[:16], i, sum[:20], i)
		for f := range 10 {
			fmt.Fprintf(&b, "FUNC %x 20 0 function_%d_%d\n%x 20 %d 0\n", 0x1000+f*0x20, i, f, 0x1000+f*0x20, f+10)
		}
		folder := filepath.Join(dir, strconv.Itoa(i%100))
		if err := os.MkdirAll(folder, 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(folder, fmt.Sprintf("libsmall%05d.sym", i)), []byte(b.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	b, err := bucketfile.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	return discover.Source{Bucket: b}
}

// counting counts the calls of a catalog, and the records that they carry.
type counting struct {
	sinks.Catalog
	gets, swaps, lists, getAlls, got, swapAlls, swapped atomic.Int64

	mu      sync.Mutex
	keep    bool        // the records that SwapAll writes
	written []sinks.Row // in no order
}

func (c *counting) Get(ctx context.Context, key []byte) ([]byte, error) {
	c.gets.Add(1)
	return c.Catalog.Get(ctx, key)
}

func (c *counting) Swap(ctx context.Context, key, old, new []byte) error {
	c.swaps.Add(1)
	return c.Catalog.Swap(ctx, key, old, new)
}

func (c *counting) GetAll(ctx context.Context, keys [][]byte) ([][]byte, error) {
	c.getAlls.Add(1)
	c.got.Add(int64(len(keys)))
	return c.Catalog.GetAll(ctx, keys)
}

func (c *counting) SwapAll(ctx context.Context, changes []sinks.Change) []error {
	c.swapAlls.Add(1)
	c.swapped.Add(int64(len(changes)))
	if c.mu.Lock(); c.keep {
		for _, ch := range changes {
			c.written = append(c.written, sinks.Row{Key: places.Row(ch.Key), Value: places.Value(ch.New)})
		}
	}
	c.mu.Unlock()
	return c.Catalog.SwapAll(ctx, changes)
}

func (c *counting) List(ctx context.Context, s sinks.Span, emit func(sinks.Row) error) error {
	c.lists.Add(1)
	return c.Catalog.List(ctx, s, emit)
}

// Counts passes the counters of a store on.
func (c *counting) Counts(ctx context.Context) (map[string]int64, bool, error) {
	if counter, is := c.Catalog.(sinks.Counter); is {
		return counter.Counts(ctx)
	}
	return nil, false, nil
}

// Settle passes it on to a store that does.
func (c *counting) Settle(ctx context.Context, count func(context.Context, func([]sinks.Count)) error) (bool, error) {
	if settler, is := c.Catalog.(sinks.Settler); is {
		return settler.Settle(ctx, count)
	}
	return true, nil
}

// take returns the counts since the last call, a record.
func (c *counting) take(n int) string {
	of := func(v *atomic.Int64) float64 { return float64(v.Swap(0)) / float64(n) }
	return fmt.Sprintf("Get %.3f, Swap %.3f, List %.3f, GetAll %.3f (%.2f records), SwapAll %.3f (%.2f records)",
		of(&c.gets), of(&c.swaps), of(&c.lists), of(&c.getAlls), of(&c.got), of(&c.swapAlls), of(&c.swapped))
}

// usual are HBase's defaults. A report to the master prints the calls under way, with all of their records: ten times as
// many reports, as other tests have them, cost an eighth of an ingest.
var usual = map[string]string{"hbase.regionserver.msginterval": "3000", "hbase.regionserver.metrics.period": "5000"}

// compiling returns the processor seconds that the compilers of Java processes used. A server compiles less and less.
func compiling(t *testing.T, pids []int) (seconds float64) {
	t.Helper()
	for _, pid := range pids {
		threads, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/stat", pid))
		if err != nil {
			t.Fatal(err)
		}
		for _, path := range threads {
			if stat, err := os.ReadFile(path); err == nil && bytes.Contains(stat, []byte("CompilerThre")) { // else it ended
				seconds += hbasetest.Used(stat)
			}
		}
	}
	return seconds
}

// writtenBytes is how many bytes processes wrote, to files and to sockets.
func writtenBytes(t *testing.T, pids []int) (n int) {
	t.Helper()
	for _, pid := range pids {
		text, err := os.ReadFile(fmt.Sprintf("/proc/%d/io", pid))
		if err != nil {
			t.Fatal(err)
		}
		_, rest, _ := strings.Cut(string(text), "wchar: ")
		line, _, _ := strings.Cut(rest, "\n")
		bytes, err := strconv.Atoi(line)
		if err != nil {
			t.Fatal(err)
		}
		n += bytes
	}
	return n
}

// TestBenchSmall ingests many small objects, verifies them and collects garbage: on the file store, on a live server that
// has just started, and on the same server once it is warm. Then HBase's own client writes the same bytes. SYMLAKE_SMALL sets
// the number of objects (20,000).
func TestBenchSmall(t *testing.T) {
	if os.Getenv("SYMLAKE_BENCH") == "" {
		t.Skip("set SYMLAKE_BENCH=1")
	}
	n := 20_000
	if s := os.Getenv("SYMLAKE_SMALL"); s != "" {
		n, _ = strconv.Atoi(s)
	}
	source := smallObjects(t, n)
	t.Run("file", func(t *testing.T) {
		dir := filepath.Join(t.TempDir(), "store")
		if err := file.Create(dir); err != nil {
			t.Fatal(err)
		}
		s, err := file.Open(dir, file.Options{})
		if err != nil {
			t.Fatal(err)
		}
		benchSmall(t, source, n, s, func() int64 { return 0 }, nil)
		if info, err := os.Stat(filepath.Join(dir, "catalog.db")); err == nil {
			t.Logf("catalog: %d bytes an object", info.Size()/int64(n))
		}
	})
	server := hbasetest.Start(t, hbasetest.Options{Heap: "1g", Fast: true, Site: usual})
	var written []sinks.Row
	for _, state := range []string{"cold", "once more", "warm"} { // each in tables of its own
		t.Run("hbase "+state, func(t *testing.T) {
			rest := "//" + server.Master + "/" + namespace() + "?regions=8"
			if err := Create(t.Context(), rest, Options{}); err != nil {
				t.Fatal(err)
			}
			opened, err := connect(rest, Options{})
			if err != nil {
				t.Fatal(err)
			}
			s, err := opened.open(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			written = benchSmall(t, source, n, s, opened.c.Calls, []int{server.Process()})
		})
	}
	t.Run("Java's puts", func(t *testing.T) { benchFloor(t, server, written, n) })
}

// benchFloor has HBase's own client for Java write what an ingest of n objects wrote, as plain puts: no record is read, and
// none is compared before it is written.
func benchFloor(t *testing.T, server *hbasetest.Server, written []sinks.Row, n int) {
	bytes := 0
	for _, r := range written {
		bytes += len(r.Key) + len(r.Value)
	}
	p := startPeer(t, server, writeRows(t, written))
	for round := range 3 {
		x := newTarget(t, server, WriteOptions{}, 0x20, 0x40, 'a', 'b', 'n', 'o', 'p', 0x80, 0xa0, 0xc0, 0xe0)
		theirs, compiler := cpu(t, []int{server.Process()}), compiling(t, []int{server.Process()})
		took := p.do("puts", x.rows.Name, putThreads)
		per := 1000 / float64(n)
		t.Logf("round %d: %6.2f s, %6.0f objects/s, %.1f puts and %.0f bytes an object, processor ms an object: server %.3f (its compiler %.3f), client %.3f",
			round, took[0]/1e9, float64(n)*1e9/took[0], float64(len(written))/float64(n), float64(bytes)/float64(n),
			per*(cpu(t, []int{server.Process()})-theirs), per*(compiling(t, []int{server.Process()})-compiler), per*took[1]/1e9)
		if err := x.c.DeleteTable(t.Context(), x.rows); err != nil {
			t.Fatal(err)
		}
	}
}

// benchSmall measures a store, and returns the rows and records that its ingest wrote. calls counts its requests. servers
// are the processes behind it.
func benchSmall(t *testing.T, source discover.Source, n int, s *sinks.Store, calls func() int64, servers []int) (written []sinks.Row) {
	t.Helper()
	defer s.Close()
	count := &counting{Catalog: s.Catalog}
	s.Catalog = count
	ring, err := row.CreateKeyring(t.Context(), s.Catalog, kek.Ephemeral())
	if err != nil {
		t.Fatal(err)
	}
	measure := func(what string, work func() error) {
		t.Helper()
		count.take(1)
		began, before, theirs, ours, wrote := time.Now(), calls(), cpu(t, servers), cpu(t, []int{os.Getpid()}), writtenBytes(t, servers)
		compiler := compiling(t, servers)
		if err := work(); err != nil {
			t.Fatal(err)
		}
		took := time.Since(began)
		t.Logf("%-14s %6.2f s, %6.0f objects/s, %5.2f RPCs an object, processor ms an object: server %.3f (its compiler %.3f), client %.3f; bytes that the server wrote: %.0f; catalog: %s", what, took.Seconds(),
			float64(n)/took.Seconds(), float64(calls()-before)/float64(n), 1000*(cpu(t, servers)-theirs)/float64(n), 1000*(compiling(t, servers)-compiler)/float64(n), 1000*(cpu(t, []int{os.Getpid()})-ours)/float64(n),
			float64(writtenBytes(t, servers)-wrote)/float64(n), count.take(n))
	}
	o := ingest.Options{Store: s, Keyring: ring, Formats: all.Formats()}
	run := func(loaded int) func() error {
		return func() error {
			r, err := ingest.Run(t.Context(), []discover.Source{source}, o)
			if err == nil && r.Objects.Loaded != loaded {
				err = fmt.Errorf("%+v", r.Objects)
			}
			return err
		}
	}
	count.keep = true
	measure("ingest", run(n))
	count.keep = false
	written = count.written
	err = s.Blocks.Scan(t.Context(), sinks.Span{}, func(r sinks.Row) error {
		written = append(written, r)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	measure("nothing new", run(0))
	measure("status", func() error {
		v, err := survey.Brief(t.Context(), catalog.New(s.Catalog, ring))
		if err == nil && v.Artifacts != n {
			err = fmt.Errorf("%+v", v)
		}
		return err
	})
	for _, name := range []string{"first gc", "gc"} { // the first one looks for records of older forms, too
		measure(name, func() error {
			r, err := gc.Run(t.Context(), gc.Options{Store: s, Keyring: ring})
			if err == nil && (r.Artifacts != n || r.Loads+r.Records > 0) {
				err = fmt.Errorf("%+v", r)
			}
			return err
		})
	}
	measure("verify", func() error {
		r, err := verify.Run(t.Context(), verify.Options{Store: s, Keyring: ring})
		if err == nil && (r.Artifacts != n || len(r.Problems) > 0) {
			err = fmt.Errorf("%d artifacts, %v", r.Artifacts, r.Problems)
		}
		return err
	})
	return written
}
