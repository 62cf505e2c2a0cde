package bulk

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"

	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/symlake/symlake/sinks"
	"github.com/symlake/symlake/sinks/internal/hfile"
)

// cluster is a table in memory that takes files as HBase does.
type cluster struct {
	t      *testing.T
	root   string
	moves  bool                               // files are moved, as on HDFS, not copied
	before func(c *cluster, row []byte) error // called at each load, before it; an error is its answer
	after  func(row []byte) error

	mu      sync.Mutex
	known   []Region // as the client saw them last
	regions []Region
	cells   map[string]hfile.Cell
	files   int
	dirs    map[string]bool
}

func newCluster(t *testing.T, splits ...[]byte) *cluster {
	r := Boundaries(splits)
	return &cluster{t: t, root: t.TempDir(), regions: r, known: r, cells: make(map[string]hfile.Cell), dirs: make(map[string]bool)}
}

func (c *cluster) Regions(_ context.Context, fresh bool) ([]Region, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if fresh {
		c.known = slices.Clone(c.regions)
	}
	return c.known, nil
}

func (c *cluster) split(at []byte) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for i, r := range c.regions {
		if r.holds(at) && !bytes.Equal(r.Start, at) {
			c.regions = slices.Concat(c.regions[:i], []Region{{Start: r.Start, End: at}, {Start: at, End: r.End}}, c.regions[i+1:])
			return
		}
	}
}

func (c *cluster) merge() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.regions = []Region{{}}
}

func (c *cluster) Prepare(context.Context) (string, error) {
	dir, err := os.MkdirTemp(c.root, "token")
	c.dirs["file:"+dir] = true
	return "file:" + dir, err
}

func (c *cluster) Cleanup(_ context.Context, dir string) error {
	delete(c.dirs, dir)
	return os.RemoveAll(dir[len("file:"):])
}

func (c *cluster) Load(_ context.Context, row []byte, h Handover) (bool, error) {
	dir, path, secure := h.Dir, h.Path, h.Secure
	if c.before != nil {
		if err := c.before(c, row); err != nil {
			return false, err
		}
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.dirs[dir] || filepath.Dir(path) != dir+"/"+family {
		c.t.Errorf("%s is not in a folder that was prepared", path)
	}
	region, err := find(c.regions, row)
	if err != nil {
		return false, err
	}
	_, p, _ := LocalPath(path)
	b, err := os.ReadFile(p)
	if err != nil {
		if secure {
			return false, nil
		}
		return false, fmt.Errorf("java.io.FileNotFoundException: %w", err)
	}
	r, err := hfile.Open(bytes.NewReader(b), int64(len(b)))
	if err != nil {
		c.t.Error(err)
		return false, nil
	}
	var cells []hfile.Cell
	if err := r.Scan(nil, nil, func(cell hfile.Cell) error {
		cells = append(cells, cell)
		return nil
	}); err != nil {
		c.t.Error(err)
	}
	if !region.holds(cells[0].Row) || !region.holds(cells[len(cells)-1].Row) {
		return false, nil
	}
	for _, cell := range cells {
		c.cells[string(cell.Row)] = cell
	}
	c.files++
	if c.moves {
		if err := os.Remove(p); err != nil {
			c.t.Error(err)
		}
	}
	if c.after != nil {
		if err := c.after(row); err != nil {
			return false, err
		}
	}
	return true, nil
}

func (c *cluster) Keys(_ context.Context, from, stop []byte, emit func([]byte) error) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, k := range slices.Sorted(maps.Keys(c.cells)) {
		if k >= string(from) && k < string(stop) {
			if err := emit([]byte(k)); err != nil {
				return err
			}
		}
	}
	return nil
}

func (c *cluster) batch(bufferBytes int) *Batch {
	return New(c.t.Context(), Options{BufferBytes: bufferBytes, Generations: generations,
		To: &Loader{Cluster: c, Files: func(ctx context.Context, dir string) (FileSystem, error) {
			return OpenFileSystem(ctx, dir, FileOptions{})
		}}})
}

// generations gives each load one of its own, so that a mix-up shows.
func generations(_ context.Context, prefixes [][]byte) ([]uint64, error) {
	var g []uint64
	for _, p := range prefixes {
		g = append(g, 1+uint64(p[23]))
	}
	return g, nil
}

// loads are n loads of rows, in no order.
func loads(rng *rand.Rand, n, maxRows, valueBytes int) [][]sinks.Row {
	var all [][]sinks.Row
	for range n {
		p := make([]byte, sinks.PrefixBytes)
		for i := range p {
			p[i] = byte(rng.Uint32())
		}
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
	return all
}

func write(t *testing.T, b *Batch, all [][]sinks.Row) {
	t.Helper()
	for _, r := range slices.Concat(all...) {
		if err := b.Write(r); err != nil {
			t.Fatal(err)
		}
	}
}

// holds checks that the table is exactly those loads, and that nothing is staged any more.
func (c *cluster) holds(all ...[]sinks.Row) {
	c.t.Helper()
	rows := slices.Concat(all...)
	if len(c.cells) != len(rows) {
		c.t.Fatalf("%d rows, want %d", len(c.cells), len(rows))
	}
	for _, r := range rows {
		cell, ok := c.cells[string(r.Key)]
		if !ok || !bytes.Equal(cell.Value, r.Value) || cell.Timestamp != 1+uint64(r.Key[23]) {
			c.t.Fatalf("row %x: %v, stamp %d", r.Key, ok, cell.Timestamp)
		}
	}
	if left, err := filepath.Glob(c.root + "/*"); err != nil || len(left) > 0 || len(c.dirs) > 0 {
		c.t.Fatalf("left behind: %v %v %v", left, c.dirs, err)
	}
}

// clock goes on by a step with every look at it.
func clock(step time.Duration) func() time.Time {
	now := time.Now()
	return func() time.Time {
		now = now.Add(step)
		return now
	}
}
