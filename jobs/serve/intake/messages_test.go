package intake

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"io"
	"net"
	"net/http"
	"testing"
	"time"

	"github.com/symlake/symlake/jobs/serve/fair"
)

// framed is a message behind its head.
func framed(flag byte, text string) []byte {
	return append(binary.BigEndian.AppendUint32([]byte{flag}, uint32(len(text))), text...)
}

// messagesOf is the messages of what a caller sends, with the writer that deadlines are set at.
func messagesOf(in *Intake, from io.ReadCloser) *Messages {
	return in.Messages(context.Background(), "a caller", deadlines{}, &http.Request{Body: from}, time.Minute)
}

// deadlines is a response of a server that knows no deadlines.
type deadlines struct{ http.ResponseWriter }

// piped is a body with deadlines for its reads, as net/http has them.
type piped struct{ net.Conn }

// SetReadDeadline is for http.ResponseController.
func (p piped) SetReadDeadline(at time.Time) error { return p.Conn.SetReadDeadline(at) }

func (piped) Header() http.Header { return http.Header{} }

func (piped) WriteHeader(int) {}

func TestMessages(t *testing.T) {
	limits := Limits{Bytes: 100 << 10, Time: time.Minute, Rate: 1, Window: time.Minute}
	small, large := framed(0, "small"), framed(0, string(make([]byte, 90<<10)))
	for _, c := range []struct {
		name string
		text []byte
		want error
	}{
		{"none", nil, nil},
		{"some", append(append(append([]byte{}, small...), framed(0, "")...), large...), nil},
		{"compressed", framed(1, "x"), nil},
		{"half a head", small[:3], ErrBroken},
		{"half a message", small[:8], ErrBroken},
		{"too large", framed(0, string(make([]byte, 101<<10))), ErrTooLarge},
	} {
		in := New(limits)
		m := messagesOf(in, io.NopCloser(bytes.NewReader(c.text)))
		got, err := io.ReadAll(m)
		if !errors.Is(err, c.want) || !errors.Is(m.Err(), c.want) || c.want == nil && !bytes.Equal(got, c.text) {
			t.Errorf("%s: %d bytes, %v and %v, want %v", c.name, len(got), err, m.Err(), c.want)
		}
		m.Close()
		for name, pool := range map[string]*fair.Pool{"small": in.small, "large": in.large} {
			release, err := pool.Acquire(t.Context(), "another", pool.Most())
			if err != nil {
				t.Errorf("%s: memory of the %s pool is lost: %v", c.name, name, err)
				continue
			}
			release()
		}
	}
}

// A compressed message takes memory for all that it may inflate to.
func TestHold(t *testing.T) {
	in := New(Limits{Bytes: 100 << 10, Time: time.Minute, Rate: 1, Window: time.Minute})
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	var b Body
	for range 3 { // a caller's half of the large pool is more than 8 MiB
		if err := in.Hold(t.Context(), "a", &b, true, 2<<20); err != nil {
			t.Fatal(err)
		}
	}
	if err := in.Hold(ended, "a", &b, true, 3<<20); !errors.Is(err, fair.ErrShare) {
		t.Errorf("more than a caller may have: %v", err)
	}
	b.Close()
	if err := in.Hold(t.Context(), "a", &b, true, 100<<10); err != nil {
		t.Error(err)
	}
	b.Close()
}

// Without a message the stream ends, at its time or when the server ends it. A message that stalls is too slow.
func TestMessagesWait(t *testing.T) {
	for name, c := range map[string]struct {
		sent []byte
		idle time.Duration
		want error
	}{
		"idle":  {nil, time.Millisecond, ErrIdle},
		"ended": {nil, time.Hour, ErrEnded},
		"slow":  {framed(0, "message")[:7], time.Hour, ErrSlow},
	} {
		here, there := net.Pipe()
		in := New(Limits{Bytes: 100, Time: 50 * time.Millisecond, Rate: 1, Window: time.Hour})
		m := in.Messages(t.Context(), "a", piped{here}, &http.Request{Body: here}, c.idle)
		if c.want == ErrEnded {
			m.End()
			m.End()
		}
		go there.Write(c.sent)
		if _, err := io.ReadAll(m); !errors.Is(err, c.want) {
			t.Errorf("%s: %v, want %v", name, err, c.want)
		}
		here.Close()
		there.Close()
	}
}

// End wakes a reader that waits.
func TestMessagesEnd(t *testing.T) {
	here, there := net.Pipe()
	defer there.Close()
	in := New(Limits{Bytes: 100, Time: time.Hour, Rate: 1, Window: time.Hour})
	m := in.Messages(t.Context(), "a", piped{here}, &http.Request{Body: here}, time.Hour)
	got := make(chan error, 1)
	go func() {
		_, err := io.ReadAll(m)
		got <- err
	}()
	there.Write(framed(0, "one"))
	m.End()
	if err := <-got; !errors.Is(err, ErrEnded) {
		t.Error(err)
	}
}

// Any body is read as it came or refused, and gives its memory back.
func FuzzMessages(f *testing.F) {
	f.Add(append(framed(0, "one"), framed(1, "")...))
	f.Add(framed(0, "half")[:7])
	f.Add([]byte{0, 0xff, 0xff, 0xff, 0xff, 1})
	f.Fuzz(func(t *testing.T, body []byte) {
		in := New(Limits{Bytes: 1 << 10, Time: time.Minute, Rate: 1, Window: time.Minute})
		m := messagesOf(in, io.NopCloser(bytes.NewReader(body)))
		got, err := io.ReadAll(m)
		if !bytes.HasPrefix(body, got) || err == nil && len(got) != len(body) {
			t.Fatalf("%x read as %x, %v", body, got, err)
		}
		m.Close()
		ended, cancel := context.WithCancel(t.Context())
		cancel()
		for _, pool := range []*fair.Pool{in.small, in.large} {
			if _, err := pool.Acquire(ended, "another", pool.Most()); err != nil {
				t.Fatalf("%x: memory is lost: %v", body, err)
			}
		}
	})
}
