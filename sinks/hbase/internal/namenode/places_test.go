package namenode

import (
	"net"
	"slices"
	"strconv"
	"testing"

	"google.golang.org/protobuf/encoding/protowire"
)

func text(b []byte, num protowire.Number, s string) []byte {
	return protowire.AppendString(protowire.AppendTag(b, num, protowire.BytesType), s)
}

func nested(b []byte, num protowire.Number, m []byte) []byte {
	return protowire.AppendBytes(protowire.AppendTag(b, num, protowire.BytesType), m)
}

func number(b []byte, num protowire.Number, v uint64) []byte {
	return protowire.AppendVarint(protowire.AppendTag(b, num, protowire.VarintType), v)
}

// node is a DataNode on a port.
func node(port string) []byte {
	n, _ := strconv.ParseUint(port, 10, 16)
	return nested(nil, 1, number(text(text(nil, 1, "127.0.0.1"), 2, "localhost"), 4, n))
}

// A block goes to DataNodes that answer. The NameNode gets the block back with the names of the dead ones. A client that saw no
// DataNode fail asks once.
func TestAvoidDead(t *testing.T) {
	var ports []string
	for range 3 {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		defer l.Close()
		_, port, _ := net.SplitHostPort(l.Addr().String())
		if ports = append(ports, port); len(ports) < 3 {
			l.Close() // the first two are dead
		}
	}
	s := newScript(t, func(q *request, n int) ([]byte, bool) {
		var avoid []string
		var file, writer, block string
		var id uint64
		err := fields(q.param(), func(num protowire.Number, v uint64, b []byte) {
			switch {
			case q.method == "addBlock" && num == 4:
				avoid = append(avoid, string(b))
			case num == 1 && q.method == "addBlock", num == 2 && q.method == "abandonBlock":
				file = string(b)
			case num == 2 && q.method == "addBlock", num == 3:
				writer = string(b)
			case num == 1:
				block = string(b)
			case v > 0:
				id = v
			}
		})
		if err != nil || file != "/a" || writer != "me" || id != 77 {
			t.Errorf("%s of %q by %q, %d: %v", q.method, file, writer, id, err)
		}
		if q.method == "abandonBlock" {
			if block != "block "+strconv.Itoa(n-1) {
				t.Errorf("%q is given back by call %d", block, n)
			}
			return yes(q, n)
		}
		located := text(nil, 1, "block "+strconv.Itoa(n))
		left := 2 // each has two copies
		for _, port := range ports {
			if left > 0 && !slices.Contains(avoid, string(node(port))) {
				located = nested(located, 3, node(port))
				left--
			}
		}
		return appendFrame(nil, okHeader(q.call), nested(nil, 1, located)), false
	})
	for _, hostnames := range []bool{false, true} {
		c := open(t, Options{Addresses: []string{s.address}, User: "loader", Hostnames: hostnames})
		id := []byte("0123456789abcdef")
		ask := func(call int32) []place {
			t.Helper()
			param := number(text(text(nil, 1, "/a"), 2, "me"), 5, 77)
			if _, err := c.Write(appendFrame(nil, requestHeader(call, id), methodHeader(clientProtocol, "addBlock"), param)); err != nil {
				t.Fatal(err)
			}
			frame, err := readFrame(c)
			if err != nil {
				t.Fatal(err)
			}
			a, err := parseAnswer(frame)
			if err != nil || a.call != call {
				t.Fatalf("%+v %v", a, err)
			}
			_, list, err := c.places(a.body)
			if err != nil {
				t.Fatal(err)
			}
			return list
		}
		for _, b := range [][]byte{{'h', 'r', 'p', 'c', 9, 0, 0}, greeting(id, clientProtocol, "x")} {
			if _, err := c.Write(b); err != nil {
				t.Fatal(err)
			}
		}
		s.calls = nil
		if list := ask(1); len(list) != 2 || len(s.calls) != 1 {
			t.Errorf("%d places after %q", len(list), s.calls)
		}
		c.AvoidDead()
		s.calls = nil
		list := ask(2)
		host := map[bool]string{false: "127.0.0.1", true: "localhost"}[hostnames]
		if len(list) != 1 || list[0].address != net.JoinHostPort(host, ports[2]) {
			t.Errorf("places %v", list)
		}
		if want := []string{"addBlock", "abandonBlock", "addBlock"}; !slices.Equal(s.calls, want) {
			t.Errorf("calls %q, want %q", s.calls, want)
		}
	}
}
