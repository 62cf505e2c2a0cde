package hbase

import (
	"bufio"
	"context"
	"encoding/binary"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/symlake/symlake/formats/formattest"
	"github.com/symlake/symlake/sinks"
	"github.com/symlake/symlake/sinks/hbase/hbasetest"
	"github.com/symlake/symlake/sinks/hbase/internal/bulk"
	"github.com/symlake/symlake/sinks/hbase/security"
)

// peer is a process that does with HBase's own client what the benchmark does with ours.
type peer struct {
	t   *testing.T
	in  io.Writer
	out *bufio.Scanner
}

// startPeer compiles and starts the Java program beside a server; rows are a file of its form. login is a principal and a
// keytab, under Kerberos.
func startPeer(t *testing.T, server *hbasetest.Server, rows string, login ...string) *peer {
	t.Helper()
	classes := t.TempDir()
	if out, err := exec.Command(formattest.Tool(t, "javac", "install a JDK 17"), "-cp", filepath.Join(server.Lib, "*"), "-d", classes,
		formattest.Testdata(t, "bench/hbase/Peer.java")).CombinedOutput(); err != nil {
		t.Fatalf("javac: %v\n%s", err, out)
	}
	args := []string{"-Xmx1g", "-Dorg.apache.hbase.thirdparty.io.netty.tryReflectionSetAccessible=true",
		"--add-opens", "java.base/java.nio=ALL-UNNAMED", "--add-opens", "java.base/java.lang=ALL-UNNAMED", "--add-opens", "java.base/jdk.internal.misc=ALL-UNNAMED",
		"-cp", strings.Join([]string{classes, filepath.Join(server.Dir, "conf"), filepath.Join(server.Lib, "*")}, ":")}
	if server.KDC != nil {
		args = append(args, "-Djava.security.krb5.conf="+server.KDC.Config)
	}
	cmd := exec.Command(hbasetest.Java(t), append(append(args, "Peer", rows), login...)...)
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		in.Close()
		if err := cmd.Wait(); err != nil {
			t.Errorf("the Java program: %v", err)
		}
	})
	p := &peer{t, in, bufio.NewScanner(out)}
	p.next("ready")
	return p
}

// next waits for a line that begins with word, and gives the numbers after it.
func (p *peer) next(word string) (numbers []float64) {
	p.t.Helper()
	for p.out.Scan() {
		rest, ok := strings.CutPrefix(p.out.Text(), word)
		if !ok {
			continue // a line of its log
		}
		for _, f := range strings.Fields(rest) {
			n, err := strconv.ParseFloat(f, 64)
			if err != nil {
				p.t.Fatal(err)
			}
			numbers = append(numbers, n)
		}
		return numbers
	}
	p.t.Fatalf("the Java program ended: %v", p.out.Err())
	return nil
}

// do sends a command and gives the numbers of its answer.
func (p *peer) do(words ...any) []float64 {
	p.t.Helper()
	if _, err := fmt.Fprintln(p.in, words...); err != nil {
		p.t.Fatal(err)
	}
	return p.next("answer")
}

// writeRows writes rows as the Java program reads them.
func writeRows(t *testing.T, all []sinks.Row) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "rows")
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	w := bufio.NewWriterSize(f, 1<<20)
	var head []byte
	for _, r := range all {
		head = binary.BigEndian.AppendUint16(head[:0], uint16(len(r.Key)))
		head = append(head, r.Key...)
		head = binary.BigEndian.AppendUint32(head, uint32(len(r.Value)))
		w.Write(head)    // the buffer
		w.Write(r.Value) // keeps the error
	}
	w.Write([]byte{0, 0})
	if err := w.Flush(); err != nil {
		t.Fatal(err)
	}
	return path
}

const (
	javaRegions = 8
	javaLoads   = 620 // 290 MB of rows
)

// ourScans asks for one random row after another from so many goroutines: p50 and p99 in ns, scans a second,
// ns of this process's processor time a scan, as the Java program counts them.
func (l *library) ourScans(t *testing.T, callers, each int) []float64 {
	t.Helper()
	var mu sync.Mutex
	var wg sync.WaitGroup
	var all []time.Duration
	began, used := time.Now(), cpu(t, []int{os.Getpid()})
	for range callers {
		wg.Go(func() {
			took := make([]time.Duration, 0, each)
			for range each {
				want := &l.all[rand.IntN(len(l.all))]
				at := time.Now()
				err := l.Blocks.First(t.Context(), []sinks.Span{sinks.Exactly(want.Key)}, func(_ int, r sinks.Row, err error) {
					if err != nil || string(r.Key) != string(want.Key) || len(r.Value) != len(want.Value) {
						t.Errorf("row %x: %x, %v", want.Key, r.Key, err)
					}
				})
				if err != nil {
					t.Error(err)
				}
				took = append(took, time.Since(at))
			}
			mu.Lock()
			defer mu.Unlock()
			all = append(all, took...)
		})
	}
	wg.Wait()
	spent := time.Since(began).Seconds()
	used = cpu(t, []int{os.Getpid()}) - used
	slices.Sort(all)
	n := float64(len(all))
	return []float64{float64(all[len(all)/2]), float64(all[len(all)*99/100]), n / spent, used * 1e9 / n}
}

// TestBenchJava compares with HBase's own client for Java, in turn, on the same server.
func TestBenchJava(t *testing.T) {
	formattest.Bench(t)
	server := hbasetest.Start(t, hbasetest.Options{Heap: "2g", Fast: true, Site: map[string]string{"hbase.regionserver.handler.count": "30",
		"hbase.hstore.bulkload.verify": "false", "io.file.buffer.size": "131072"}}) // as TestBenchBulk
	l := javaLibrary(t, server, security.Options{})
	p := startPeer(t, server, writeRows(t, l.all))
	t.Run("scans", func(t *testing.T) { benchScans(t, l, p, 40_000) })
	t.Run("loads", func(t *testing.T) { benchTools(t, server, l, p) })
}

// javaLibrary makes a store of 290 MB of rows in 8 regions.
func javaLibrary(t *testing.T, server *hbasetest.Server, o security.Options) *library {
	t.Helper()
	l := &library{rest: fmt.Sprintf("//%s/%s?regions=%d", server.Master, namespace(), javaRegions)}
	a, err := parse(l.rest, false)
	if err != nil {
		t.Fatal(err)
	}
	l.table = a.blocks()
	if err := Create(t.Context(), l.rest, Options{Security: o}); err != nil {
		t.Fatal(err)
	}
	if l.Store, err = Open(t.Context(), l.rest, Options{Security: o}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	l.all = slices.Concat(someLoads(javaLoads, 30, 60_000)...)
	slices.SortFunc(l.all, func(x, y sinks.Row) int { return strings.Compare(string(x.Key), string(y.Key)) })
	b, err := l.Blocks.Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer b.Abort()
	for _, r := range l.all {
		if err := b.Write(r); err != nil {
			t.Fatal(err)
		}
	}
	if err := b.Commit(t.Context()); err != nil {
		t.Fatal(err)
	}
	return l
}

// benchScans compares scans with limit 1 of warm clients.
func benchScans(t *testing.T, l *library, p *peer, scans int) {
	callers := []int{1, 16, 64}
	for range 2 { // warms up both, and the server
		l.ourScans(t, 16, scans/16)
		p.do("scans", l.table, 16, scans/16)
	}
	ours, theirs := make([][][]float64, len(callers)), make([][][]float64, len(callers))
	for range 3 {
		for i, n := range callers {
			each := scans / n / map[bool]int{true: 4, false: 1}[n == 1]
			ours[i] = append(ours[i], l.ourScans(t, n, each))
			theirs[i] = append(theirs[i], p.do("scans", l.table, n, each))
		}
	}
	for i, n := range callers {
		o, j := medians(ours[i]), medians(theirs[i])
		fmt.Printf("limit-1 scan, %d callers: p50 %.0f and %.0f µs: %.2f; p99 %.0f and %.0f µs; a second %.0f and %.0f: %.2f; client cpu %.1f and %.1f µs: %.2f\n",
			n, o[0]/1e3, j[0]/1e3, o[0]/j[0], o[1]/1e3, j[1]/1e3, o[2], j[2], o[2]/j[2], o[3]/1e3, j[3]/1e3, o[3]/j[3])
	}
}

// medians gives the median of each number over the runs.
func medians(runs [][]float64) []float64 {
	list := make([]float64, len(runs[0]))
	for i := range list {
		var column []float64
		for _, r := range runs {
			column = append(column, r[i])
		}
		slices.Sort(column)
		list[i] = column[len(column)/2]
	}
	return list
}

// benchTools compares a bulk load of files that are there, and of rows, with Java's, and with Java's Puts.
func benchTools(t *testing.T, server *hbasetest.Server, l *library, p *peer) {
	pids := []int{server.Process()}
	own := []int{os.Getpid()}
	a, err := parse(l.rest, false)
	if err != nil {
		t.Fatal(err)
	}
	var whole, files, tool, puts [][]float64
	for range 4 {
		// each gives seconds, seconds of the client's processor time, seconds of the server's.
		each := func(fill func(x *target) (client []float64)) []float64 {
			x := newTarget(t, server, WriteOptions{}, 0x20, 0x40, 0x60, 0x80, 0xa0, 0xc0, 0xe0)
			x.bloom = bloomOf(a.schemas()[0].Families[0])
			before := cpu(t, pids)
			took := append(fill(x), 0)
			took[len(took)-1] = cpu(t, pids) - before
			if err := x.c.DeleteTable(t.Context(), x.rows); err != nil {
				t.Fatal(err)
			}
			return took
		}
		timed := func(work func() error) []float64 {
			began, used := time.Now(), cpu(t, own)
			if err := work(); err != nil {
				t.Fatal(err)
			}
			return []float64{time.Since(began).Seconds(), cpu(t, own) - used}
		}
		whole = append(whole, each(func(x *target) []float64 {
			return timed(func() error { return x.benchRows(l.all) })
		}))
		files = append(files, each(func(x *target) []float64 {
			b, err := x.Begin(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			for _, r := range l.all {
				if err := b.Write(r); err != nil {
					t.Fatal(err)
				}
			}
			if err := b.(*bulk.Batch).Flush(t.Context()); err != nil {
				t.Fatal(err)
			}
			return timed(func() error { return b.Commit(t.Context()) })
		}))
		tool = append(tool, each(func(x *target) []float64 {
			dir := t.TempDir()
			benchFolder(t, dir, a, l.all)
			n := p.do("load", x.rows.Name, dir)
			return []float64{n[0] / 1e9, n[1] / 1e9}
		}))
		puts = append(puts, each(func(x *target) []float64 {
			n := p.do("puts", x.rows.Name, putThreads)
			return []float64{n[0] / 1e9, n[1] / 1e9}
		}))
	}
	w, f, j, q := medians(whole[1:]), medians(files[1:]), medians(tool[1:]), medians(puts[1:])
	for _, line := range []struct {
		what string
		m    []float64
	}{{"ours, rows to table", w}, {"ours, files to table", f}, {"BulkLoadHFilesTool, files to table", j}, {"Java's puts", q}} {
		fmt.Printf("%-36s %.2f s, client cpu %.2f s, server cpu %.2f s\n", line.what, line.m[0], line.m[1], line.m[2])
	}
	fmt.Printf("bulk load of files / BulkLoadHFilesTool: time %.2f, client cpu %.2f; server cpu of a bulk load / Java's puts: %.2f\n", f[0]/j[0], f[1]/j[1], w[2]/q[2])
}

func (x *target) benchRows(all []sinks.Row) error {
	b, err := x.Begin(x.t.Context())
	if err != nil {
		return err
	}
	defer b.Abort()
	for _, r := range all {
		if err := b.Write(r); err != nil {
			return err
		}
	}
	return b.Commit(x.t.Context())
}

// benchFolder writes rows as HFiles for BulkLoadHFilesTool.
func benchFolder(t *testing.T, dir string, a address, all []sinks.Row) {
	t.Helper()
	first := func(_ context.Context, prefixes [][]byte) ([]uint64, error) {
		return slices.Repeat([]uint64{1}, len(prefixes)), nil
	}
	b := bulk.New(t.Context(), bulk.Options{To: &folder{dir, splits(a.regions)}, Generations: first, Bloom: bloomOf(a.schemas()[0].Families[0])})
	for _, r := range all {
		if err := b.Write(r); err != nil {
			t.Fatal(err)
		}
	}
	if err := b.Commit(t.Context()); err != nil {
		t.Fatal(err)
	}
}
