package s3

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/aws/retry"
	"github.com/aws/aws-sdk-go-v2/service/s3"

	"github.com/symlake/symlake/sinks/bucket"
)

// bodyAttempts is how often an answer may break off before the read fails:
// the SDK's own repeats end where the body begins.
const bodyAttempts = 4

// sumAttempts is how often an object is read whole until its bytes have the checksum that was
// stored with it. Where three answers of ten are damaged, one object of 15,000 fails so.
const sumAttempts = 8

// Fetch implements bucket.Fetcher.
func (b *Bucket) Fetch(ctx context.Context, e bucket.Entry, dst io.WriterAt) error {
	if e.Size < wholeBytes {
		return b.get(ctx, e, 0, e.Size, &offsetWriter{w: dst})
	}
	return b.fetchRanges(ctx, e, dst)
}

// target takes the bytes of a read in order.
type target interface {
	io.Writer
	restart() // drops all that came: the bytes come again from the first on
}

// errDamaged: all bytes of an object came, and they do not have its checksum. Wrapped.
var errDamaged = errors.New("the bytes that came are not the ones that were stored")

// get writes the bytes [off, off+n) of an object to w. If the bytes do not have the checksum that the
// server keeps, it reads again; the answer to a range has no checksum.
func (b *Bucket) get(ctx context.Context, e bucket.Entry, off, n int64, w target) error {
	if n == 0 {
		return b.empty(ctx, e)
	}
	var damage error
	for attempt := range sumAttempts {
		if attempt > 0 {
			w.restart()
			if err := pause(ctx, attempt); err != nil {
				return b.explain("read", e.Key, err)
			}
		}
		err := b.once(ctx, e, off, n, w)
		if !errors.Is(err, errDamaged) {
			return err
		}
		damage = err
	}
	return b.explain("read", e.Key, &sumError{sumAttempts, damage})
}

// sumError says that no read of an object had its checksum.
type sumError struct {
	times int
	err   error // of the last time
}

func (e *sumError) Error() string {
	return fmt.Sprintf("the bytes came damaged %d times, by the object's checksum: check the network and the server's disks (%s)", e.times, innermost(e.err))
}

func (e *sumError) Unwrap() error { return e.err }

// Pauses between attempts. Tests shorten them.
var (
	firstPause   = 100 * time.Millisecond // between attempts of this package, each time twice as long
	longestPause = time.Second
	longestBack  = retry.DefaultMaxBackoff // between attempts of the SDK
)

// pause waits before an attempt.
func pause(ctx context.Context, attempt int) error {
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(min(firstPause<<attempt, longestPause)):
		return nil
	}
}

// empty checks that an object of no bytes is there: no range is valid in it.
func (b *Bucket) empty(ctx context.Context, e bucket.Entry) error {
	out, err := b.s3.HeadObject(ctx, &s3.HeadObjectInput{Bucket: aws.String(b.name), Key: aws.String(b.root + e.Key), IfMatch: quote(e.ETag)})
	if err != nil {
		return b.explain("read", e.Key, err)
	}
	if got := aws.ToInt64(out.ContentLength); got != 0 {
		return fmt.Errorf("s3: read %s: the server has %d bytes where none were listed: %w", b.URL(e.Key), got, bucket.ErrChanged)
	}
	return b.same("read", e, out.ETag, "", "")
}

// once writes the bytes [off, off+n) of an object to w, each once. It goes on from where an answer broke off.
func (b *Bucket) once(ctx context.Context, e bucket.Entry, off, n int64, w io.Writer) error {
	var failed error
	for attempt := range bodyAttempts {
		if attempt > 0 {
			if err := pause(ctx, attempt); err != nil {
				return b.explain("read", e.Key, err)
			}
		}
		in := &s3.GetObjectInput{Bucket: aws.String(b.name), Key: aws.String(b.root + e.Key), IfMatch: quote(e.ETag)}
		whole := off == 0 && n == e.Size
		asked := ""
		if !whole {
			asked = fmt.Sprintf("%d-%d", off, off+n-1)
			in.Range = aws.String("bytes=" + asked)
		}
		out, err := b.s3.GetObject(ctx, in)
		if err != nil {
			return b.explain("read", e.Key, err)
		}
		if got := aws.ToInt64(out.ContentLength); out.ContentLength != nil && got != n {
			out.Body.Close()
			return fmt.Errorf("s3: read %s: the server sends %d bytes where %d at %d were asked for", b.URL(e.Key), got, n, off)
		}
		if err := b.same("read", e, out.ETag, asked, aws.ToString(out.ContentRange)); err != nil {
			out.Body.Close()
			return err
		}
		body := &failingReader{r: out.Body}
		got, err := io.Copy(w, io.LimitReader(body, n))
		if err == nil && got == n {
			var more int64
			if more, err = io.CopyN(io.Discard, body, 1); err == io.EOF { // its end, where the checksum is compared
				err = nil
			}
			if more > 0 {
				out.Body.Close()
				return fmt.Errorf("s3: read %s: the server sends more than the %d bytes at %d that were asked for", b.URL(e.Key), n, off)
			}
		}
		out.Body.Close()
		off, n = off+got, n-got
		switch {
		case n == 0 && (err == nil || !whole):
			return nil
		case err != nil && body.err == nil:
			return err // w's, unchanged
		case err != nil && whole && n == 0:
			return fmt.Errorf("%w: %w", errDamaged, err)
		case contextError(ctx.Err()) != nil:
			return b.explain("read", e.Key, ctx.Err())
		case err == nil:
			err = io.ErrUnexpectedEOF
		}
		failed = err
	}
	return b.explain("read", e.Key, errors.Join(failed, fmt.Errorf("the answer broke off %d times", bodyAttempts)))
}

// same checks that an answer is of the object and the range (FROM-TO; "": all) that were asked for: a cache or a server
// that does not know conditions gives others.
func (b *Bucket) same(op string, e bucket.Entry, etag *string, asked, got string) error {
	weak := func(s string) string { return strings.Trim(strings.TrimPrefix(s, "W/"), `"`) } // as a proxy that compresses calls it
	if is := aws.ToString(etag); is != "" && e.ETag != "" && weak(is) != weak(e.ETag) {
		return fmt.Errorf("s3: %s %s: the server gives ETag %s where %s was asked for: %w", op, b.URL(e.Key), weak(is), e.ETag, bucket.ErrChanged)
	}
	if r, _, _ := strings.Cut(strings.TrimPrefix(got, "bytes "), "/"); asked != "" && got != "" && r != asked {
		return fmt.Errorf("s3: %s %s: the server sends the bytes %s where %s were asked for", op, b.URL(e.Key), r, asked)
	}
	return nil
}

// failingReader remembers that it was the reader, not the writer, that failed.
type failingReader struct {
	r   io.Reader
	err error
}

func (f *failingReader) Read(p []byte) (int, error) {
	n, err := f.r.Read(p)
	if err != nil && err != io.EOF {
		f.err = err
	}
	return n, err
}

// offsetWriter writes to the places of a WriterAt one after the other, from the first on.
type offsetWriter struct {
	w   io.WriterAt
	off int64
}

func (o *offsetWriter) Write(p []byte) (int, error) {
	n, err := o.w.WriteAt(p, o.off)
	o.off += int64(n)
	return n, err
}

func (o *offsetWriter) restart() { o.off = 0 }
