package outlet

import (
	"bytes"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"
)

// served answers one request by f, and gives the response.
func served(t *testing.T, f func(w http.ResponseWriter)) *http.Response {
	t.Helper()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { f(w) }))
	t.Cleanup(s.Close)
	res, err := http.Get(s.URL)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { res.Body.Close() })
	return res
}

func options(limit int64) Options {
	return Options{Limit: limit, Window: time.Minute, Last: time.Hour, Park: func() func() error { return func() error { return nil } }}
}

// An answer of a few bytes has a length. An answer that does not fit takes nothing of the write that was too much; what fails
// later ends with its text and the trailer.
func TestAnswer(t *testing.T) {
	res := served(t, func(w http.ResponseWriter) {
		a := New(w, "text/plain", options(10))
		a.Write([]byte("short"))
		if _, err := a.Write([]byte("too long")); !errors.Is(err, ErrLimit) || a.Begun() {
			t.Errorf("%v, begun %v", err, a.Begun())
		}
		b := New(w, "text/plain", options(10))
		b.Write([]byte("short"))
		if err := b.Finish(); err != nil {
			t.Error(err)
		}
	})
	if text, err := io.ReadAll(res.Body); err != nil || string(text) != "short" || res.ContentLength != 5 {
		t.Errorf("%q of %d bytes, %v", text, res.ContentLength, err)
	}
	const most = 3*pieceBytes + 100
	line := strings.Repeat("x", 999) + "\n"
	res = served(t, func(w http.ResponseWriter) {
		a := New(w, "text/plain", options(most))
		var err error
		for err == nil {
			_, err = a.Write([]byte(line))
		}
		if !errors.Is(err, ErrLimit) || !a.Begun() || !a.Ended() {
			t.Errorf("%v, begun %v, at a line %v", err, a.Begun(), a.Ended())
		}
		a.Fail([]byte("error: why\n"), errors.New("why"))
	})
	text, err := io.ReadAll(res.Body)
	if err != nil || string(text) != strings.Repeat(line, most/len(line))+"error: why\n" || res.Trailer.Get(Trailer) != "why" {
		t.Errorf("%d bytes, %v, trailer %v", len(text), err, res.Trailer)
	}
}

// An answer takes, after its sender lost its turn, what it was given, and ends with its text and the trailer; one that was whole
// by then is sent.
func TestLostTurn(t *testing.T) {
	lost := errors.New("no turn")
	o := options(1 << 30)
	o.Park = func() func() error { return func() error { return lost } }
	text := strings.Repeat("x", pieceBytes+10)
	res := served(t, func(w http.ResponseWriter) {
		a := New(w, "text/plain", o)
		if n, err := a.Write([]byte(text)); n != len(text) || err != nil {
			t.Errorf("%d bytes, %v", n, err)
		}
		if _, err := a.Write([]byte("more")); err != lost {
			t.Error(err)
		}
		a.Fail([]byte("error: why\n"), errors.New("why"))
	})
	if got, err := io.ReadAll(res.Body); err != nil || string(got) != text+"error: why\n" || res.Trailer.Get(Trailer) != "why" {
		t.Errorf("%d bytes, %v, trailer %v", len(got), err, res.Trailer)
	}
	res = served(t, func(w http.ResponseWriter) {
		a := New(w, "text/plain", o)
		a.Write([]byte(text))
		if err := a.Finish(); err != nil {
			t.Error(err)
		}
	})
	if got, err := io.ReadAll(res.Body); err != nil || string(got) != text || res.Trailer.Get(Trailer) != "" {
		t.Errorf("%d bytes, %v, trailer %v", len(got), err, res.Trailer)
	}
}

// A reader that takes nothing is given up; meanwhile the answer is parked.
func TestSlowReader(t *testing.T) {
	said := make(chan error)
	parked := false
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		o := options(1 << 30)
		o.Window = 20 * time.Millisecond
		o.Park = func() func() error { parked = true; return func() error { parked = false; return nil } }
		a := New(w, "text/plain", o)
		piece := bytes.Repeat([]byte("x"), pieceBytes)
		var err error
		for err == nil {
			_, err = a.Write(piece)
		}
		said <- err
	}))
	t.Cleanup(s.Close)
	c, err := net.Dial("tcp", strings.TrimPrefix(s.URL, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	io.WriteString(c, "GET / HTTP/1.1\r\nHost: x\r\n\r\n")
	if err := <-said; !errors.Is(err, ErrSlow) || parked {
		t.Errorf("%v, parked %v", err, parked)
	}
}
