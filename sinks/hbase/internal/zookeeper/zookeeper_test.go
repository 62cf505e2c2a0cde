package zookeeper

import (
	"bytes"
	"net"
	"strings"
	"testing"
	"time"
)

// scripted is a connection with the same answer to all requests.
type scripted struct {
	net.Conn
	in *bytes.Reader
}

func (s scripted) Read(p []byte) (int, error)  { return s.in.Read(p) }
func (s scripted) Write(p []byte) (int, error) { return len(p), nil }
func (s scripted) Close() error                { return nil }
func (s scripted) SetDeadline(time.Time) error { return nil }

func read(t testing.TB, answer []byte) ([]byte, error) {
	t.Helper()
	return Read(t.Context(), scripted{in: bytes.NewReader(answer)}, "/node")
}

func TestRead(t *testing.T) {
	opened := "\x00\x00\x00\x02ok"
	node := func(code string, rest string) []byte {
		body := "\x00\x00\x00\x01" + "12345678" + code + rest
		return []byte(opened + "\x00\x00\x00" + string(rune(len(body))) + body)
	}
	if b, err := read(t, node("\x00\x00\x00\x00", "\x00\x00\x00\x03abc")); err != nil || string(b) != "abc" {
		t.Errorf("%q, %v", b, err)
	}
	for answer, want := range map[string]string{
		string(node("\xff\xff\xff\x9b", "")):                    "no such node",
		string(node("\xff\xff\xff\x9a", "")):                    "error -102",
		string(node("\x00\x00\x00\x00", "\x00\x00\x00\x09abc")): "malformed",
		"HTTP/1.1 400 Bad Request":                              "it speaks HTTP",
		opened + "\x7f\x00\x00\x00":                             "this is no ZooKeeper",
		opened:                                                  "EOF",
	} {
		if _, err := read(t, []byte(answer)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", answer, err, want)
		}
	}
}

// FuzzRead has a server that answers anything: no answer takes more memory than it has bytes.
func FuzzRead(f *testing.F) {
	f.Add([]byte("\x00\x00\x00\x02ok\x00\x00\x00\x10aaaabbbbcccc\x00\x00\x00\x00"))
	f.Fuzz(func(t *testing.T, answer []byte) {
		if b, err := read(t, answer); err == nil && len(b) > len(answer) {
			t.Fatalf("%d bytes of %d", len(b), len(answer))
		}
	})
}
