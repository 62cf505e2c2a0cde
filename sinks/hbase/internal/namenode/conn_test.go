package namenode

import (
	"bufio"
	"context"
	"encoding/binary"
	"errors"
	"io"
	"net"
	"strings"
	"sync"
	"testing"
	"time"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/symlake/symlake/formats/formattest"
	"github.com/symlake/symlake/sinks/hbase/internal/sasl"
	"github.com/symlake/symlake/sinks/hbase/security"
)

// script is a NameNode that does what a test says.
type script struct {
	t       *testing.T
	address string
	secure  bool // it demands a login, which fixed passes

	mu    sync.Mutex
	calls []string
	do    func(q *request, n int) (answer []byte, hangUp bool) // n counts its calls
}

func newScript(t *testing.T, do func(q *request, n int) ([]byte, bool)) *script {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	s := &script{t: t, address: l.Addr().String(), do: do}
	go func() {
		for {
			nc, err := l.Accept()
			if err != nil {
				return
			}
			go s.serve(nc)
		}
	}()
	return s
}

func (s *script) serve(nc net.Conn) {
	defer nc.Close()
	in := bufio.NewReader(nc)
	hello := make([]byte, 7)
	if _, err := io.ReadFull(in, hello); err != nil || string(hello[:4]) != "hrpc" {
		return
	}
	if s.secure && hello[6] == authNone {
		nc.Write(failure(-1, "org.apache.hadoop.security.AccessControlException", "SIMPLE authentication is not enabled.  Available:[TOKEN, KERBEROS]\n\tat a.b.c"))
		return
	}
	var m sasl.Mechanism
	if hello[6] == authSASL {
		if m = s.login(nc, in); m == nil && s.secure {
			return
		}
	}
	l := &link{nc: nc, in: in, m: m}
	for {
		frame, err := l.receiveAsServer()
		if err != nil {
			return
		}
		q, err := parseRequest(append(binary.BigEndian.AppendUint32(nil, uint32(len(frame))), frame...))
		if err != nil {
			return
		}
		if q.call == contextCall {
			continue
		}
		s.mu.Lock()
		n := len(s.calls)
		s.calls = append(s.calls, q.method)
		s.mu.Unlock()
		out, hangUp := s.do(q, n)
		if hangUp {
			return
		}
		if m != nil {
			token, _ := m.Wrap(nil, out)
			out = appendFrame(nil, okHeader(saslCall), (&saslMessage{state: saslWrap, token: token}).append(nil))
		}
		if _, err := nc.Write(out); err != nil {
			return
		}
	}
}

func (l *link) receiveAsServer() ([]byte, error) {
	frame, err := readFrame(l.in)
	if err != nil || l.m == nil {
		return frame, err
	}
	_, body, err := parts(frame)
	if err != nil {
		return nil, err
	}
	m, err := parseSASL(body)
	if err != nil {
		return nil, err
	}
	text, err := l.m.Unwrap(m.token)
	if err != nil || len(text) < 4 {
		return nil, io.ErrUnexpectedEOF
	}
	return text[4:], nil
}

func (s *script) login(nc net.Conn, in *bufio.Reader) sasl.Mechanism {
	send := func(m *saslMessage) { nc.Write(appendFrame(nil, okHeader(saslCall), m.append(nil))) }
	for {
		frame, err := readFrame(in)
		if err != nil {
			return nil
		}
		_, body, _ := parts(frame)
		m, err := parseSASL(body)
		if err != nil {
			return nil
		}
		switch {
		case m.state == saslNegotiate && !s.secure:
			send(&saslMessage{state: saslSuccess})
			return nil
		case m.state == saslNegotiate:
			send(&saslMessage{state: saslNegotiate, auths: []Auth{offer("FIXED")}})
		case m.state == saslInitiate:
			send(&saslMessage{state: saslChallenge, token: []byte("who?")})
		case string(m.token) == "me":
			send(&saslMessage{state: saslSuccess})
			return &fixed{}
		default:
			nc.Write(failure(saslCall, "javax.security.sasl.SaslException", "GSS initiate failed: Checksum failed"))
			return nil
		}
	}
}

// offer is a way to log in, as a NameNode writes it.
func offer(method string) Auth {
	return Auth{Method: method, plain: protowire.AppendString(protowire.AppendTag(nil, 1, protowire.BytesType), method)}
}

// fixed is a mechanism that turns each byte around.
type fixed struct {
	sasl.Mechanism
	step int
	word string
}

func (f *fixed) Layer() sasl.Layer { return sasl.Privacy }
func (f *fixed) Limit() int        { return 1 << 16 }

func (f *fixed) Step(c []byte) ([]byte, bool, error) {
	if f.step++; f.step == 1 {
		return []byte{}, false, nil
	}
	if string(c) != "who?" {
		return nil, false, errors.New("no such question")
	}
	return []byte(f.word), true, nil
}

func (f *fixed) Wrap(dst []byte, parts ...[]byte) ([]byte, error) {
	for _, p := range parts {
		for _, b := range p {
			dst = append(dst, ^b)
		}
	}
	return dst, nil
}

func (f *fixed) Unwrap(b []byte) ([]byte, error) { return f.Wrap(nil, b) }

func okHeader(call int32) []byte {
	b := protowire.AppendVarint(protowire.AppendTag(nil, 1, protowire.VarintType), uint64(uint32(call)))
	return protowire.AppendVarint(protowire.AppendTag(b, 2, protowire.VarintType), 0)
}

func failure(call int32, class, text string) []byte {
	b := protowire.AppendVarint(protowire.AppendTag(nil, 1, protowire.VarintType), uint64(uint32(call)))
	b = protowire.AppendVarint(protowire.AppendTag(b, 2, protowire.VarintType), 1)
	b = protowire.AppendString(protowire.AppendTag(b, 4, protowire.BytesType), class)
	b = protowire.AppendString(protowire.AppendTag(b, 5, protowire.BytesType), text)
	out := binary.BigEndian.AppendUint32(nil, 0)
	out = protowire.AppendBytes(out, b)
	binary.BigEndian.PutUint32(out, uint32(len(out)-4))
	return out
}

func yes(q *request, _ int) ([]byte, bool) {
	return appendFrame(nil, okHeader(q.call), []byte("yes")), false
}

func standby(q *request, _ int) ([]byte, bool) {
	return failure(q.call, "org.apache.hadoop.ipc.StandbyException", "not active"), false
}

func open(t *testing.T, o Options) *Conn {
	o.Root = "hdfs://lake"
	c := New(t.Context(), o)
	t.Cleanup(func() { c.Close() })
	return c
}

// A standby is passed over. When the active NameNode dies within a call, the other one gets the same call.
func TestFailover(t *testing.T) {
	var first, second *script
	var mu sync.Mutex
	dead := false
	var numbers []int32
	first = newScript(t, func(q *request, n int) ([]byte, bool) {
		mu.Lock()
		defer mu.Unlock()
		numbers = append(numbers, q.call)
		if dead = dead || n == 2; dead {
			return nil, true
		}
		return yes(q, n)
	})
	second = newScript(t, func(q *request, n int) ([]byte, bool) {
		mu.Lock()
		defer mu.Unlock()
		if !dead {
			return standby(q, n)
		}
		if numbers = append(numbers, q.call); n < 4 {
			return failure(q.call, "org.apache.hadoop.ipc.RetriableException", "NameNode still not started"), false
		}
		return yes(q, n)
	})
	var notices []string
	c := open(t, Options{Addresses: []string{second.address, first.address}, User: "loader", Notice: func(s string) { notices = append(notices, s) }})
	for range 3 {
		if b, err := c.Call("create", nil); err != nil || string(b) != "yes" {
			t.Fatalf("%q %v", b, err)
		}
	}
	last := numbers[2:]
	for _, n := range last {
		if n != last[0] {
			t.Errorf("numbers of one call: %v", last)
		}
	}
	if len(last) < 3 {
		t.Errorf("the call was made %d times", len(last))
	}
}

// A file's next block waits for the report of the one before, at the same NameNode.
func TestNotYet(t *testing.T) {
	s := newScript(t, func(q *request, n int) ([]byte, bool) {
		if n < 3 {
			return failure(q.call, "org.apache.hadoop.hdfs.server.namenode.NotReplicatedYetException", "Not replicated yet: /a"), false
		}
		return yes(q, n)
	})
	other := newScript(t, standby)
	c := open(t, Options{Addresses: []string{s.address, other.address}, User: "loader"})
	if b, err := c.Call("addBlock", nil); err != nil || string(b) != "yes" {
		t.Errorf("%q %v", b, err)
	}
	if len(other.calls) > 0 {
		t.Errorf("the other NameNode was asked: %v", other.calls)
	}
}

// What no NameNode does in time ends in one sentence that names each with its reason.
func TestPatience(t *testing.T) {
	s := newScript(t, standby)
	c := open(t, Options{Addresses: []string{s.address, "127.0.0.1:1"}, User: "loader", First: 300 * time.Millisecond})
	_, err := c.Call("mkdirs", nil)
	if err == nil || !strings.Contains(err.Error(), "hdfs://lake") || !strings.Contains(err.Error(), "stands by") || !strings.Contains(err.Error(), "127.0.0.1:1: ") {
		t.Errorf("%v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	c = New(ctx, Options{Addresses: []string{s.address}})
	time.AfterFunc(50*time.Millisecond, cancel)
	if _, err := c.Call("mkdirs", nil); !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
}

// Logins: the mechanism runs, and what follows is protected; each refusal is one sentence, at once.
func TestLogin(t *testing.T) {
	secure, plain := newScript(t, yes), newScript(t, yes)
	secure.secure = true
	login := func(word string) func(context.Context, string, []Auth) (Identity, error) {
		return func(_ context.Context, _ string, offer []Auth) (Identity, error) {
			return Identity{Method: offer[0].Method, Mechanism: &fixed{word: word}, User: "me"}, nil
		}
	}
	for _, c := range []struct {
		name string
		o    Options
		want string // of the error; "": none
	}{
		{"secure", Options{Addresses: []string{secure.address}, Login: login("me")}, ""},
		{"no credentials", Options{Addresses: []string{secure.address}, User: "x"}, "demands Kerberos"},
		{"another key", Options{Addresses: []string{secure.address}, Login: login("you")}, "another key than the KDC"},
		{"no security", Options{Addresses: []string{plain.address}, Login: login("me")}, "in the clear"},
		{"fallback", Options{Addresses: []string{plain.address}, Login: login("me"), Fallback: true}, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			began := time.Now()
			conn := open(t, c.o)
			b, err := conn.Call("mkdirs", nil)
			if c.want == "" {
				if err != nil || string(b) != "yes" {
					t.Errorf("%q %v", b, err)
				}
				if conn.Proven() != (c.name == "secure") {
					t.Errorf("proven: %v", conn.Proven())
				}
				return
			}
			if !errors.Is(err, security.ErrRefused) || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "\n") {
				t.Errorf("%v", err)
			}
			if time.Since(began) > formattest.Soon {
				t.Errorf("told after %v", time.Since(began))
			}
		})
	}
}

// A client's frames: the greeting is Conn's own, leases are renewed now and then, an error leaves the Conn usable.
func TestClient(t *testing.T) {
	s := newScript(t, func(q *request, n int) ([]byte, bool) {
		if q.method == "delete" {
			return failure(q.call, "java.io.FileNotFoundException", "no such file"), false
		}
		return yes(q, n)
	})
	c := open(t, Options{Addresses: []string{s.address}, User: "loader"})
	id := []byte("0123456789abcdef")
	for _, b := range [][]byte{{'h', 'r', 'p', 'c', 9, 0, 0}, greeting(id, clientProtocol, "x")} {
		if _, err := c.Write(b); err != nil {
			t.Fatal(err)
		}
	}
	for i, method := range []string{"renewLease", "delete", "renewLease", "create"} {
		q := appendFrame(nil, requestHeader(int32(i+1), id), methodHeader(clientProtocol, method), nil)
		if _, err := c.Write(q); err != nil {
			t.Fatal(err)
		}
		frame, err := readFrame(c)
		if err != nil {
			t.Fatal(err)
		}
		if a, err := parseAnswer(frame); err != nil || a.call != int32(i+1) || a.failed != (method == "delete") {
			t.Errorf("%s: %+v %v", method, a, err)
		}
	}
	if got := strings.Join(s.calls, " "); got != "renewLease delete create" {
		t.Errorf("calls: %s", got)
	}
	if _, err := c.Read(make([]byte, 1)); err != io.EOF {
		t.Errorf("a read without a request: %v", err)
	}
}
