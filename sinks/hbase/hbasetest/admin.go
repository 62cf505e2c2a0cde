package hbasetest

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/symlake/symlake/sinks/hbase/internal/login"
	"github.com/symlake/symlake/sinks/hbase/security"
)

// What tests do to regions, with a few RPCs of their own: the client under test has no use for them.

// Region names a region: its whole name and its end key, as hbase:meta has them.
type Region struct{ Name, End []byte }

// Split parts a region at a row, and waits until it is done.
func (s *Server) Split(t testing.TB, r Region, at []byte) {
	t.Helper()
	info, err := r.info()
	if err != nil {
		t.Fatal(err)
	}
	s.procedure(t, "SplitRegion", field(field(nil, 1, info), 2, at), 3)
}

// Merge makes one region of several neighbors.
func (s *Server) Merge(t testing.TB, list ...Region) {
	t.Helper()
	var q []byte
	for _, r := range list {
		q = field(q, 1, encodedSpecifier(r))
	}
	s.procedure(t, "MergeTableRegions", number(q, 2, 1), 3)
}

// DropTable disables a table and deletes it, as an operator would.
func (s *Server) DropTable(t testing.TB, namespace, name string) {
	t.Helper()
	table := field(nil, 1, field(field(nil, 1, []byte(namespace)), 2, []byte(name)))
	s.procedure(t, "DisableTable", table, 2)
	s.procedure(t, "DeleteTable", table, 2)
}

// DisableTable disables a table, as an operator would.
func (s *Server) DisableTable(t testing.TB, namespace, name string) {
	t.Helper()
	s.procedure(t, "DisableTable", field(nil, 1, tableName(namespace, name)), 2)
}

// SetTTL gives a family of a table another time to live, in seconds, and the defaults of HBase else.
func (s *Server) SetTTL(t testing.TB, namespace, name, family, ttl string) {
	t.Helper()
	column := field(field(nil, 1, []byte(family)), 2, field(field(nil, 1, []byte("TTL")), 2, []byte(ttl)))
	s.procedure(t, "ModifyColumn", field(field(nil, 1, tableName(namespace, name)), 2, column), 3)
}

func tableName(namespace, name string) []byte {
	return field(field(nil, 1, []byte(namespace)), 2, []byte(name))
}

// Garble puts other bytes in place of a region's info:regioninfo in hbase:meta.
func (s *Server) Garble(t testing.TB, r Region, info []byte) {
	t.Helper()
	value := field(field(nil, 1, []byte("regioninfo")), 2, info)
	mutation := field(number(field(nil, 1, r.Name), 2, 2), 3, field(field(nil, 1, []byte("info")), 2, value))
	q := field(field(nil, 1, field(number(nil, 1, 1), 2, []byte("hbase:meta,,1"))), 2, mutation)
	if _, err := s.call("hbase", s.Region, "ClientService", "Mutate", q); err != nil {
		t.Fatalf("write into hbase:meta: %v", err)
	}
}

// Move has another server serve a region, and waits until it does.
func (s *Server) Move(t testing.TB, r Region) {
	t.Helper()
	if _, err := s.ask("MoveRegion", field(nil, 1, encodedSpecifier(r))); err != nil {
		t.Fatalf("MoveRegion: %v", err)
	}
}

// Forget takes a region out of hbase:meta, as a wrong repair would: HBase has lost it then.
func (s *Server) Forget(t testing.TB, r Region) {
	t.Helper()
	const deleteFamily = 2
	marker := number(field(nil, 1, nil), 4, deleteFamily)
	column := field(field(nil, 1, []byte("info")), 2, marker)
	mutation := field(number(field(nil, 1, r.Name), 2, 3), 3, column)
	q := field(field(nil, 1, field(number(nil, 1, 1), 2, []byte("hbase:meta,,1"))), 2, mutation)
	if _, err := s.call("hbase", s.Region, "ClientService", "Mutate", q); err != nil {
		t.Fatalf("delete from hbase:meta: %v", err)
	}
}

// info is the RegionInfo of a name: table,start,id.encoded.
func (r Region) info() ([]byte, error) {
	table, rest, ok := bytes.Cut(r.Name, []byte(","))
	comma := bytes.LastIndexByte(rest, ',')
	if !ok || comma < 0 {
		return nil, fmt.Errorf("region name %q", r.Name)
	}
	text, _, _ := bytes.Cut(rest[comma+1:], []byte("."))
	id, err := strconv.ParseUint(string(text), 10, 64)
	if err != nil {
		return nil, err
	}
	namespace := []byte("default")
	if ns, name, ok := bytes.Cut(table, []byte(":")); ok {
		namespace, table = ns, name
	}
	q := number(nil, 1, id)
	q = field(q, 2, field(field(nil, 1, namespace), 2, table))
	q = field(q, 3, rest[:comma])
	return number(field(q, 4, r.End), 7, 0), nil
}

func encodedSpecifier(r Region) []byte {
	name := bytes.TrimSuffix(r.Name, []byte("."))
	return field(number(nil, 1, 2), 2, name[bytes.LastIndexByte(name, '.')+1:])
}

// procedure starts something on the master and waits for its end.
func (s *Server) procedure(t testing.TB, method string, q []byte, nonces protowire.Number) {
	t.Helper()
	q = number(number(q, nonces, 1), nonces+1, uint64(time.Now().UnixNano()))
	answer, err := s.ask(method, q)
	if err != nil {
		t.Fatalf("%s: %v", method, err)
	}
	_, _, n := protowire.ConsumeTag(answer)
	id, _ := protowire.ConsumeVarint(answer[n:])
	for deadline := time.Now().Add(startPatience); ; time.Sleep(20 * time.Millisecond) {
		if answer, err = s.ask("getProcedureResult", number(nil, 1, id)); err != nil {
			t.Fatalf("%s: %v", method, err)
		}
		state, failed := uint64(0), false
		for len(answer) > 0 {
			num, kind, n := protowire.ConsumeTag(answer)
			answer = answer[n:]
			if num == 1 {
				state, _ = protowire.ConsumeVarint(answer)
			}
			failed = failed || num == 5
			answer = answer[protowire.ConsumeFieldValue(num, kind, answer):]
		}
		switch {
		case failed || time.Now().After(deadline):
			t.Fatalf("%s: state %d, failed %v", method, state, failed)
		case state == 2:
			return
		}
	}
}

// ask makes one call to the master.
func (s *Server) ask(method string, q []byte) ([]byte, error) {
	return s.call("hbase", s.Master, "MasterService", method, q)
}

// call makes one call, on a connection of its own. user is a principal of the KDC, unless the server has none or user
// is "".
func (s *Server) call(user, address, service, method string, q []byte) ([]byte, error) {
	nc, err := net.Dial("tcp", address)
	if err != nil {
		return nil, err
	}
	o := security.Options{Mode: "simple"}
	if s.KDC != nil && user != "" {
		o = security.Options{Keytab: s.KDC.Keytab(user), Config: s.KDC.Config}
	}
	c, err := login.New(o).Connect(context.Background(), nc, address, "test")
	if err != nil {
		return nil, err
	}
	defer c.Close()
	if err := c.SetDeadline(time.Now().Add(time.Minute)); err != nil {
		return nil, err
	}
	hello := field(nil, 2, []byte(service))
	if c.User != "" {
		hello = field(hello, 1, field(nil, 1, []byte(c.User)))
	}
	out := binary.BigEndian.AppendUint32(c.Hello, uint32(len(hello)))
	out = append(out, hello...)
	header := number(field(number(nil, 1, 1), 3, []byte(method)), 4, 1)
	body := protowire.AppendBytes(protowire.AppendBytes(nil, header), q)
	out = binary.BigEndian.AppendUint32(out, uint32(len(body)))
	if _, err := c.Write(append(out, body...)); err != nil {
		return nil, err
	}
	var size [4]byte
	if _, err := io.ReadFull(c, size[:]); err != nil {
		return nil, err
	}
	in := make([]byte, binary.BigEndian.Uint32(size[:]))
	if _, err := io.ReadFull(c, in); err != nil {
		return nil, err
	}
	header, n := protowire.ConsumeBytes(in)
	if n < 0 {
		return nil, protowire.ParseError(n)
	}
	for len(header) > 0 {
		num, kind, m := protowire.ConsumeTag(header)
		if num == 2 {
			return nil, fmt.Errorf("%q", header)
		}
		header = header[m+protowire.ConsumeFieldValue(num, kind, header[m:]):]
	}
	answer, m := protowire.ConsumeBytes(in[n:])
	return answer, protowire.ParseError(min(m, 0))
}

func field(b []byte, num protowire.Number, v []byte) []byte {
	return protowire.AppendBytes(protowire.AppendTag(b, num, protowire.BytesType), v)
}

func number(b []byte, num protowire.Number, v uint64) []byte {
	return protowire.AppendVarint(protowire.AppendTag(b, num, protowire.VarintType), v)
}

// Run runs one of HBase's own programs against the server, and gives what it printed.
func (s *Server) Run(t testing.TB, class string, args ...string) string {
	t.Helper()
	j := s.jvm
	j.log, j.main = filepath.Join(t.TempDir(), "log"), append([]string{class}, args...)
	p, err := j.start()
	if err != nil {
		t.Fatal(err)
	}
	<-p.Ended
	log, err := os.ReadFile(j.log)
	if err != nil {
		t.Fatal(err)
	}
	if code := p.Cmd.ProcessState.ExitCode(); code != 0 {
		t.Fatalf("%s: exit code %d\n%s", class, code, log)
	}
	return string(log)
}
