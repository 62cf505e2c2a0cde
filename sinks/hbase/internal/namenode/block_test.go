package namenode

import (
	"bytes"
	"io"
	"net"
	"testing"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/symlake/symlake/sinks/hbase/internal/sasl"
)

// The token of an operation is found behind its headers.
func TestBlockToken(t *testing.T) {
	wrap := func(num protowire.Number, b []byte) []byte {
		return protowire.AppendBytes(protowire.AppendTag(nil, num, protowire.BytesType), b)
	}
	token := append(append(wrap(1, []byte("who")), wrap(2, []byte("secret"))...), wrap(3, []byte("BLOCK"))...)
	message := wrap(1, wrap(1, append(wrap(1, []byte("block")), wrap(2, token)...)))
	op := protowire.AppendBytes([]byte{0, 28, 80}, message)
	got, err := BlockToken(op)
	if err != nil || string(got.Identifier) != "who" || string(got.Password) != "secret" || got.Kind != "BLOCK" {
		t.Errorf("%+v %v", got, err)
	}
	if _, err := BlockToken(op[:len(op)-1]); err == nil {
		t.Error("a cut operation passes")
	}
}

// FuzzProtect: whatever a DataNode says in a login, it ends.
func FuzzProtect(f *testing.F) {
	say := func(list ...[]byte) (b []byte) {
		for _, v := range list {
			b = appendTransfer(b, v, true)
		}
		return b
	}
	f.Add(say([]byte(`realm="0",nonce="n",qop="auth-conf,auth-int,auth",charset=utf-8,algorithm=md5-sess,cipher="3des,rc4"`), []byte("rspauth=0")))
	f.Add([]byte{2, 8, 1})
	f.Fuzz(func(t *testing.T, b []byte) {
		ours, theirs := net.Pipe()
		go func() {
			defer theirs.Close()
			go io.Copy(io.Discard, theirs)
			theirs.Write(b)
		}()
		defer ours.Close()
		m := sasl.NewDigest([]byte("who"), []byte("secret"), sasl.Authentication).For("hdfs/0")
		if _, err := Protect(ours, m); err == nil {
			t.Errorf("%x passes without a proof", b)
		}
		if _, err := BlockToken(b); err == nil && len(bytes.TrimLeft(b, "\x00")) == 0 && len(b) < 3 {
			t.Error("no operation passes")
		}
	})
}
