package hbase

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"math/rand/v2"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/symlake/symlake/formats/formattest"
	"github.com/symlake/symlake/sinks"
	"github.com/symlake/symlake/sinks/hbase/hbasetest"
	"github.com/symlake/symlake/sinks/hbase/internal/client"
)

// library is a store with rows to look up.
type library struct {
	*sinks.Store
	c     *client.Client
	rest  string
	table client.Table
	all   []sinks.Row // in order of keys
}

// newLibrary makes a store and fills it.
func newLibrary(t testing.TB, server *hbasetest.Server, loads, rows, valueBytes int) *library {
	t.Helper()
	l := &library{rest: "//" + server.Master + "/" + namespace() + "?regions=8"}
	if err := Create(t.Context(), l.rest, Options{}); err != nil {
		t.Fatal(err)
	}
	l.Store, l.c = l.open(t, nil)
	a, err := parse(l.rest, false)
	if err != nil {
		t.Fatal(err)
	}
	l.table = a.blocks()
	b, err := l.Blocks.Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer b.Abort()
	l.all = slices.Concat(someLoads(loads, rows, valueBytes)...)
	for _, r := range l.all {
		if err := b.Write(r); err != nil {
			t.Fatal(err)
		}
	}
	if err := b.Commit(t.Context()); err != nil {
		t.Fatal(err)
	}
	slices.SortFunc(l.all, func(x, y sinks.Row) int { return bytes.Compare(x.Key, y.Key) })
	return l
}

// open opens the store once more, with a client of its own.
func (l *library) open(t testing.TB, with func(*client.Options)) (*sinks.Store, *client.Client) {
	t.Helper()
	a, err := parse(l.rest, false)
	if err != nil {
		t.Fatal(err)
	}
	if with != nil {
		with(&a.client)
	}
	s := newStore(a, false, WriteOptions{})
	opened, err := s.open(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { opened.Close() })
	return opened, s.c
}

// ask looks n random rows up at once and returns the faults.
func (l *library) ask(ctx context.Context, s *sinks.Store, n int) error {
	want := make([]sinks.Row, n)
	spans := make([]sinks.Span, n)
	for i := range n {
		want[i] = l.all[rand.IntN(len(l.all))]
		from := bytes.Clone(want[i].Key)
		at := binary.BigEndian.Uint64(from[len(from)-8:]) - rand.Uint64N(10) // a position that the row speaks for
		binary.BigEndian.PutUint64(from[len(from)-8:], at)
		spans[i] = sinks.Span{From: from, Stop: append(bytes.Clone(want[i].Key[:sinks.PrefixBytes]), 2)}
	}
	var bad error
	err := s.Blocks.First(ctx, spans, func(i int, r sinks.Row, err error) {
		switch {
		case err != nil:
			bad = errors.Join(bad, err)
		case !bytes.Equal(r.Key, want[i].Key) || !bytes.Equal(r.Value, want[i].Value):
			bad = errors.Join(bad, errors.New("another row than the one asked for"))
		}
	})
	return errors.Join(bad, err)
}

// read scans everything and returns the faults.
func (l *library) read(ctx context.Context, s *sinks.Store) error {
	i := 0
	err := s.Blocks.Scan(ctx, sinks.Span{}, func(r sinks.Row) error {
		if i >= len(l.all) || !bytes.Equal(r.Key, l.all[i].Key) || !bytes.Equal(r.Value, l.all[i].Value) {
			return errors.New("a scan gives another row")
		}
		i++
		return nil
	})
	if err == nil && i != len(l.all) {
		err = errors.New("a scan ends early")
	}
	return err
}

// readers look up and scan until stop, and fail the test for every wrong answer or error.
func (l *library) readers(t *testing.T, s *sinks.Store) *readers {
	r := &readers{}
	for i := range 4 {
		r.wg.Go(func() {
			for !r.done.Load() {
				var err error
				if i == 0 {
					err = l.read(t.Context(), s)
				} else {
					err = l.ask(t.Context(), s, 1+rand.IntN(60))
				}
				if err != nil {
					t.Error(err)
					return
				}
				r.asked.Add(1)
			}
		})
	}
	return r
}

// readers look up and scan until they are stopped.
type readers struct {
	done  atomic.Bool
	asked atomic.Int64
	wg    sync.WaitGroup
}

// manyReads is a number of look-ups and scans that takes a fraction of a second on a healthy server.
const manyReads = 200

// stop ends the readers and returns the number of their look-ups and scans.
func (r *readers) stop() int64 {
	r.done.Store(true)
	r.wg.Wait()
	return r.asked.Load()
}

// more returns when the readers have had so many more answers.
func (r *readers) more(t *testing.T, n int64) {
	t.Helper()
	n += r.asked.Load()
	formattest.Await(t, "answers come", func() bool { return r.asked.Load() >= n || t.Failed() })
}

func (l *library) regions(t *testing.T) (list []hbasetest.Region) {
	t.Helper()
	regions, err := l.c.Regions(t.Context(), l.table)
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range regions {
		list = append(list, hbasetest.Region{Name: r.Name, End: r.End})
	}
	return list
}

// Look-ups and scans go on, without an error and without a wrong row, while regions move, split and merge.
func TestReadBesideMoves(t *testing.T) {
	t.Parallel()
	server := hbasetest.Start(t, hbasetest.Options{Servers: 2})
	l := newLibrary(t, server, 300, 40, 3000)
	reading := l.readers(t, l.Store)
	for _, r := range l.regions(t) {
		server.Move(t, r)
	}
	list := l.regions(t)
	server.Split(t, list[3], []byte{0x77})
	reading.more(t, manyReads)
	list = l.regions(t)
	if len(list) != 9 {
		t.Errorf("%d regions after a split, want 9", len(list))
	}
	server.Merge(t, list[0], list[1])
	if n := len(l.regions(t)); n != 8 {
		t.Errorf("%d regions after a merge, want 8", n)
	}
	reading.more(t, manyReads)
	t.Logf("%d look-ups and scans", reading.stop())
}

// What a server may do to readers, one after the other on the same.
func TestReadBesideTrouble(t *testing.T) {
	t.Parallel()
	server := hbasetest.Start(t, hbasetest.Options{})
	t.Run("region lost", func(t *testing.T) { readWithoutRegion(t, server) })
	t.Run("crash", func(t *testing.T) { readBesideCrash(t, server) })
	t.Run("pause", func(t *testing.T) { readBesidePause(t, server) }) // last: a server that stood still needs long to find its feet
}

// The server is killed in the middle of everything, and comes back: readers have waited.
func readBesideCrash(t *testing.T, server *hbasetest.Server) {
	l := newLibrary(t, server, 300, 40, 3000)
	reading := l.readers(t, l.Store)
	reading.more(t, manyReads)
	server.Kill()
	server.Restart(t) // which takes seconds
	reading.more(t, manyReads)
	t.Logf("%d look-ups and scans", reading.stop())
}

// A server that stands still for longer than an attempt may take is waited for, and left for a new connection.
func readBesidePause(t *testing.T, server *hbasetest.Server) {
	l := newLibrary(t, server, 50, 20, 1000)
	n := &badNetwork{}
	s, _ := l.open(t, func(o *client.Options) { o.Attempt, o.Dial = time.Second, n.dial })
	reading := l.readers(t, s)
	reading.more(t, manyReads)
	server.Pause(t, true)
	dialed := n.dialed.Load()
	formattest.Await(t, "attempts end and new connections are made", func() bool { return n.dialed.Load() >= dialed+2 })
	server.Pause(t, false)
	reading.more(t, manyReads)
	t.Logf("%d look-ups and scans", reading.stop())
	server.Pause(t, true)
	defer server.Pause(t, false)
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Second)
	defer cancel()
	began := time.Now()
	if err := l.ask(ctx, s, 3); err == nil || !errors.Is(err, context.DeadlineExceeded) || time.Since(began) > formattest.Patience {
		t.Errorf("a server that stands still: %v after %v", err, time.Since(began))
	}
}

// A region that HBase lost is corrupt, not a hole. An HFile that is lost leaves no trace here; that
// look-ups find out is shown by jobs.TestHBaseLosesFiles.
func readWithoutRegion(t *testing.T, server *hbasetest.Server) {
	l := newLibrary(t, server, 100, 10, 1000)
	server.Forget(t, l.regions(t)[2])
	s, _ := l.open(t, nil)
	lost, found := 0, 0
	spans := make([]sinks.Span, len(l.all))
	for i, r := range l.all {
		spans[i] = sinks.Span{From: r.Key, Stop: append(bytes.Clone(r.Key), 0)}
	}
	if err := s.Blocks.First(t.Context(), spans, func(i int, r sinks.Row, err error) {
		switch in := l.all[i].Key[0]>>5 == 2; {
		case err == nil && bytes.Equal(r.Key, l.all[i].Key) && !in:
			found++
		case errors.Is(err, sinks.ErrCorrupt) && in:
			lost++
		default:
			t.Errorf("row %x: %x, %v", l.all[i].Key, r.Key, err)
		}
	}); err != nil || lost == 0 || found == 0 {
		t.Errorf("%d rows lost, %d found: %v", lost, found, err)
	}
}
