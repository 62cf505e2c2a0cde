// Package outlet sends answers piece by piece, within a bound on their bytes.
//
// Up to 64 KiB wait in memory. An answer that ends or fails before that is sent with its length, or not at all, so that
// an error still gets a status of its own. A longer one is streamed; if it fails, its sender ends it with an error in the
// answer's own form, and the trailer Symlake-Error says so too.
package outlet

import (
	"errors"
	"net/http"
	"strconv"
	"time"
)

// ErrLimit ends an answer that would be larger than it may be.
var ErrLimit = errors.New("the answer is larger than the server's --answer-limit: ask for less at once")

// ErrSlow ends an answer if its reader does not keep up.
var ErrSlow = errors.New("the reader of the answer is too slow")

// Trailer is the HTTP trailer that says why a streamed answer ended early.
const Trailer = "Symlake-Error"

// pieceBytes are sent at once.
const pieceBytes = 64 << 10

// Options of an answer.
type Options struct {
	Limit  int64         // bytes of it
	Window time.Duration // in which the reader takes a piece
	Last   time.Duration // in which the reader takes all of it, counted from the first piece on
	Head   bool          // the caller asked for headers alone
	Note   string        // name of a header or trailer that Annotate sets; "": there is none
	// Park is called before the connection is waited for, and what it returns afterwards; that one's error ends the answer.
	Park func() (resume func() error)
}

// Answer is an answer on its way. One goroutine.
type Answer struct {
	o    Options
	w    http.ResponseWriter
	kind string
	buf  []byte
	size int64
	end  byte // the last one of it
	last time.Time
	err  error
	note string // see Annotate
	lost error  // what resume said: the sender has its turn no more
	gone bool   // the reader does not take the answer
}

// New makes an answer with a Content-Type.
func New(w http.ResponseWriter, kind string, o Options) *Answer {
	return &Answer{o: o, w: w, kind: kind}
}

// Begun reports whether something was sent: the status is 200 then.
func (a *Answer) Begun() bool { return !a.last.IsZero() }

// Ended reports whether the answer stands at the beginning of a line.
func (a *Answer) Ended() bool { return a.size == 0 || a.end == '\n' }

// Write takes all of p or nothing: ErrLimit says that it does not fit. An error stays. When the sender lost its turn
// under way, p is taken, and the next Write has the error.
func (a *Answer) Write(p []byte) (int, error) {
	switch {
	case a.err != nil:
		return 0, a.err
	case a.lost != nil:
		return 0, a.lost
	case int64(len(p)) > a.o.Limit-a.size:
		a.err = ErrLimit
		return 0, a.err
	case len(p) == 0:
		return 0, nil
	}
	return len(p), a.take(p)
}

// take sends whole pieces. It returns the error of the connection.
func (a *Answer) take(p []byte) error {
	a.size += int64(len(p))
	a.end = p[len(p)-1]
	for len(p) > 0 {
		n := min(pieceBytes-len(a.buf), len(p))
		a.buf = append(a.buf, p[:n]...)
		if p = p[n:]; len(a.buf) == pieceBytes {
			if a.err = a.send(); a.err != nil {
				return a.err
			}
		}
	}
	return nil
}

// send sends what waits.
func (a *Answer) send() error {
	now := time.Now()
	if !a.Begun() {
		a.last = now.Add(a.o.Last)
		a.headers()
		names := Trailer
		if a.o.Note != "" {
			names += ", " + a.o.Note
		}
		a.w.Header().Set("Trailer", names)
		a.w.WriteHeader(http.StatusOK)
	}
	if a.o.Head {
		a.buf = a.buf[:0]
		return nil
	}
	resume := a.o.Park()
	deadline := now.Add(a.o.Window)
	if deadline.After(a.last) {
		deadline = a.last
	}
	if err := http.NewResponseController(a.w).SetWriteDeadline(deadline); err != nil && !errors.Is(err, http.ErrNotSupported) {
		a.gone = true
		return errors.Join(err, resume())
	}
	_, err := a.w.Write(a.buf)
	a.buf = a.buf[:0]
	if err != nil {
		a.gone = true
		err = ErrSlow
	}
	if lost := resume(); a.lost == nil {
		a.lost = lost
	}
	return err
}

// leave parks the sender for good.
func (a *Answer) leave() {
	a.o.Park()
	a.o.Park = func() (resume func() error) { return func() error { return nil } }
}

func (a *Answer) headers() {
	h := a.w.Header()
	h.Set("Content-Type", a.kind)
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Cache-Control", "no-store")
}

// Annotate sets the note that goes with the answer: as a header if nothing was sent when it ends, else as a trailer. It
// is a line of ASCII.
func (a *Answer) Annotate(note string) { a.note = note }

// Finish sends the rest, and parks the sender for good.
func (a *Answer) Finish() error {
	if a.err != nil {
		return a.err
	}
	a.leave()
	if a.note != "" {
		a.w.Header().Set(a.o.Note, a.note)
	}
	if !a.Begun() {
		a.last = time.Now().Add(a.o.Last)
		a.headers()
		a.w.Header().Set("Content-Length", strconv.FormatInt(a.size, 10))
		a.w.WriteHeader(http.StatusOK)
	}
	if len(a.buf) > 0 {
		a.err = a.send()
	}
	return a.err
}

// Fail ends an answer under way with text, above the limit too, and with the trailer. It parks its sender for good. If
// the reader is gone, the answer stays cut.
func (a *Answer) Fail(text []byte, why error) {
	if a.gone {
		return
	}
	a.err = nil
	a.leave()
	if len(text) > 0 && a.take(text) != nil {
		return
	}
	a.w.Header().Set(Trailer, why.Error())
	if a.Finish() == nil {
		a.err = why
	}
}
