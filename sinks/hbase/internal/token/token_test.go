package token

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/symlake/symlake/sinks/hbase/security"
	"google.golang.org/protobuf/encoding/protowire"
)

// samples are two tokens in both versions, as Hadoop's Credentials writes them.
func samples() (list []Token, zero, one []byte) {
	list = []Token{
		{[]byte("identifier"), bytes.Repeat([]byte("p"), 200), KindHBase, "cluster-id"},
		{[]byte{1}, []byte{2}, KindHDFS, "127.0.0.1:8020"},
	}
	text := func(b, v []byte) []byte {
		if len(v) < 128 {
			return append(append(b, byte(len(v))), v...)
		}
		return append(append(b, 0x8f, byte(len(v))), v...) // -113: one byte follows
	}
	zero = []byte("HDTS\x00\x02")
	var message []byte
	add := func(b []byte, id protowire.Number, v []byte) []byte {
		return protowire.AppendBytes(protowire.AppendTag(b, id, protowire.BytesType), v)
	}
	for _, t := range list {
		var body []byte
		zero = text(zero, []byte("alias"))
		for i, v := range [][]byte{t.Identifier, t.Password, []byte(t.Kind), []byte(t.Service)} {
			zero = text(zero, v)
			body = add(body, protowire.Number(i+1), v)
		}
		message = add(message, 1, add(add(nil, 1, []byte("alias")), 2, body))
	}
	zero = append(zero, 0) // no secret keys
	one = protowire.AppendBytes([]byte("HDTS\x01"), message)
	return list, zero, one
}

func same(a, b Token) bool {
	return bytes.Equal(a.Identifier, b.Identifier) && bytes.Equal(a.Password, b.Password) && a.Kind == b.Kind && a.Service == b.Service
}

func TestParse(t *testing.T) {
	want, zero, one := samples()
	for _, b := range [][]byte{zero, one} {
		got, err := Parse(b)
		if err != nil || !slices.EqualFunc(got, want, same) {
			t.Errorf("%v, %v", got, err)
		}
		for n := range b {
			if _, err := Parse(b[:n]); err == nil && n < len(b)-1 {
				t.Errorf("cut at %d of %d: no error", n, len(b))
			}
		}
	}
	for _, bad := range []string{"", "HDTS", "HDTS\x02", "PK\x03\x04", "HDTS\x00\xff", "HDTS\x00\x8c\x7f\xff\xff\xff", "HDTS\x01\xff\xff\xff\xff\x7f"} {
		if _, err := Parse([]byte(bad)); err == nil {
			t.Errorf("%q: no error", bad)
		}
	}
}

func TestFind(t *testing.T) {
	_, zero, _ := samples()
	path := filepath.Join(t.TempDir(), "tokens")
	if err := os.WriteFile(path, zero, 0o600); err != nil {
		t.Fatal(err)
	}
	t.Setenv(Variable, path)
	for _, c := range []struct {
		o    security.Options
		want int
	}{
		{security.Options{}, 1}, {security.Options{Mode: "simple"}, 0}, {security.Options{Keytab: "k"}, 0}, {security.Options{Keytab: "k", TokenFile: path}, 1},
	} {
		if got, err := Find(c.o, KindHBase); err != nil || len(got) != c.want {
			t.Errorf("%+v: %v, %v", c.o, got, err)
		}
	}
	if _, err := Find(security.Options{TokenFile: path + "x"}, KindHBase); !errors.Is(err, security.ErrRefused) || !strings.Contains(err.Error(), "no such file") {
		t.Error(err)
	}
}

func TestChoose(t *testing.T) {
	list := []Token{{Service: "a"}, {Service: "b"}}
	unasked := func() (string, error) { t.Error("asked"); return "", nil }
	if got, err := Choose(list[:1], unasked); err != nil || got.Service != "a" {
		t.Error(got, err)
	}
	if got, err := Choose(list, func() (string, error) { return "b", nil }); err != nil || got.Service != "b" {
		t.Error(got, err)
	}
	if _, err := Choose(list, func() (string, error) { return "c", nil }); !errors.Is(err, security.ErrRefused) {
		t.Error(err)
	}
	if _, err := Choose(list, func() (string, error) { return "", errors.New("old server") }); !errors.Is(err, errSeveral) {
		t.Error(err)
	}
}

func FuzzParse(f *testing.F) {
	_, zero, one := samples()
	f.Add(zero)
	f.Add(one)
	f.Fuzz(func(t *testing.T, b []byte) {
		list, err := Parse(b)
		size := 0
		for _, k := range list {
			size += len(k.Identifier) + len(k.Password) + len(k.Kind) + len(k.Service)
		}
		if err == nil && size > 2*len(b) {
			t.Errorf("%d bytes of tokens in %d", size, len(b))
		}
	})
}
