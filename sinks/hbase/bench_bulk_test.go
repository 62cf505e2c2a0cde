package hbase

import (
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/symlake/symlake/formats/formattest"
	"github.com/symlake/symlake/sinks"
	"github.com/symlake/symlake/sinks/hbase/hbasetest"
	"github.com/symlake/symlake/sinks/hbase/internal/client"
)

const (
	benchRegions = 8
	benchLoads   = 128
	benchRows    = 240 // a load, of 34 KB on average: 1.04 GB in all
	putThreads   = 4
)

// gigabyte gives the rows of a load: sealed blocks do not compress, and no two are alike.
func gigabyte() func(load int, emit func(sinks.Row) error) error {
	rng := rand.NewChaCha8([32]byte{1})
	pool := make([]byte, 64<<20)
	rng.Read(pool)
	return func(load int, emit func(sinks.Row) error) error {
		r := rand.New(rand.NewPCG(uint64(load), 0))
		p := make([]byte, sinks.PrefixBytes)
		binary.BigEndian.PutUint64(p, uint64(load)<<57) // in order, evenly
		binary.BigEndian.PutUint64(p[16:], 1)
		for i := range benchRows {
			n := 4<<10 + r.IntN(60<<10)
			at := r.IntN(len(pool) - n)
			key := binary.BigEndian.AppendUint64(append(append([]byte{}, p...), 1), uint64(i))
			if err := emit(sinks.Row{Key: key, Value: pool[at : at+n]}); err != nil {
				return err
			}
		}
		return nil
	}
}

// TestBenchBulk compares a bulk load with Puts, the same rows into tables of 8
// regions on the same server, in turn. Puts go with the write-ahead log, 2 MiB a
// call, four calls at once, and end with a flush: until then the work is not done.
func TestBenchBulk(t *testing.T) {
	formattest.Bench(t)
	rows := gigabyte()
	for _, on := range []string{"local", "hdfs"} {
		t.Run(on, func(t *testing.T) { benchBulk(t, on, rows) })
	}
}

func benchBulk(t *testing.T, on string, rows func(int, func(sinks.Row) error) error) {
	// The buffer is what Hadoop's guides advise for production; what tables leave goes soon, to spare the disk.
	o := hbasetest.Options{Heap: "2g", Fast: true, Site: map[string]string{"hbase.hstore.bulkload.verify": "false",
		"io.file.buffer.size": "131072", "hbase.master.cleaner.interval": "2000", "hbase.master.hfilecleaner.ttl": "1000"}}
	var files []int
	if on == "hdfs" {
		h := hbasetest.StartHDFS(t, hbasetest.HDFSOptions{Fast: true})
		o.HDFS, files = h, h.Pids()
	}
	s := hbasetest.Start(t, o)
	var splits []byte
	for i := 1; i < benchRegions; i++ {
		splits = append(splits, byte(i*256/benchRegions))
	}
	// measure gives total seconds, cpu seconds of HBase, and of HBase and its file system.
	measure := func(way func(*target) error) (m [3]float64) {
		x := newTarget(t, s, WriteOptions{}, splits...)
		start, hbase, all := time.Now(), cpu(t, []int{s.Process()}), cpu(t, append(files, s.Process()))
		if err := way(x); err != nil {
			t.Fatal(err)
		}
		m = [3]float64{time.Since(start).Seconds(), cpu(t, []int{s.Process()}) - hbase, cpu(t, append(files, s.Process())) - all}
		if err := x.c.DeleteTable(t.Context(), x.rows); err != nil {
			t.Fatal(err)
		}
		return m
	}
	var load, put [3]float64
	for pair := range 4 {
		l := measure(func(x *target) error { return x.benchLoad(rows) })
		p := measure(func(x *target) error { return x.benchPuts(rows) })
		fmt.Printf("%s: bulk load %.2f s, HBase cpu %.2f s, with files %.2f s; puts %.2f s, %.2f s, %.2f s\n", on, l[0], l[1], l[2], p[0], p[1], p[2])
		if pair == 0 { // it warmed the server up
			continue
		}
		for i := range l {
			load[i], put[i] = load[i]+l[i], put[i]+p[i]
		}
	}
	fmt.Printf("%s: puts / bulk load: total time %.1f, HBase cpu %.1f, HBase and file system cpu %.1f\n", on, put[0]/load[0], put[1]/load[1], put[2]/load[2])
}

func (x *target) benchLoad(rows func(int, func(sinks.Row) error) error) error {
	b, err := x.Begin(x.t.Context())
	if err != nil {
		return err
	}
	defer b.Abort()
	for load := range benchLoads {
		if err := rows(load, b.Write); err != nil {
			return err
		}
	}
	return b.Commit(x.t.Context())
}

func (x *target) benchPuts(rows func(int, func(sinks.Row) error) error) error {
	ctx := x.t.Context()
	g, gctx := errgroup.WithContext(ctx)
	g.SetLimit(putThreads)
	for load := range benchLoads {
		var cells []client.Cell
		bytes := 0
		send := func() {
			some := cells
			cells, bytes = nil, 0
			g.Go(func() error { return x.c.Write(gctx, x.rows, some, client.SyncWAL, false) })
		}
		if err := rows(load, func(r sinks.Row) error {
			cells = append(cells, client.Put(r.Key, rowColumn(), r.Value, 1))
			if bytes += len(r.Value); bytes >= 2<<20 {
				send()
			}
			return nil
		}); err != nil {
			return err
		}
		send()
	}
	if err := g.Wait(); err != nil {
		return err
	}
	list, err := x.c.Regions(ctx, x.rows)
	for _, r := range list {
		if err == nil {
			err = x.c.Flush(ctx, x.rows, r)
		}
	}
	return err
}

// cpu is the processor time that processes have used, user and system.
func cpu(t *testing.T, pids []int) (seconds float64) {
	t.Helper()
	for _, pid := range pids {
		stat, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), "stat"))
		if err != nil {
			t.Fatal(err)
		}
		seconds += hbasetest.Used(stat)
	}
	return seconds
}
