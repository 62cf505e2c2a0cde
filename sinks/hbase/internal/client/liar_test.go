package client_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/jcmturner/gokrb5/v8/messages"
	"github.com/jcmturner/gokrb5/v8/types"

	"github.com/symlake/symlake/formats/formattest"
	"github.com/symlake/symlake/sinks/hbase/internal/client"
	"github.com/symlake/symlake/sinks/hbase/internal/login/logintest"
	"github.com/symlake/symlake/sinks/hbase/security"
)

// first asks for a row that no server may see before it proved its identity.
func first(t *testing.T, address string, o security.Options) error {
	t.Helper()
	return firstWithin(t, formattest.Patience, address, o)
}

// firstWithin is first with a bound for an attempt.
func firstWithin(t *testing.T, bound time.Duration, address string, o security.Options) error {
	t.Helper()
	c := client.New(client.Options{Servers: []string{address}, User: "loader-in-the-clear", Security: o, Patience: 300 * time.Millisecond, Attempt: bound, Reach: bound})
	defer c.Close()
	table := client.Table{Namespace: "lake", Name: "blocks"}
	var found error
	err := c.First(t.Context(), table, col,
		[]client.Span{{From: []byte("secret-row"), Stop: []byte("secret-rox")}}, func(_ int, _ client.Cell, err error) { found = err })
	return errors.Join(err, found)
}

// handshake is the truth up to the layers that a server offers.
func handshake(layers byte, limit uint32) func(p *logintest.Peer) error {
	return func(p *logintest.Peer) error {
		_, err := p.Handshake(logintest.Reply{}, layers, limit)
		return err
	}
}

// accepted answers the first token by send, with the true reply at hand.
func accepted(how logintest.Reply, send func(p *logintest.Peer, reply []byte) error) func(p *logintest.Peer) error {
	return func(p *logintest.Peer) error {
		if _, err := p.Preamble(); err != nil {
			return err
		}
		token, err := p.Token()
		if err != nil {
			return err
		}
		reply, err := p.Accept(token, how)
		if err != nil {
			return err
		}
		return send(p, reply)
	}
}

// offered answers the second token by send, with the true offer at hand.
func offered(send func(p *logintest.Peer, offer []byte) error) func(p *logintest.Peer) error {
	return accepted(logintest.Reply{}, func(p *logintest.Peer, reply []byte) error {
		if err := p.Answer(0, reply); err != nil {
			return err
		}
		if _, err := p.Token(); err != nil {
			return err
		}
		return send(p, p.W.Wrap(nil, []byte{7, 0, 255, 255}))
	})
}

// raw sends bytes in place of the first answer, then hangs up if it must.
func raw(b []byte, end error) func(p *logintest.Peer) error {
	return accepted(logintest.Reply{}, func(p *logintest.Peer, _ []byte) error {
		_, err := p.Write(b)
		return errors.Join(err, end)
	})
}

// A server that lies at any step of the handshake gets nothing but the handshake, and each lie is told in one sentence.
func TestLiars(t *testing.T) {
	t.Parallel()
	realm := logintest.NewRealm(t, 18)
	u32 := func(v ...uint32) (b []byte) {
		for _, v := range v {
			b = binary.BigEndian.AppendUint32(b, v)
		}
		return b
	}
	privacy := func(o *security.Options) { o.Protection = "privacy" }
	for _, c := range []struct {
		name   string
		script func(p *logintest.Peer) error
		set    func(o *security.Options)
		want   string
		passes bool // the client may try again
	}{
		{name: "hangs up at once", script: func(*logintest.Peer) error { return logintest.ErrEnd }, want: "handshake with", passes: true},
		{name: "hangs up after the token", script: raw(nil, logintest.ErrEnd), want: "handshake with", passes: true},
		{name: "half a status", script: raw([]byte{0, 0}, logintest.ErrEnd), want: "unexpected EOF", passes: true},
		{name: "half a token", script: raw(u32(0, 100, 1), logintest.ErrEnd), want: "unexpected EOF", passes: true},
		{name: "half a reason", script: raw(u32(1, 100, 1), logintest.ErrEnd), want: "unexpected EOF", passes: true},
		{name: "clear", script: raw(u32(0, 1<<32-88), nil), want: "knows no Kerberos and wants to go on in the clear: set hbase.security: simple"},
		{name: "clear, and privacy is asked for", script: raw(u32(0, 1<<32-88), nil), set: func(o *security.Options) {
			o.AllowInsecureFallback, o.Protection = true, "privacy"
		}, want: "knows no Kerberos"},
		{name: "clear later", script: accepted(logintest.Reply{}, func(p *logintest.Peer, reply []byte) error {
			if err := p.Answer(0, reply); err != nil {
				return err
			}
			_, err := p.Write(u32(0, 1<<32-88))
			return err
		}), set: func(o *security.Options) { o.AllowInsecureFallback = true }, want: "in the clear within the handshake"},
		{name: "another protocol", script: raw([]byte("HTTP/1.1 400 Bad Request\r\n\r\n"), nil), want: "belongs to no handshake of HBase's"},
		{name: "a TLS alert", script: raw([]byte{21, 3, 1, 0, 2, 2, 80}, nil), want: "whether the server speaks TLS"},
		{name: "a token of 2^31 bytes", script: raw(u32(0, 1<<31), nil), want: "a token of 2147483648 bytes"},
		{name: "a reason of 2^31 bytes", script: raw(u32(1, 1<<31), nil), want: "a reason of 2147483648 bytes"},
		{name: "no token", script: raw(u32(0, 0), nil), want: "did not prove its identity"},
		{name: "junk for a token", script: raw(append(u32(0, 5), "junk!"...), nil), want: "did not prove its identity"},
		{name: "another's key", script: accepted(logintest.Reply{Key: func(k *types.EncryptionKey) {
			k.KeyValue = bytes.Repeat([]byte{7}, len(k.KeyValue))
		}}, func(p *logintest.Peer, reply []byte) error { return p.Answer(0, reply) }), want: "did not prove its identity"},
		{name: "another's time", script: accepted(logintest.Reply{Change: func(part *messages.EncAPRepPart) { part.Cusec ^= 1 }},
			func(p *logintest.Peer, reply []byte) error { return p.Answer(0, reply) }), want: "it answers to another request"},
		{name: "a changed reply", script: accepted(logintest.Reply{}, func(p *logintest.Peer, reply []byte) error {
			reply[len(reply)-1] ^= 1
			return p.Answer(0, reply)
		}), want: "did not prove its identity"},
		{name: "a reply that goes on", script: accepted(logintest.Reply{}, func(p *logintest.Peer, reply []byte) error {
			return p.Answer(0, append(reply, 0))
		}), want: "did not prove its identity"},
		{name: "a changed offer", script: offered(func(p *logintest.Peer, offer []byte) error {
			offer[20] ^= 1
			return p.Answer(0, offer)
		}), want: "was changed on its way"},
		{name: "an offer out of turn", script: offered(func(p *logintest.Peer, _ []byte) error {
			return p.Answer(0, p.W.Wrap(nil, []byte{7, 0, 255, 255}))
		}), want: "token number 4243 in place of number 4242"},
		{name: "a reply in place of an offer", script: accepted(logintest.Reply{}, func(p *logintest.Peer, reply []byte) error {
			return errors.Join(p.Answer(0, reply), p.Answer(0, reply))
		}), want: "no wrap token"},
		{name: "no layer", script: handshake(0, 1<<16), want: "offers none"},
		{name: "a layer of another world", script: handshake(8, 1<<16), want: "offers none"},
		{name: "less than asked for", script: handshake(3, 1<<16), set: privacy, want: "it offers authentication, integrity, and privacy is the least"},
		{name: "tokens of no size", script: handshake(4, 100), want: "nothing fits in"},
		{name: "refuses", script: accepted(logintest.Reply{}, func(p *logintest.Peer, _ []byte) error {
			return p.Refuse("javax.security.sasl.SaslException", "GSS initiate failed\n\tat a.b.C")
		}), want: "refuses the ticket of " + logintest.Client + " for " + logintest.Service},
		{name: "says that clocks differ", script: accepted(logintest.Reply{}, func(p *logintest.Peer, _ []byte) error {
			return p.Refuse("x", "Failure unspecified at GSS-API level (Mechanism level: Clock skew too great (37))")
		}), want: "set them by NTP"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			address, got := realm.Listen(t, c.script)
			o := realm.Options(t, time.Hour)
			if c.set != nil {
				c.set(&o)
			}
			began := time.Now()
			err := first(t, address, o)
			if err == nil || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "\n\t") {
				t.Errorf("%v, want %q", err, c.want)
			}
			if errors.Is(err, security.ErrRefused) == c.passes {
				t.Errorf("final: %v; want the opposite: %v", !c.passes, err)
			}
			if time.Since(began) > formattest.Soon {
				t.Errorf("told after %v", time.Since(began))
			}
			for _, secret := range []string{"Client", "secret-row", "loader-in-the-clear", "KeyValueCodec"} {
				if bytes.Contains(got(), []byte(secret)) {
					t.Errorf("the server saw %q", secret)
				}
			}
		})
	}
}

// After the handshake, a stream that somebody changes ends at once, and a server's limit holds.
func TestLiarsStream(t *testing.T) {
	t.Parallel()
	realm := logintest.NewRealm(t, 20)
	for name, c := range map[string]struct {
		layers byte
		send   func(p *logintest.Peer) error
		want   string
	}{
		"junk":     {4, func(p *logintest.Peer) error { return p.Piece([]byte("HTTP/1.1 400 Bad Request")) }, "no wrap token"},
		"too long": {4, func(p *logintest.Peer) error { _, err := p.Write([]byte{0x80, 0, 0, 0, 5, 4}); return err }, "a piece of 2147483648 bytes"},
		"in the clear": {4, func(p *logintest.Peer) error {
			p.W.Privacy = false
			return p.Piece(p.W.Wrap(nil, []byte("\x00\x00\x00\x00")))
		}, "agreed was: true"},
		"changed": {2, func(p *logintest.Peer) error {
			b := p.W.Wrap(nil, []byte("\x00\x00\x00\x00"))
			b[17] ^= 1
			return p.Piece(b)
		}, "the checksum of token"},
		"again": {4, func(p *logintest.Peer) error {
			b := p.W.Wrap(nil, nil)
			return errors.Join(p.Piece(b), p.Piece(b))
		}, "token number 4243 in place of number 4244"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			address, got := realm.Listen(t, func(p *logintest.Peer) error {
				if _, err := p.Handshake(logintest.Reply{Subkey: true}, c.layers, 1<<16); err != nil {
					return err
				}
				if _, err := p.Token(); err != nil { // the connection header
					return err
				}
				return c.send(p)
			})
			err := first(t, address, realm.Options(t, time.Hour))
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%v, want %q", err, c.want)
			}
			if c.layers == 4 && bytes.Contains(got(), []byte("ClientMetaService")) {
				t.Error("the header went out in the clear")
			}
		})
	}
}

// Each connection header arrives whole under each layer, in pieces that the server takes, and names no user.
func TestLayers(t *testing.T) {
	t.Parallel()
	for _, kind := range []int32{17, 18, 19, 20} {
		for _, layers := range []byte{1, 2, 7} {
			t.Run(fmt.Sprintf("type %d, layers %d", kind, layers), func(t *testing.T) {
				t.Parallel()
				header(t, kind, layers, kind%2 == 0)
			})
		}
	}
}

// header reads a connection header as a server with a limit of 300 bytes a token.
func header(t *testing.T, kind int32, layers byte, subkey bool) {
	text := make(chan []byte, 64)
	realm := logintest.NewRealm(t, kind)
	address, _ := realm.Listen(t, func(p *logintest.Peer) error {
		choice, err := p.Handshake(logintest.Reply{Subkey: subkey}, layers, 300)
		if err != nil {
			return err
		}
		var all []byte
		for len(all) < 4 || len(all) < 4+int(binary.BigEndian.Uint32(all)) {
			b, err := p.Token()
			if err != nil {
				return err
			}
			if choice[0] == 1 {
				all = append(binary.BigEndian.AppendUint32(nil, uint32(len(b))), b...)
				continue
			}
			if len(b) > 300 {
				return io.ErrShortBuffer
			}
			if b, err = p.W.Unwrap(b, false); err != nil {
				return err
			}
			all = append(all, b...)
		}
		text <- all
		return logintest.ErrEnd
	})
	_ = firstWithin(t, formattest.Patience, address, realm.Options(t, time.Hour)) // a busy machine derives keys for seconds
	select {
	case b := <-text:
		if !bytes.Contains(b, []byte("ClientMetaService")) || bytes.Contains(b, []byte("loader")) {
			t.Errorf("%q", b)
		}
	default:
		t.Error("no header")
	}
}

// Falling back to the clear is for clients that allow it, and shows a name then.
func TestFallback(t *testing.T) {
	t.Parallel()
	realm := logintest.NewRealm(t, 17)
	address, got := realm.Listen(t, raw([]byte{0, 0, 0, 0, 0xff, 0xff, 0xff, 0xa8}, nil))
	o := realm.Options(t, time.Hour)
	o.AllowInsecureFallback = true
	ctx, cancel := context.WithTimeout(t.Context(), formattest.Patience)
	defer cancel()
	go func() { _ = first(t, address, o); cancel() }()
	<-ctx.Done()
	if !bytes.Contains(got(), []byte("loader-in-the-clear")) {
		t.Error("no connection header arrived")
	}
}
