//go:build unix

package redis

import (
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/symlake/symlake/formats/formattest"
	"github.com/symlake/symlake/sinks"
)

// server starts a Redis of this machine alone and gives its URL.
func server(t testing.TB, settings ...string) (url string, run *exec.Cmd) {
	t.Helper()
	program := formattest.Tool(t, "redis-server", "apt-get install redis-server")
	dir := t.TempDir()
	socket := filepath.Join(dir, "redis.sock")
	run = exec.Command(program, append([]string{"--port", "0", "--unixsocket", socket, "--save", "", "--dir", dir}, settings...)...)
	if err := run.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { run.Process.Signal(syscall.SIGCONT); run.Process.Kill(); run.Wait() })
	formattest.Await(t, "redis-server comes up", func() bool {
		conn, err := net.Dial("unix", socket)
		if err == nil {
			conn.Close()
		}
		return err == nil
	})
	return "unix://" + socket, run
}

// open returns a cache on url. No call of it times out unless o says so: a busy machine is no reason
// for a miss.
func open(t testing.TB, url string, o Options) *Cache {
	t.Helper()
	if o.Timeout == 0 {
		o.Timeout = time.Hour
	}
	c, err := New(url, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return c
}

func rows(n, size int) (all []sinks.Row) {
	r := rand.NewChaCha8([32]byte{byte(n)})
	for i := range n {
		value := make([]byte, size+i)
		r.Read(value)
		key := make([]byte, 33)
		r.Read(key)
		all = append(all, sinks.Row{Key: key, Value: value})
	}
	return all
}

// get gives what the cache holds, by index; nil: nothing.
func get(t testing.TB, c *Cache, all []sinks.Row) [][]byte {
	t.Helper()
	out := make([][]byte, len(all))
	keys := make([][]byte, len(all))
	for i := range all {
		keys[i] = all[i].Key
	}
	c.Get(t.Context(), keys, func(i int, v []byte) {
		if out[i] != nil {
			t.Fatalf("key %d was given twice", i)
		}
		out[i] = v
	})
	return out
}

func missing(got [][]byte) int {
	n := 0
	for _, v := range got {
		if v == nil {
			n++
		}
	}
	return n
}

func TestRows(t *testing.T) {
	url, _ := server(t)
	c := open(t, url, Options{TTL: time.Hour, MaxRowBytes: 10_000})
	all := rows(300, 500)
	large := rows(2, 10_001)
	if n := missing(get(t, c, all)); n != len(all) {
		t.Fatalf("an empty Redis holds %d rows", len(all)-n)
	}
	c.Put(t.Context(), append(slices.Clone(all[:200]), large...))
	got := get(t, c, append(slices.Clone(all), large...))
	for i, v := range got[:200] {
		if !bytes.Equal(v, all[i].Value) {
			t.Fatalf("row %d came back as %d bytes", i, len(v))
		}
	}
	if n := missing(got[200:]); n != 102 {
		t.Fatalf("%d of 102 rows that were not put, or are too large, are missing", n)
	}
	// Under the row's key, with its time to live; another client sees it.
	out, err := exec.Command("redis-cli", "-s", strings.TrimPrefix(url, "unix://"), "EVAL", "return redis.call('TTL', redis.call('RANDOMKEY'))", "0").Output()
	if err != nil || !(strings.TrimSpace(string(out)) <= "3600" && strings.TrimSpace(string(out)) > "3500") {
		t.Errorf("time to live %s, %v", out, err)
	}
	if n := missing(get(t, open(t, url, Options{}), all[:200])); n != 0 {
		t.Errorf("another client misses %d rows", n)
	}
	// Put again with other bytes: the reader that opens the row notices.
	c.Put(t.Context(), []sinks.Row{{Key: all[0].Key, Value: []byte("wrong")}})
	if v := get(t, c, all[:1]); string(v[0]) != "wrong" {
		t.Errorf("%q", v)
	}
}

// A value of another type, or larger than any row, is a miss.
func TestStrangeValues(t *testing.T) {
	url, _ := server(t)
	c := open(t, url, Options{MaxRowBytes: 1000})
	all := rows(3, 10)
	for i := range all {
		all[i].Key = fmt.Appendf(nil, "key%d", i)
	}
	script := "redis.call('LPUSH', KEYS[1], 'x') redis.call('SET', KEYS[2], string.rep('x', 50000000))"
	if out, err := exec.Command("redis-cli", "-s", strings.TrimPrefix(url, "unix://"), "EVAL", script, "2", prefix+"key0", prefix+"key1").CombinedOutput(); err != nil || strings.Contains(string(out), "ERR") {
		t.Fatal(string(out), err)
	}
	c.Put(t.Context(), all[2:])
	if got := get(t, c, all); got[0] != nil || got[1] != nil || !bytes.Equal(got[2], all[2].Value) {
		t.Errorf("%d %d %d bytes", len(got[0]), len(got[1]), len(got[2]))
	}
}

// A full Redis refuses rows, and still gives the rows that it has.
func TestFull(t *testing.T) {
	url, _ := server(t, "--maxmemory", "4mb", "--maxmemory-policy", "noeviction")
	var said atomic.Int64
	c := open(t, url, Options{Notice: func(string) { said.Add(1) }})
	all := rows(400, 50_000)
	c.Put(t.Context(), all)
	n := missing(get(t, c, all))
	if n == 0 || n == len(all) {
		t.Fatalf("%d of %d rows are missing", n, len(all))
	}
	if again := missing(get(t, c, all)); again != n || said.Load() != 0 {
		t.Errorf("then %d, and %d notices", again, said.Load())
	}
}

// A Redis that evicts keeps within its memory.
func TestEvicts(t *testing.T) {
	url, _ := server(t, "--maxmemory", "8mb", "--maxmemory-policy", "allkeys-lru")
	c := open(t, url, Options{})
	all := rows(400, 50_000)
	for i := range all {
		c.Put(t.Context(), all[i:i+1])
	}
	if n := missing(get(t, c, all)); n < 200 || n == len(all) {
		t.Errorf("%d of %d rows are missing", n, len(all))
	}
}

// A Redis that hangs costs one caller its patience once a rest; the others go on at once. When Redis
// answers again, so does the cache. The clock stands still unless the test moves it.
func TestSlow(t *testing.T) {
	url, run := server(t)
	const rest = time.Minute
	var mu sync.Mutex
	var said []string
	c := open(t, url, Options{Timeout: 100 * time.Millisecond, Rest: rest, Notice: func(s string) { mu.Lock(); said = append(said, s); mu.Unlock() }})
	var clock atomic.Int64
	clock.Store(time.Now().UnixNano())
	c.now = func() time.Time { return time.Unix(0, clock.Load()) }
	all := rows(10, 100)
	answers := func() bool {
		clock.Add(int64(rest))
		c.Put(t.Context(), all)
		return missing(get(t, c, all)) == 0
	}
	formattest.Await(t, "Redis answers", answers)

	run.Process.Signal(syscall.SIGSTOP)
	for round := range 3 {
		clock.Add(int64(rest))
		before := c.tries.Load()
		var callers sync.WaitGroup
		for range 10 {
			callers.Go(func() {
				for range 100 {
					c.Get(t.Context(), [][]byte{all[0].Key}, func(int, []byte) { t.Error("a stopped Redis answered") })
				}
			})
		}
		callers.Wait()
		// In the first round all callers may be on their way before one of them finds out.
		if tries := c.tries.Load() - before; tries == 0 || round > 0 && tries > 1 || tries > 10 {
			t.Errorf("round %d: %d of 1,000 calls went to Redis", round, tries)
		}
	}

	run.Process.Signal(syscall.SIGCONT)
	formattest.Await(t, "Redis answers again", answers)
	mu.Lock()
	defer mu.Unlock()
	if len(said) < 2 || !strings.Contains(strings.Join(said, "; "), "fails") || !strings.Contains(said[len(said)-1], "again") {
		t.Errorf("said %q", said)
	}
}

// A Redis that is away is tried again later; a Redis that goes away costs misses.
func TestDown(t *testing.T) {
	socket := filepath.Join(t.TempDir(), "redis.sock")
	c := open(t, "unix://"+socket, Options{Rest: 50 * time.Millisecond})
	all := rows(3, 100)
	for range 50 {
		c.Put(t.Context(), all)
		if missing(get(t, c, all)) != 3 {
			t.Fatal("nobody answered")
		}
	}
	url, run := server(t)
	if err := os.Symlink(strings.TrimPrefix(url, "unix://"), socket); err != nil {
		t.Fatal(err)
	}
	formattest.Await(t, "Redis answers", func() bool { c.Put(t.Context(), all); return missing(get(t, c, all)) == 0 })
	run.Process.Kill()
	run.Wait()
	for range 50 {
		if missing(get(t, c, all)) != 3 {
			t.Fatal("the dead answered")
		}
	}
}

// What speaks no Redis at all, and what breaks off in the middle, are misses.
func TestNoRedis(t *testing.T) {
	for name, answer := range map[string]string{
		"http":    "HTTP/1.1 400 Bad Request\r\n\r\n",
		"silence": "",
		"lies":    "%1\r\n+server\r\n+redis\r\n$5000000000\r\nabc",
		"cut":     "%7\r\n$6\r\nserver",
	} {
		t.Run(name, func(t *testing.T) {
			l, err := net.Listen("tcp", "127.0.0.1:0")
			if err != nil {
				t.Fatal(err)
			}
			defer l.Close()
			go func() {
				for {
					conn, err := l.Accept()
					if err != nil {
						return
					}
					go func() {
						io.WriteString(conn, answer)
						io.Copy(io.Discard, conn)
					}()
				}
			}()
			c := open(t, "redis://"+l.Addr().String(), Options{Timeout: 200 * time.Millisecond, Rest: 20 * time.Millisecond})
			all := rows(3, 100)
			for range 3 {
				if missing(get(t, c, all)) != 3 {
					t.Error("a row came")
				}
				c.Put(t.Context(), all)
			}
		})
	}
}

// The caller's own end says nothing of Redis.
func TestCallerGivesUp(t *testing.T) {
	url, _ := server(t)
	var said atomic.Int64
	c := open(t, url, Options{Rest: time.Hour, Notice: func(string) { said.Add(1) }})
	all := rows(3, 100)
	c.Put(t.Context(), all)
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	for range 10 {
		c.Get(ended, [][]byte{all[0].Key}, func(int, []byte) {})
	}
	if missing(get(t, c, all)) != 0 || said.Load() != 0 {
		t.Error("Redis was taken for one that fails")
	}
}

func TestBadURL(t *testing.T) {
	for _, url := range []string{"", "http://host", "redis://host/notanumber", "redis://:secret@host/x/y", "redis://us%er:secret@ho st"} {
		if _, err := New(url, Options{}); err == nil || strings.Contains(err.Error(), "secret") {
			t.Errorf("%q: %v", url, err)
		}
	}
}

// A user of Redis with a password, and a database of its own.
func TestUser(t *testing.T) {
	url, _ := server(t, "--user", "worker", "on", ">secret", "~*", "+@all")
	socket := strings.TrimPrefix(url, "unix://")
	all := rows(3, 100)
	c := open(t, "unix://worker:secret@"+socket+"?db=3", Options{Notice: func(s string) { t.Error(s) }})
	c.Put(t.Context(), all)
	if n := missing(get(t, c, all)); n != 0 {
		t.Errorf("%d rows are missing", n)
	}
	if n := missing(get(t, open(t, "unix://worker:secret@"+socket, Options{}), all)); n != len(all) {
		t.Errorf("database 0 has %d rows of database 3", len(all)-n)
	}
	var said atomic.Int64
	wrong := open(t, "unix://worker:wrong@"+socket, Options{Notice: func(string) { said.Add(1) }})
	if n := missing(get(t, wrong, all)); n != len(all) || said.Load() != 1 {
		t.Errorf("a wrong password: %d rows are missing, %d notices", n, said.Load())
	}
}

// A node of a cluster makes misses, and a notice that says why.
func TestCluster(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			go func() {
				io.WriteString(conn, "-MOVED 3999 127.0.0.1:6381\r\n")
				io.Copy(io.Discard, conn)
			}()
		}
	}()
	said := make(chan string, 1)
	c := open(t, "redis://"+l.Addr().String(), Options{Notice: func(s string) { said <- s }})
	if missing(get(t, c, rows(1, 100))) != 1 {
		t.Error("a row came")
	}
	if s := <-said; !strings.Contains(s, "cluster") {
		t.Error(s)
	}
}

// rediss:// speaks TLS, to the host of the URL.
func TestTLS(t *testing.T) {
	hello := make(chan *tls.ClientHelloInfo, 1)
	l, err := tls.Listen("tcp", "127.0.0.1:0", &tls.Config{GetConfigForClient: func(h *tls.ClientHelloInfo) (*tls.Config, error) {
		hello <- h
		return nil, errors.New("no")
	}})
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	go func() {
		if conn, err := l.Accept(); err == nil {
			conn.(*tls.Conn).Handshake()
			conn.Close()
		}
	}()
	_, port, _ := net.SplitHostPort(l.Addr().String())
	c := open(t, "rediss://localhost:"+port, Options{})
	if missing(get(t, c, rows(1, 100))) != 1 {
		t.Error("a row came")
	}
	if h := <-hello; h.ServerName != "localhost" || slices.Min(h.SupportedVersions) < tls.VersionTLS12 {
		t.Errorf("asked for %q with versions %x", h.ServerName, h.SupportedVersions)
	}
}

// BenchmarkHit is one row of 8 KiB from a warm Redis.
func BenchmarkHit(b *testing.B) {
	url, _ := server(b)
	c := open(b, url, Options{})
	all := rows(1, 8<<10)
	c.Put(b.Context(), all)
	took := make([]time.Duration, 0, b.N)
	for b.Loop() {
		from := time.Now()
		if missing(get(b, c, all)) != 0 {
			b.Fatal("missed")
		}
		took = append(took, time.Since(from))
	}
	slices.Sort(took)
	b.ReportMetric(float64(took[len(took)/2].Microseconds()), "µs-p50")
	b.ReportMetric(float64(took[len(took)*99/100].Microseconds()), "µs-p99")
}
