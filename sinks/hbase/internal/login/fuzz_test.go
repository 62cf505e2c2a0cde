package login

import (
	"bytes"
	"context"
	"io"
	"net"
	"testing"
	"time"

	"github.com/symlake/symlake/formats/formattest"
	"github.com/symlake/symlake/sinks/hbase/internal/login/logintest"
)

// FuzzAnswer reads a server's answers of the handshake.
func FuzzAnswer(f *testing.F) {
	for _, s := range []string{"\x00\x00\x00\x00\x00\x00\x00\x02ab", "\x00\x00\x00\x00\xff\xff\xff\xa8", "\x00\x00\x00\x01\x00\x00\x00\x01c\xff\xff\xff\xff", "HTTP"} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		r := bytes.NewReader(b)
		for {
			token, _, err := answer(r)
			if len(token) > len(b) && err == nil {
				t.Fatalf("%d bytes of %d", len(token), len(b))
			}
			if err != nil {
				return
			}
		}
	})
}

// FuzzHandshake plays a server that goes a few steps in truth and then says something else. The client must end in
// time and say no more than the handshake.
func FuzzHandshake(f *testing.F) {
	realm := logintest.NewRealm(f, 18)
	o := realm.Options(f, 24*time.Hour)
	for step := range byte(4) {
		f.Add(step, []byte("\x00\x00\x00\x00\x00\x00\x00\x02ab"))
		f.Add(step, []byte{0, 0, 0, 20, 5, 4, 7, 0xff, 0, 12, 0, 0, 0, 0, 0, 0, 0, 0, 0x10, 0x93, 1, 2, 3, 4})
	}
	l := New(o)
	f.Fuzz(func(t *testing.T, step byte, b []byte) {
		ours, theirs := net.Pipe()
		defer theirs.Close()
		var got bytes.Buffer
		done := make(chan struct{})
		go func() {
			defer close(done)
			defer theirs.Close()
			p := realm.Peer(theirs, func(b []byte) { got.Write(b) })
			var err error
			switch step % 4 {
			case 0:
				if _, err = p.Preamble(); err == nil {
					_, err = p.Token()
				}
			case 1, 2:
				var token []byte
				if _, err = p.Preamble(); err == nil {
					token, err = p.Token()
				}
				if err == nil {
					token, err = p.Accept(token, logintest.Reply{})
				}
				if err == nil && step%4 == 2 {
					if err = p.Answer(0, token); err == nil {
						_, err = p.Token()
					}
				}
			case 3:
				_, err = p.Handshake(logintest.Reply{Subkey: true}, 7, 1<<16)
			}
			if err == nil {
				_, _ = theirs.Write(b)
			}
		}()
		ctx, cancel := context.WithTimeout(context.Background(), formattest.Patience)
		defer cancel()
		s, err := l.Connect(ctx, ours, "localhost:1", "somebody-in-the-clear")
		if ctx.Err() != nil {
			t.Fatal("the handshake hangs")
		}
		if err == nil {
			_, _ = io.Copy(io.Discard, s)
			s.Close()
		}
		<-done
		if bytes.Contains(got.Bytes(), []byte("somebody-in-the-clear")) {
			t.Fatal("the client goes on in the clear")
		}
	})
}
