package debuginfod

import (
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/symlake/symlake/sinks/bucket"
)

const (
	// patience is how long a server may take to begin its answer, and to go on with it: it may have to unpack a
	// large archive first.
	patience = 90 * time.Second
	// maxPause bounds what a server may ask for with Retry-After.
	maxPause = 30 * time.Second
	// maxReason bounds the text of a refusal that is shown.
	maxReason = 200
)

func newClient() *http.Client {
	t := http.DefaultTransport.(*http.Transport).Clone()
	t.DialContext = (&net.Dialer{Timeout: 10 * time.Second, KeepAlive: 30 * time.Second}).DialContext
	t.ResponseHeaderTimeout = patience
	t.DisableCompression = true
	return &http.Client{Transport: t, CheckRedirect: func(r *http.Request, via []*http.Request) error {
		if len(via) >= 10 {
			return errors.New("more than 10 redirects")
		}
		if via[0].URL.Scheme == "https" && r.URL.Scheme != "https" {
			return fmt.Errorf("the server leads from https to %s", r.URL.Scheme)
		}
		return nil
	}}
}

// refusal is an answer that is no file.
type refusal struct {
	status string
	text   string
	again  bool // it may be another the next time
	after  time.Duration
}

func (r *refusal) Error() string {
	if r.text == "" {
		return r.status
	}
	return r.status + ": " + r.text
}

// cut is an answer that ended early.
type cut struct{ error }

func (c *cut) Unwrap() error { return c.error }

// again tries f until it succeeds, or fails in a way that no repetition mends. It waits between attempts.
func (b *Bucket) again(ctx context.Context, op, key string, f func(ctx context.Context) error) error {
	for attempt := 0; ; attempt++ {
		err := f(ctx)
		var no *refusal
		refused := errors.As(err, &no)
		switch {
		case err == nil, errors.Is(err, bucket.ErrChanged), errors.Is(err, bucket.ErrNotFound), ctx.Err() != nil, refused && !no.again, attempt == len(b.pauses):
			return b.explain(op, key, err)
		}
		var network net.Error
		var short *cut
		if !refused && !errors.As(err, &network) && !errors.As(err, &short) {
			return b.explain(op, key, err)
		}
		pause := b.pauses[attempt]
		if refused {
			pause = max(pause, no.after)
		}
		select {
		case <-time.After(pause):
		case <-ctx.Done():
			return b.explain(op, key, ctx.Err())
		}
	}
}

func (b *Bucket) explain(op, key string, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%s: %s %s: %w", b.word, op, b.URL(key), err)
}

// escape makes a key a part of a URL.
func escape(key string) string { return (&url.URL{Path: key}).EscapedPath() }

// reply is a file that the server is sending. size is -1 if it is not known.
type reply struct {
	entry bucket.Entry
	body  io.Reader
	from  int64 // where in the file body begins
	close func()
}

// get asks for a file, and for its bytes from off on: a server that knows no ranges sends it from its beginning. The
// error is bucket.ErrNotFound for a build that the server does not have.
func (b *Bucket) get(ctx context.Context, key string, off int64) (*reply, error) {
	ctx, cancel := context.WithCancelCause(ctx)
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, b.server+escape(key), nil)
	if err != nil {
		cancel(nil)
		return nil, err
	}
	r.Header.Set("User-Agent", "symlake")
	r.Header.Set("Accept-Encoding", "identity")
	if off > 0 {
		r.Header.Set("Range", fmt.Sprintf("bytes=%d-", off))
	}
	res, err := b.client.Do(r)
	if err != nil {
		cancel(nil)
		return nil, err
	}
	watch := time.AfterFunc(patience, func() { cancel(errStalled) })
	rep := &reply{close: func() {
		watch.Stop()
		res.Body.Close()
		cancel(nil)
	}}
	raw := &watched{r: res.Body, reset: func() { watch.Reset(patience) }, ctx: ctx}
	if err := rep.begin(res, raw, key, b.file); err != nil {
		rep.close()
		return nil, err
	}
	return rep, nil
}

var errStalled = fmt.Errorf("the server sent nothing for %v", patience)

// watched reads a body, and ends a read that waits too long.
type watched struct {
	r     io.Reader
	reset func()
	ctx   context.Context
}

func (w *watched) Read(p []byte) (int, error) {
	n, err := w.r.Read(p)
	if n > 0 {
		w.reset()
	}
	if err != nil && err != io.EOF {
		if cause := context.Cause(w.ctx); cause != nil {
			err = cause
		}
		err = &cut{err}
	}
	return n, err
}

// marking marks what breaks off: the next answer may be whole.
type marking struct{ r io.Reader }

func (m marking) Read(p []byte) (int, error) {
	n, err := m.r.Read(p)
	if err != nil && err != io.EOF {
		err = &cut{err}
	}
	return n, err
}

// begin reads the header of an answer.
func (r *reply) begin(res *http.Response, raw io.Reader, key string, file func(string) string) error {
	switch {
	case res.StatusCode == http.StatusNotFound, res.StatusCode == http.StatusGone:
		return bucket.ErrNotFound
	case res.StatusCode == http.StatusPartialContent:
		var last int64
		if _, err := fmt.Sscanf(res.Header.Get("Content-Range"), "bytes %d-%d/", &r.from, &last); err != nil || r.from < 0 {
			return fmt.Errorf("the server sends the range %q", res.Header.Get("Content-Range"))
		}
	case res.StatusCode != http.StatusOK:
		text, _ := io.ReadAll(io.LimitReader(raw, maxReason))
		no := &refusal{status: res.Status, text: strings.TrimSpace(strings.ToValidUTF8(string(text), "?"))}
		no.again = res.StatusCode >= 500 || res.StatusCode == http.StatusTooManyRequests || res.StatusCode == http.StatusRequestTimeout
		if seconds, err := strconv.Atoi(res.Header.Get("Retry-After")); err == nil && seconds > 0 {
			no.after = min(time.Duration(min(seconds, 3600))*time.Second, maxPause)
		}
		return no
	}
	length := res.ContentLength
	switch coding := strings.ToLower(res.Header.Get("Content-Encoding")); coding {
	case "", "identity":
		r.body = raw
	case "gzip", "x-gzip":
		unpacked, err := gzip.NewReader(raw)
		if err != nil {
			return &cut{fmt.Errorf("Content-Encoding gzip: %w", err)}
		}
		r.body, length = marking{unpacked}, -1
	default:
		return fmt.Errorf("the server sends Content-Encoding %s where none was asked for", coding)
	}
	r.entry = bucket.Entry{Key: key, Size: length}
	if said, err := strconv.ParseInt(res.Header.Get("X-DEBUGINFOD-SIZE"), 10, 64); err == nil && said >= 0 && (length < 0 || r.from > 0) {
		r.entry.Size = said
	} else if r.from > 0 && length >= 0 {
		r.entry.Size = r.from + length
	}
	if at, err := http.ParseTime(res.Header.Get("Last-Modified")); err == nil {
		r.entry.Modified = at
	}
	if r.entry.File = baseName(res.Header.Get("X-DEBUGINFOD-FILE")); r.entry.File == "" {
		r.entry.File = file(key)
	}
	return nil
}

// baseName returns the last part of a path that the server sends; "": there is none, or it is no name of a file.
func baseName(path string) string {
	name := path[strings.LastIndexAny(path, `/\!`)+1:]
	if len(name) > 255 || strings.ContainsFunc(name, func(r rune) bool { return r < ' ' || r == 0x7f }) {
		return ""
	}
	return name
}
