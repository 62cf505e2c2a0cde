package hbase

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/symlake/symlake/formats/formattest"
	"github.com/symlake/symlake/sinks"
	"github.com/symlake/symlake/sinks/hbase/hbasetest"
	"github.com/symlake/symlake/sinks/hbase/internal/client"
	"github.com/symlake/symlake/sinks/hbase/security"
)

// badNetwork stands between a client and the real server.
type badNetwork struct {
	lifetime int  // bytes that a connection lives for, at most
	silent   bool // then it says nothing more; else it breaks in the middle of an answer
	refuse   func(address string) bool
	broken   atomic.Int64 // connections that did
	dialed   atomic.Int64 // connections asked for
	off      atomic.Bool
}

func (n *badNetwork) dial(ctx context.Context, address string) (net.Conn, error) {
	n.dialed.Add(1)
	if n.refuse != nil && n.refuse(address) {
		return nil, errors.New("connection refused")
	}
	var d net.Dialer
	c, err := d.DialContext(ctx, "tcp", address)
	if err != nil || n.lifetime == 0 {
		return c, err
	}
	return &badConn{Conn: c, n: n, left: 1 + rand.IntN(n.lifetime), closed: make(chan struct{})}, nil
}

// badConn reads so many bytes, then fails in its way.
type badConn struct {
	net.Conn
	n      *badNetwork
	left   int
	once   sync.Once
	closed chan struct{}
}

func (c *badConn) Read(p []byte) (int, error) {
	if c.n.off.Load() {
		return c.Conn.Read(p)
	}
	if c.left == 0 {
		c.n.broken.Add(1)
		if c.n.silent {
			<-c.closed
			return 0, net.ErrClosed
		}
		c.Close()
		return 0, io.EOF
	}
	n, err := c.Conn.Read(p[:min(len(p), c.left)])
	c.left -= n
	return n, err
}

func (c *badConn) Close() error {
	c.once.Do(func() { close(c.closed) })
	return c.Conn.Close()
}

// Connections that break within an answer, and connections that fall silent, cost time and nothing else:
// look-ups, scans, records and batches come out as if nothing had been.
func TestBadNetwork(t *testing.T) {
	l := newLibrary(t, hbasetest.Shared(t), 60, 20, 1000)
	for _, c := range []struct {
		name string
		n    *badNetwork
	}{
		{"half an answer", &badNetwork{lifetime: 200_000}},
		{"silence", &badNetwork{lifetime: 2_000_000, silent: true}},
	} {
		t.Run(c.name, func(t *testing.T) {
			n := c.n
			s, _ := l.open(t, func(o *client.Options) { o.Dial, o.Attempt = n.dial, 500*time.Millisecond })
			reading := l.readers(t, s)
			for writer := range 3 {
				key := fmt.Appendf(nil, "%s %d", c.name, writer)
				var last []byte
				for i := range 60 {
					next := binary.BigEndian.AppendUint64(nil, uint64(i))
					if err := s.Catalog.Swap(t.Context(), key, last, next); err != nil {
						t.Fatalf("swap %d: %v", i, err)
					}
					last = next
				}
				if v, err := l.Catalog.Get(t.Context(), key); err != nil || !bytes.Equal(v, last) {
					t.Errorf("the record is %x, want %x: %v", v, last, err)
				}
			}
			formattest.Await(t, "connections break", func() bool { return n.broken.Load() >= 5 })
			n.off.Store(true)
			t.Logf("%d look-ups and scans, %d connections broken", reading.stop(), n.broken.Load())
		})
	}
}

// Reading and writing rows, and records, need no master.
func TestMasterAway(t *testing.T) {
	server := hbasetest.Shared(t)
	l := newLibrary(t, server, 20, 10, 500)
	n := &badNetwork{refuse: func(address string) bool { return address == server.Master }}
	with := func(o *client.Options) { o.Dial, o.Servers = n.dial, []string{server.Master, server.Region} }
	a, err := parse(l.rest, false)
	if err != nil {
		t.Fatal(err)
	}
	with(&a.client)
	s := newStore(a, true, WriteOptions{})
	reader, err := s.open(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer reader.Close()
	if err := errors.Join(l.ask(t.Context(), reader, 60), l.read(t.Context(), reader)); err != nil {
		t.Error(err)
	}
	s.readOnly = false
	if err := reader.Catalog.Swap(t.Context(), []byte("key"), nil, []byte("value")); err != nil {
		t.Error(err)
	}
	b, err := reader.Blocks.Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer b.Abort()
	if err := b.Write(l.all[0]); err != nil {
		t.Fatal(err)
	}
	if err := b.Commit(t.Context()); err != nil {
		t.Errorf("a bulk load without a master: %v", err)
	}
	// What needs one says so.
	ctx, cancel := context.WithTimeout(t.Context(), time.Second)
	defer cancel()
	if err := create(ctx, s.c, &a, false, nil); err == nil || !strings.Contains(err.Error(), server.Master) {
		t.Errorf("tables without a master: %v", err)
	}
}

// ZooKeeper is asked once; its answer stays when it is gone, and comes back when it does.
func TestZooKeeperAway(t *testing.T) {
	server := hbasetest.Shared(t)
	l := newLibrary(t, server, 20, 10, 500)
	var away atomic.Bool
	n := &badNetwork{refuse: func(address string) bool { return away.Load() && address == server.ZooKeeper }}
	s, c := l.open(t, func(o *client.Options) {
		o.Dial, o.Servers, o.ZooKeeper, o.Patience = n.dial, nil, []string{server.ZooKeeper}, 2*time.Second
	})
	if err := l.ask(t.Context(), s, 60); err != nil {
		t.Fatal(err)
	}
	away.Store(true)
	if err := errors.Join(l.ask(t.Context(), s, 60), l.read(t.Context(), s)); err != nil {
		t.Error(err)
	}
	fresh := client.New(client.Options{Dial: n.dial, ZooKeeper: []string{server.ZooKeeper}, Patience: time.Second})
	defer fresh.Close()
	if _, err := fresh.Regions(t.Context(), l.table); err == nil || !strings.Contains(err.Error(), server.ZooKeeper) {
		t.Errorf("without ZooKeeper: %v", err)
	}
	away.Store(false)
	if _, err := fresh.Regions(t.Context(), l.table); err != nil {
		t.Error(err)
	}
	if _, err := c.Regions(t.Context(), l.table); err != nil {
		t.Error(err)
	}
}

// No server, or not HBase: an error that names the address, soon.
func TestNobodyThere(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	go func() { // takes connections and says nothing, as a port behind a firewall
		for {
			c, err := listener.Accept()
			if err != nil {
				return
			}
			defer c.Close()
		}
	}()
	for _, address := range []string{"127.0.0.1:1", listener.Addr().String(), "no-such-host.invalid:16000"} {
		ctx, cancel := context.WithTimeout(t.Context(), 2*time.Second)
		began := time.Now()
		_, err := Open(ctx, "//"+address+"/lake", Options{})
		cancel()
		if err == nil || errors.Is(err, sinks.ErrMissing) || time.Since(began) > formattest.Patience {
			t.Errorf("%s: %v after %v", address, err, time.Since(began))
		}
		if host, _, _ := net.SplitHostPort(address); err != nil && !strings.Contains(err.Error(), host) {
			t.Errorf("%v does not name %s", err, host)
		}
	}
}

// A server with Kerberos answers whoever comes without as this one does (ServerRpcConnection:
// call -1, AccessDeniedException).
func TestKerberos(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	go func() {
		for {
			c, err := listener.Accept()
			if err != nil {
				return
			}
			var hello [6]byte
			_, _ = io.ReadFull(c, hello[:])
			class := "org.apache.hadoop.hbase.security.AccessDeniedException"
			e := append([]byte{0x0a, byte(len(class))}, class...)
			text := class + ": Authentication is required"
			e = append(append(e, 0x12, byte(len(text))), text...)
			header := append([]byte{0x08, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01, 0x12, byte(len(e) | 0x80), byte(len(e) >> 7)}, e...)
			header = append([]byte{byte(len(header) | 0x80), byte(len(header) >> 7)}, header...)
			_, _ = c.Write(append(binary.BigEndian.AppendUint32(nil, uint32(len(header))), header...))
			c.Close()
		}
	}()
	_, err = Open(t.Context(), "//"+listener.Addr().String()+"/lake", Options{})
	if !errors.Is(err, security.ErrRefused) || !strings.Contains(err.Error(), "Authentication is required") {
		t.Error(err)
	}
}
