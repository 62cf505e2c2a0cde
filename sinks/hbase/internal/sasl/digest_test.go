package sasl

import (
	"bytes"
	"crypto/md5"
	"errors"
	"slices"
	"strings"
	"testing"
)

// The example of RFC 2831, section 4.
func TestDigestExample(t *testing.T) {
	d := &Digest{user: "chris", password: "secret", uri: "imap/elwood.innosoft.com", cnonce: "OA6MHXh6VqTrRk", least: Authentication}
	if first, done, err := d.Step(nil); first == nil || len(first) > 0 || done || err != nil {
		t.Fatal(first, done, err)
	}
	out, done, err := d.Step([]byte(`realm="elwood.innosoft.com",nonce="OA6MG9tEQGm2hh",qop="auth",algorithm=md5-sess,charset=utf-8`))
	if err != nil || done || !strings.Contains(string(out), "response=d388dad90d4bbd760a152321f2143af7,") {
		t.Fatalf("%s, %v, %v", out, done, err)
	}
	if out, done, err := d.Step([]byte("rspauth=ea40f60335c427b5527b84dbabcdfffd")); err != nil || !done || out != nil || d.Layer() != Authentication {
		t.Fatal(out, done, err, d.Layer())
	}
	if _, _, err := d.Step(nil); err == nil {
		t.Error("a step behind the end")
	}
}

// theirs is the server's side of a stream.
func theirs(t *testing.T, a1 []byte, cipher string, layer Layer) *Digest {
	t.Helper()
	s := &Digest{layer: layer}
	var err, other error
	s.send, err = newDigestWay(a1, cipher, "server-to-client", layer, true)
	s.take, other = newDigestWay(a1, cipher, "client-to-server", layer, false)
	if err != nil || other != nil {
		t.Fatal(err, other)
	}
	return s
}

func ours(t *testing.T, a1 []byte, cipher string, layer Layer) *Digest {
	t.Helper()
	d := &Digest{layer: layer}
	var err, other error
	d.send, err = newDigestWay(a1, cipher, "client-to-server", layer, true)
	d.take, other = newDigestWay(a1, cipher, "server-to-client", layer, false)
	if err != nil || other != nil {
		t.Fatal(err, other)
	}
	return d
}

func TestDigestStream(t *testing.T) {
	a1 := md5.Sum([]byte("x"))
	for _, c := range []struct {
		cipher string
		layer  Layer
	}{{"", Integrity}, {"3des", Privacy}, {"rc4", Privacy}} {
		one, two := ours(t, a1[:], c.cipher, c.layer), theirs(t, a1[:], c.cipher, c.layer)
		for n := range 40 {
			text := bytes.Repeat([]byte("abc"), n)
			token, err := one.Wrap([]byte("head"), text[:n], text[n:])
			if err != nil {
				t.Fatal(err)
			}
			token = token[4:]
			if c.layer == Privacy && n > 4 && bytes.Contains(token, []byte("abcabc")) {
				t.Errorf("%s: the text is in the clear", c.cipher)
			}
			if len(token)-len(text) > digestOverhead {
				t.Errorf("%d bytes more than the text", len(token)-len(text))
			}
			again := slices.Clone(token)
			got, err := two.Unwrap(token)
			if err != nil || !bytes.Equal(got, text) {
				t.Fatalf("%s %d: %q, %v", c.cipher, n, got, err)
			}
			if _, err := two.Unwrap(again); !errors.Is(err, ErrTampered) {
				t.Errorf("a token twice: %v", err)
			}
			back, err := two.Wrap(nil, text)
			if err != nil {
				t.Fatal(err)
			}
			if got, err := one.Unwrap(back); err != nil || !bytes.Equal(got, text) {
				t.Fatalf("back: %q, %v", got, err)
			}
		}
		for at := range 40 {
			one, two := ours(t, a1[:], c.cipher, c.layer), theirs(t, a1[:], c.cipher, c.layer)
			token, err := one.Wrap(nil, []byte("twenty-two bytes of text"))
			if err != nil {
				t.Fatal(err)
			}
			token[at] ^= 4
			if got, err := two.Unwrap(token); !errors.Is(err, ErrTampered) {
				t.Errorf("%s: byte %d changed: %q, %v", c.cipher, at, got, err)
			}
			if got, err := theirs(t, a1[:], c.cipher, c.layer).Unwrap(token[:at]); !errors.Is(err, ErrTampered) {
				t.Errorf("%s: cut at %d: %q, %v", c.cipher, at, got, err)
			}
		}
	}
}

func TestDigestRefuses(t *testing.T) {
	const good = `realm="default",nonce="n",algorithm=md5-sess`
	for _, c := range []struct {
		least     Layer
		challenge string
		want      error
	}{
		{Integrity, good + `,qop="auth"`, ErrProtection},
		{Privacy, good + `,qop="auth-int,auth"`, ErrProtection},
		{Privacy, good + `,qop="auth-conf",cipher="rc4-40,des"`, ErrProtection},
		{Authentication, good + `,qop="none"`, ErrProtection},
		{Authentication, `realm="default",algorithm=md5-sess`, ErrServer},
		{Authentication, `realm="default",nonce="n"`, ErrServer},
		{Authentication, `nonce="n",algorithm=md5`, ErrServer},
		{Authentication, good + `,nonce="m"`, ErrServer},
		{Authentication, good + `,maxbuf=99999999999`, ErrServer},
		{Authentication, good + `,a="b`, ErrServer},
		{Authentication, good + `,a="b"c`, ErrServer},
		{Authentication, good + strings.Repeat(",a=b", 4000), ErrServer},
		{Authentication, "", ErrServer},
	} {
		d := NewDigest([]byte("id"), []byte("password"), c.least)
		if _, _, err := d.Step(nil); err != nil {
			t.Fatal(err)
		}
		if out, _, err := d.Step([]byte(c.challenge)); !errors.Is(err, c.want) || out != nil {
			t.Errorf("%.80s: %v, want %v", c.challenge, err, c.want)
		}
	}
	for _, answer := range []string{"rspauth=ea40f60335c427b5527b84dbabcdfffd", "rspauth=", "", "other=1", `"`} {
		d := NewDigest([]byte("id"), []byte("password"), Authentication)
		_, _, _ = d.Step(nil)
		if _, _, err := d.Step([]byte(good + `,qop="auth,auth-int,auth-conf",cipher="3des,rc4"`)); err != nil || d.Layer() != Privacy {
			t.Fatal(err, d.Layer())
		}
		if _, done, err := d.Step([]byte(answer)); !errors.Is(err, ErrServer) || done {
			t.Errorf("the proof %q: %v", answer, err)
		}
	}
}

func FuzzChallenge(f *testing.F) {
	f.Add([]byte(`realm="default",nonce="OA6MG9tEQGm2hh",qop="auth,auth-int,auth-conf",charset=utf-8,cipher="3des,rc4",maxbuf=65536,algorithm=md5-sess`))
	f.Add([]byte(`nonce="\"\\",algorithm=md5-sess , ,qop=auth`))
	f.Add([]byte("rspauth=ea40f60335c427b5527b84dbabcdfffd"))
	f.Fuzz(func(t *testing.T, b []byte) {
		list, err := directives(b)
		if err != nil {
			return
		}
		var text []string
		for _, d := range list {
			text = append(text, d.name+"="+quote(d.value))
		}
		again, err := directives([]byte(strings.Join(text, ",")))
		if joined := strings.Join(text, ","); len(joined) <= maxChallenge && (err != nil || !slices.Equal(list, again)) {
			t.Errorf("%q, %v, want %q", again, err, list)
		}
		d := NewDigest([]byte("id"), []byte("password"), Authentication)
		_, _, _ = d.Step(nil)
		if out, _, err := d.Step(b); err == nil && (len(out) == 0 || d.Layer() == 0) {
			t.Errorf("%q at layer %v", out, d.Layer())
		}
	})
}
