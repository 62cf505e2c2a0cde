package client

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"io"
	"net"
	"testing"
	"time"
)

// frame is an answer to call 1 as a server would send it.
func frame(m message, cells []byte) []byte {
	header := message(nil).number(1, 1)
	if cells != nil {
		header = header.bytes(3, message(nil).number(1, uint64(len(cells))))
	}
	b := append(delimited(delimited(nil, header), m), cells...)
	return append(binary.BigEndian.AppendUint32(nil, uint32(len(b))), b...)
}

func failure1(class, trace string) []byte {
	e := message(nil).text(1, packagePrefix+class).text(2, trace).text(3, "host").number(4, 1234).flag(5, true)
	b := delimited(nil, message(nil).number(1, 1).bytes(2, e))
	return append(binary.BigEndian.AppendUint32(nil, uint32(len(b))), b...)
}

// FuzzAnswers has a client ask a server that answers anything: every call ends, none panics, and
// a malformed answer is an error.
func FuzzAnswers(f *testing.F) {
	cell := appendCell(nil, &Cell{Row: []byte("row"), Family: []byte("b"), Qualifier: []byte("v"), Value: []byte("value"), Timestamp: 1, Type: typePut})
	f.Add(frame(message(nil).number(1, 1).flag(3, false), cell))
	f.Add(frame(message(nil).bytes(1, []byte{1, 1}).number(2, 77).flag(8, false).flag(3, true), append(bytes.Clone(cell), cell...)))
	f.Add(frame(message(nil).bytes(1, message(nil).bytes(1, message(nil).number(1, 0).bytes(2, message(nil).number(2, 1)))), cell))
	f.Add(frame(message(nil).bytes(1, message(nil).bytes(1, message(nil).number(1, 0).bytes(3, message(nil).text(1, "java.io.IOException").text(2, "x\nCaused by: y")))), nil))
	f.Add(frame(message(nil).bytes(1, message(nil).bytes(2, message(nil).text(1, "localhost").number(2, 16020))), nil))
	f.Add(frame(message(nil).bytes(1, message(nil).flag(3, true)).bytes(1, message(nil).bytes(1, message(nil).number(1, 0)).flag(3, false)), nil))
	f.Add(failure1("exceptions.RegionMovedException", "org.apache.hadoop.hbase.exceptions.RegionMovedException: moved\n\tat x"))
	f.Add(failure1("UnknownScannerException", ""))
	f.Add([]byte{21, 3, 3, 0, 2, 2, 70})
	f.Fuzz(func(t *testing.T, data []byte) {
		c := New(Options{Servers: []string{"x:1"}, Patience: 4 * time.Millisecond, Attempt: 2 * time.Millisecond,
			Dial: func(context.Context, string) (net.Conn, error) {
				return &scripted{in: bytes.NewReader(data), closed: make(chan struct{})}, nil
			}})
		defer c.Close()
		tb := Table{"ns", "t"}
		c.cache(tb).Put(&Region{Name: []byte("ns:t,,1.x."), Encoded: "x", Server: "x:1"})
		ctx := t.Context()
		_ = c.Scan(ctx, tb, Column{"b", "v"}, Span{}, ScanOptions{}, func(Cell) error { return io.EOF })
		answers := 0
		if err := c.First(ctx, tb, Column{"b", "v"}, []Span{{}, {From: []byte("a"), Stop: []byte("b")}}, func(int, Cell, error) { answers++ }); err != nil || answers != 2 {
			t.Fatalf("%d answers, %v", answers, err)
		}
		_, _ = c.GetAll(ctx, tb, Column{"b", "v"}, [][]byte{[]byte("a")})
		checks := []*Check{{Row: []byte("a"), Value: []byte("v")}, {Row: []byte("b"), Old: []byte("o"), Value: []byte("v")}}
		c.CheckAndPutAll(ctx, tb, Column{"b", "v"}, checks, false)
		_, _ = c.Describe(ctx, tb)
	})
}

// scripted is a connection with the same answer to all requests.
type scripted struct {
	in     *bytes.Reader
	closed chan struct{}
}

func (s *scripted) Read(p []byte) (int, error)       { return s.in.Read(p) }
func (s *scripted) Write(p []byte) (int, error)      { return len(p), nil }
func (s *scripted) Close() error                     { return nil }
func (s *scripted) LocalAddr() net.Addr              { return nil }
func (s *scripted) RemoteAddr() net.Addr             { return nil }
func (s *scripted) SetDeadline(time.Time) error      { return nil }
func (s *scripted) SetReadDeadline(time.Time) error  { return nil }
func (s *scripted) SetWriteDeadline(time.Time) error { return nil }

// FuzzParts reads the parts of answers: cells, rows of hbase:meta, nodes of ZooKeeper.
func FuzzParts(f *testing.F) {
	f.Add(appendCell(nil, &Cell{Row: []byte("row"), Family: []byte("b"), Qualifier: []byte("v"), Value: []byte("value"), Timestamp: 1, Type: typePut}))
	info := message(nil).number(1, 7).bytes(2, Table{"ns", "t"}.message()).bytes(3, []byte("a")).bytes(4, []byte("b"))
	f.Add([]byte(info))
	f.Add(append([]byte{0xff, 0, 0, 0, 1, 'x', 'P', 'B', 'U', 'F'}, message(nil).bytes(1, message(nil).text(1, "host").number(2, 16000))...))
	f.Fuzz(func(t *testing.T, data []byte) {
		for rest := data; len(rest) > 0; {
			c, next, err := nextCell(rest)
			if err != nil {
				if !errors.Is(err, errMalformed) {
					t.Fatal(err)
				}
				break
			}
			again := appendCell(nil, &c)
			if d, _, err := nextCell(again); err != nil || !bytes.Equal(d.Row, c.Row) || !bytes.Equal(d.Value, c.Value) || d.Timestamp != c.Timestamp {
				t.Fatalf("%v becomes %v: %v", c, d, err)
			}
			rest = next
		}
		row := []Cell{{Row: []byte("ns:t,a,7.0123.x"), Qualifier: []byte("regioninfo"), Value: append([]byte("PBUF"), data...)}, {Qualifier: []byte("server"), Value: []byte("h:1")}}
		if m := metaRow(Table{"ns", "t"}, row); m.region != nil && m.err != nil {
			t.Fatal(m)
		}
		_, _ = zkServer(data)
		_, _ = readScan(answer{message: data, cells: data})
	})
}
