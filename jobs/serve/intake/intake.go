// Package intake reads the bodies of requests: plain, gzip or zstd, within bounds on size, time, rate and memory.
//
// All bodies that a server holds share two pools of memory. Pieces of up to 64 KiB come from the small pool, which
// tricklers can fill half of at most; longer bodies come from the large one. A caller gets half of each.
package intake

import (
	"context"
	"errors"
	"io"
	"net/http"
	"os"
	"strings"
	"time"

	"github.com/symlake/symlake/jobs/serve/fair"
)

// The reasons why a body was not read; others are fair's.
var (
	ErrEncoding = errors.New("want Content-Encoding gzip, zstd or none")
	ErrTooLarge = errors.New("the body is too large")
	ErrRatio    = errors.New("the body inflates to more than 256 times its size")
	ErrWindow   = errors.New("the zstd body wants a window of more than 8 MiB")
	ErrSlow     = errors.New("the body comes too slowly")
	ErrBroken   = errors.New("the body breaks off, or is not encoded as it says")
)

const (
	smallBytes = 64 << 10 // of one body that comes from the small pool
	smallPool  = 8 << 20
	maxWindow  = 8 << 20 // of a zstd frame
	maxRatio   = 256     // inflated bytes to one sent byte
	freeRatio  = 1 << 20 // inflated bytes that no ratio is asked of
)

// Limits of one body.
type Limits struct {
	Bytes  int64         // inflated
	Time   time.Duration // until all of it must have come
	Rate   int64         // bytes a second that must come at least, counted over Window
	Window time.Duration
}

// Intake reads bodies. Safe for concurrent use.
type Intake struct {
	limits       Limits
	small, large *fair.Pool
}

// New makes an intake.
func New(l Limits) *Intake {
	large := 2 * (l.Bytes + maxWindow)
	return &Intake{limits: l, small: fair.New(smallPool, smallPool/2), large: fair.New(large, large/2)}
}

// Body is what a caller sent, inflated.
type Body struct {
	Text    []byte
	release []func()
}

// Close gives the body's memory back. Text must not be used afterwards.
func (b *Body) Close() {
	b.Text = nil
	for _, release := range b.release {
		release()
	}
	b.release = nil
}

// hold takes memory from a pool until Close.
func (b *Body) hold(ctx context.Context, from *fair.Pool, caller string, n int64) error {
	release, err := from.Acquire(ctx, caller, n)
	if err == nil {
		b.release = append(b.release, release)
	}
	return err
}

// Probe reports whether a small body of a new caller would be read now.
func (in *Intake) Probe(ctx context.Context, caller string) error {
	release, err := in.small.Acquire(ctx, caller, smallBytes)
	if err == nil {
		release()
	}
	return err
}

// Read reads a request's body whole. The caller's name decides about its share of memory. Waiting for memory ends with
// ctx; reading ends with the limits. The body is the caller's to close unless there is an error.
func (in *Intake) Read(ctx context.Context, caller string, w http.ResponseWriter, r *http.Request) (*Body, error) {
	encoding := strings.ToLower(strings.TrimSpace(r.Header.Get("Content-Encoding")))
	if len(r.Header.Values("Content-Encoding")) > 1 {
		return nil, ErrEncoding
	}
	plain := encoding == "" || encoding == "identity"
	if !plain && encoding != "gzip" && encoding != "x-gzip" && encoding != "zstd" {
		return nil, ErrEncoding
	}
	if r.ContentLength > in.limits.Bytes {
		return nil, ErrTooLarge
	}
	body := &Body{}
	if err := in.read(ctx, caller, body, w, r, encoding); err != nil {
		body.Close()
		return nil, err
	}
	return body, nil
}

// read reads a body, "" and identity being no encoding.
func (in *Intake) read(ctx context.Context, caller string, b *Body, w http.ResponseWriter, r *http.Request, encoding string) error {
	plain := encoding == "" || encoding == "identity"
	size := r.ContentLength
	if !plain {
		size = -1
	}
	pool, n := in.small, int64(smallBytes)
	if size >= 0 {
		n = size
	}
	if n > smallBytes {
		pool = in.large
	}
	if err := b.hold(ctx, pool, caller, n); err != nil {
		return err
	}
	sent := in.paced(w, r.Body)
	sent.whole = r.ContentLength == 0
	defer sent.end()
	if plain {
		return in.all(ctx, caller, b, sent, sent, size)
	}
	from, err := in.inflate(ctx, caller, b, encoding, sent)
	if err != nil {
		return err
	}
	defer from.Close()
	return in.all(ctx, caller, b, from, sent, size)
}

// all reads the text of a body, as sent or inflated. size is -1 if the header does not say it. A text that may
// exceed the small pool goes on in the large pool.
func (in *Intake) all(ctx context.Context, caller string, b *Body, from io.Reader, sent *paced, size int64) error {
	room := size
	if size < 0 {
		room = 4 << 10
	}
	text := make([]byte, 0, room)
	large := size > smallBytes || len(b.release) > 1
	for {
		if len(text) == cap(text) {
			if int64(len(text)) == size {
				break
			}
			if int64(len(text)) >= in.limits.Bytes {
				if err := ended(from); err != nil {
					return err
				}
				break
			}
			if cap(text) >= smallBytes && !large {
				if err := b.hold(ctx, in.large, caller, in.limits.Bytes*3/2); err != nil {
					return err
				}
				sent.anew()
				large = true
			}
			next := make([]byte, len(text), min(2*int64(cap(text))+1, in.limits.Bytes))
			copy(next, text)
			text = next
		}
		n, err := from.Read(text[len(text):cap(text)])
		text = text[:len(text)+n]
		if err == io.EOF {
			break
		}
		if err != nil {
			return reason(err)
		}
	}
	if size >= 0 && int64(len(text)) < size {
		return ErrBroken
	}
	b.Text = text
	return nil
}

// ended makes sure that nothing follows a text that is as long as one may be.
func ended(from io.Reader) error {
	var one [1]byte
	switch n, err := io.ReadFull(from, one[:]); {
	case n > 0:
		return ErrTooLarge
	case err != io.EOF:
		return reason(err)
	}
	return nil
}

// reason is the error of a reader in this package's words.
func reason(err error) error {
	for _, known := range []error{ErrSlow, ErrRatio, ErrWindow, ErrTooLarge} {
		if errors.Is(err, known) {
			return known
		}
	}
	return ErrBroken
}

// paced is a body that must come at a rate.
type paced struct {
	from   io.Reader
	set    func(time.Time) error
	window time.Duration
	piece  int64 // bytes that must come within window
	left   int64 // of the piece at hand
	last   time.Time
	sent   int64
	whole  bool // nothing is left to come
}

// paced bounds the time that a body takes.
func (in *Intake) paced(w http.ResponseWriter, from io.Reader) *paced {
	l := &in.limits
	return &paced{from: from, set: http.NewResponseController(w).SetReadDeadline, window: min(l.Window, l.Time),
		piece: max(int64(l.Window.Seconds()*float64(l.Rate)), 1), last: time.Now().Add(l.Time)}
}

// Read reads some of the body. The connection's deadline moves on when a piece has come.
func (p *paced) Read(to []byte) (int, error) {
	if p.left <= 0 {
		deadline := time.Now().Add(p.window)
		if deadline.After(p.last) {
			deadline = p.last
		}
		if err := p.set(deadline); err != nil && !errors.Is(err, http.ErrNotSupported) {
			return 0, err
		}
		p.left = p.piece
	}
	n, err := p.from.Read(to)
	p.left -= int64(n)
	p.sent += int64(n)
	p.whole = p.whole || err == io.EOF
	if errors.Is(err, os.ErrDeadlineExceeded) {
		err = ErrSlow
	}
	return n, err
}

// anew begins a new window: the wait before it was not the sender's.
func (p *paced) anew() { p.left = 0 }

// end lifts the deadline of a whole body: the connection is watched for its end while the answer is made. The rest of
// another body, which net/http reads behind the error's back, has a last window.
func (p *paced) end() {
	if p.whole {
		p.set(time.Time{})
		return
	}
	p.set(time.Now().Add(p.window))
}
