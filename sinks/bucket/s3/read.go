package s3

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/feature/s3/transfermanager"
	"github.com/aws/aws-sdk-go-v2/service/s3"

	"github.com/symlake/symlake/sinks/bucket"
)

// bodyAttempts is how often an answer may break off before the read fails:
// the SDK's own repeats end where the body begins.
const bodyAttempts = 4

// Fetch implements bucket.Fetcher.
func (b *Bucket) Fetch(ctx context.Context, e bucket.Entry, dst io.WriterAt) error {
	if e.Size < wholeBytes {
		return b.get(ctx, e, 0, e.Size, &offsetWriter{w: dst})
	}
	out, err := b.move.DownloadObject(ctx, &transfermanager.DownloadObjectInput{
		Bucket: aws.String(b.name), Key: aws.String(b.root + e.Key), IfMatch: quote(e.ETag), WriterAt: dst,
	})
	if err != nil {
		return b.explain("fetch", e.Key, err)
	}
	if n := aws.ToInt64(out.ContentLength); n != e.Size {
		return fmt.Errorf("s3: fetch %s: %d bytes came of %d: %w", b.URL(e.Key), n, e.Size, bucket.ErrChanged)
	}
	return nil
}

// get writes the bytes [off, off+n) of an object to w, each once.
func (b *Bucket) get(ctx context.Context, e bucket.Entry, off, n int64, w io.Writer) error {
	if n == 0 {
		// No range is valid in an empty object.
		_, err := b.s3.HeadObject(ctx, &s3.HeadObjectInput{Bucket: aws.String(b.name), Key: aws.String(b.root + e.Key), IfMatch: quote(e.ETag)})
		return b.explain("read", e.Key, err)
	}
	var failed error
	for attempt := range bodyAttempts {
		if attempt > 0 {
			select {
			case <-ctx.Done():
				return b.explain("read", e.Key, ctx.Err())
			case <-time.After(100 * time.Millisecond << attempt):
			}
		}
		in := &s3.GetObjectInput{Bucket: aws.String(b.name), Key: aws.String(b.root + e.Key), IfMatch: quote(e.ETag)}
		whole := off == 0 && n == e.Size
		if !whole {
			in.Range = aws.String(fmt.Sprintf("bytes=%d-%d", off, off+n-1))
		}
		out, err := b.s3.GetObject(ctx, in)
		if err != nil {
			return b.explain("read", e.Key, err)
		}
		if got := aws.ToInt64(out.ContentLength); got != n {
			out.Body.Close()
			return fmt.Errorf("s3: read %s: the server sends %d bytes where %d at %d were asked for", b.URL(e.Key), got, n, off)
		}
		body := &failingReader{r: out.Body}
		got, err := io.Copy(w, body) // to its end, where the checksum is compared
		out.Body.Close()
		off, n = off+got, n-got
		switch {
		case n == 0 && (err == nil || !whole):
			return nil
		case err != nil && body.err == nil:
			return err // w's, unchanged
		case err != nil && whole && n == 0:
			return b.explain("read", e.Key, err) // all came, but not as it was stored
		case contextError(ctx.Err()) != nil:
			return b.explain("read", e.Key, ctx.Err())
		case err == nil:
			err = io.ErrUnexpectedEOF
		}
		failed = err
	}
	return b.explain("read", e.Key, errors.Join(failed, fmt.Errorf("the answer broke off %d times", bodyAttempts)))
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

// offsetWriter writes to the places of a WriterAt one after the other.
type offsetWriter struct {
	w   io.WriterAt
	off int64
}

func (o *offsetWriter) Write(p []byte) (int, error) {
	n, err := o.w.WriteAt(p, o.off)
	o.off += int64(n)
	return n, err
}
