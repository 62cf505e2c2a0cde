package hbase

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/symlake/symlake/formats/formattest"
	"github.com/symlake/symlake/formats/symbol"
	"github.com/symlake/symlake/sinks"
	"github.com/symlake/symlake/sinks/hbase/hbasetest"
	"github.com/symlake/symlake/sinks/hbase/internal/client"
	"github.com/symlake/symlake/sinks/kek"
	"github.com/symlake/symlake/sinks/lookup"
	"github.com/symlake/symlake/sinks/row"
)

// reader opens a library for reading, as a new process would.
func (l *library) reader(t *testing.T) *sinks.Store {
	t.Helper()
	s, err := Open(t.Context(), l.rest, Options{ReadOnly: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

// answers asks for every row once, and returns the errors by the region of the row's key: 8 of them.
func (l *library) answers(t *testing.T, s *sinks.Store) (errs [8]error) {
	t.Helper()
	spans := make([]sinks.Span, len(l.all))
	for i, r := range l.all {
		spans[i] = sinks.Exactly(r.Key)
	}
	if err := s.Blocks.First(t.Context(), spans, func(i int, r sinks.Row, err error) {
		switch {
		case err != nil:
			errs[l.all[i].Key[0]>>5] = err
		case !bytes.Equal(r.Key, l.all[i].Key):
			t.Errorf("row %x: %x", l.all[i].Key, r.Key)
		}
	}); err != nil {
		t.Fatal(err)
	}
	return errs
}

// A row of hbase:meta that is garbled or gone costs the answers of its region, in every process, and is named.
func TestMetaDamaged(t *testing.T) {
	server := hbasetest.Shared(t)
	l := newLibrary(t, server, 100, 5, 200)
	list := l.regions(t)
	open := l.reader(t) // with all regions in its memory
	l.answers(t, open)
	server.Garble(t, list[1], []byte("PBUF\xff\xff\xff"))
	server.Garble(t, list[4], []byte("no region"))
	server.Forget(t, list[0])
	server.Forget(t, list[7])
	began := time.Now()
	for i, err := range l.answers(t, l.reader(t)) {
		switch i {
		case 0, 1, 4, 7:
			want := fmt.Sprintf("row %q", list[i].Name)
			if i == 0 { // a row that is missing has no name
				want = "the first one of table " + l.table.String()
			}
			if i == 7 {
				want = fmt.Sprintf("the region of row %q ends at e000", list[6].Name)
			}
			if !errors.Is(err, sinks.ErrCorrupt) || !strings.Contains(err.Error(), want) {
				t.Errorf("region %d: %v, want %s", i, err, want)
			}
		default:
			if err != nil {
				t.Errorf("region %d: %v", i, err)
			}
		}
	}
	if took := time.Since(began); took > formattest.Soon {
		t.Errorf("the damage is told after %v", took)
	}
	for i, err := range l.answers(t, open) {
		if err != nil {
			t.Errorf("region %d, known before: %v", i, err)
		}
	}
}

// Tables that are disabled, dropped or given a TTL are told at once, by open stores and new ones.
func TestTableTrouble(t *testing.T) {
	server := hbasetest.Shared(t)
	l := newLibrary(t, server, 20, 5, 200)
	open := l.reader(t)
	l.answers(t, open)
	all := func(what string, s *sinks.Store, want error, text string) {
		t.Helper()
		began := time.Now()
		for i, err := range l.answers(t, s) {
			if err != nil && (want != nil && !errors.Is(err, want) || !strings.Contains(err.Error(), text)) || err == nil && i == 0 {
				t.Errorf("%s: region %d: %v", what, i, err)
			}
		}
		if took := time.Since(began); took > formattest.Soon {
			t.Errorf("%s: told after %v", what, took)
		}
	}
	server.SetTTL(t, l.table.Namespace, "blocks", "b", "864000")
	if _, err := Open(t.Context(), l.rest, Options{ReadOnly: true}); !errors.Is(err, sinks.ErrUnfit) || !strings.Contains(err.Error(), "with TTL 864000") {
		t.Errorf("with a TTL: %v", err)
	}
	if err := l.read(t.Context(), open); err != nil {
		t.Errorf("a store that was open when the TTL came: %v", err)
	}
	server.SetTTL(t, l.table.Namespace, "blocks", "b", forever)
	other := l.reader(t)
	server.DisableTable(t, l.table.Namespace, "blocks")
	all("disabled", open, client.ErrDisabled, "enable '"+l.table.String()+"'")
	all("disabled before it was opened", l.reader(t), client.ErrDisabled, "disabled")
	if err := l.c.DeleteTable(t.Context(), l.table); err != nil {
		t.Fatal(err)
	}
	all("dropped", other, sinks.ErrLost, l.table.String())
}

// What listens at a port and is no HBase is named, and a server that is dead or silent is told, within 5 s.
func TestStrangers(t *testing.T) {
	listen := func(say string) string {
		ln, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { ln.Close() })
		go func() {
			for {
				c, err := ln.Accept()
				if err != nil {
					return
				}
				defer c.Close()
				if say != "" {
					_, _ = c.Write([]byte(say))
				}
			}
		}()
		return ln.Addr().String()
	}
	var wg sync.WaitGroup
	for _, x := range []struct {
		what, address, want string
		zooKeeper           bool
	}{
		{"HTTP", listen("HTTP/1.1 400 Bad Request\r\n\r\n"), "it speaks HTTP", false},
		{"SSH", listen("SSH-2.0-OpenSSH_9.6\r\n"), "it speaks SSH", false},
		{"Redis", listen("-ERR unknown command\r\n"), "it speaks Redis", false},
		{"TLS", listen("\x15\x03\x03\x00\x02\x02\x46"), "demands TLS", false},
		{"another", listen("\xfe\xedFACE and more"), `begins with "\xfe\xedFACE`, false},
		{"ZooKeeper", hbasetest.Shared(t).ZooKeeper, "it is ZooKeeper: write hbase+zk://", false},
		{"silence", listen(""), "no answer within", false},
		{"nobody", "127.0.0.1:1", "connection refused", false},
		{"HTTP for ZooKeeper", listen("HTTP/1.1 400 Bad Request\r\n\r\n"), "it speaks HTTP", true},
		{"nobody for ZooKeeper", "127.0.0.1:1", "connection refused", true},
	} {
		wg.Go(func() {
			began := time.Now()
			_, err := Open(t.Context(), "//"+x.address+"/lake", Options{ReadOnly: true, ZooKeeper: x.zooKeeper})
			took := time.Since(began)
			if err == nil || !strings.Contains(err.Error(), x.want) || !strings.Contains(err.Error(), x.address) || took > formattest.Soon {
				t.Errorf("%s: %v after %v, want %q and %s", x.what, err, took, x.want, x.address)
			}
			t.Logf("%s, %v: %v", x.what, took.Round(time.Millisecond), err)
		})
	}
	wg.Wait()
}

// far is a connection that delays its answers.
type far struct {
	net.Conn
	delay time.Duration
	late  chan late
	rest  []byte
}

// late are bytes that may be read from a time on.
type late struct {
	b   []byte
	at  time.Time
	err error
}

func newFar(c net.Conn, delay time.Duration) *far {
	f := &far{Conn: c, delay: delay, late: make(chan late, 1000)}
	go func() {
		for {
			b := make([]byte, 64<<10)
			n, err := c.Read(b)
			f.late <- late{b[:n], time.Now().Add(delay), err}
			if err != nil {
				return
			}
		}
	}()
	return f
}

func (f *far) Read(p []byte) (int, error) {
	if len(f.rest) == 0 {
		l := <-f.late
		<-time.After(time.Until(l.at))
		if len(l.b) == 0 {
			return 0, l.err
		}
		f.rest = l.b
	}
	n := copy(p, f.rest)
	f.rest = f.rest[n:]
	return n, nil
}

// A cold look-up waits for four round trips: the registry, hbase:meta, the catalog and the blocks. In a big table it asks
// hbase:meta once more for the regions of the artifact.
func TestRoundTrips(t *testing.T) {
	server := hbasetest.Shared(t)
	for regions, trips := range map[int]time.Duration{8: 4, 100: 5} {
		rest := "//" + server.Master + "/" + namespace() + "?regions=" + strconv.Itoa(regions)
		if err := Create(t.Context(), rest, Options{}); err != nil {
			t.Fatal(err)
		}
		s, err := Open(t.Context(), rest, Options{})
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close()
		keys := kek.Ephemeral()
		ring, err := row.CreateKeyring(t.Context(), s.Catalog, keys)
		if err != nil {
			t.Fatal(err)
		}
		a := publish(t, s, ring, "cafe01", rowFunctions)
		const delay = 250 * time.Millisecond
		for started := time.Now(); ; {
			o, err := parse(rest, false)
			if err != nil {
				t.Fatal(err)
			}
			o.client.Dial = func(ctx context.Context, address string) (net.Conn, error) {
				var d net.Dialer
				c, err := d.DialContext(ctx, "tcp", address)
				if err != nil {
					return nil, err
				}
				return newFar(c, delay), nil
			}
			cold := newStore(o, true, WriteOptions{})
			began := time.Now()
			opened, err := cold.open(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			answer := lookup.New(opened, keys, lookup.Options{}).Lookup(t.Context(), lookup.Query{Artifact: a.ID})
			took := time.Since(began)
			opened.Close()
			if answer.Status != symbol.Found {
				t.Fatal(answer.Status, answer.Err)
			}
			if took < (trips+1)*delay {
				t.Logf("%d regions: %v", regions, took)
				break
			}
			if time.Since(started) > formattest.Soon { // a busy machine may take long
				t.Errorf("%d regions: %v, which is %d round trips", regions, took, took/delay)
				break
			}
		}
	}
}
