package intake

import (
	"bufio"
	"compress/gzip"
	"context"
	"io"

	"github.com/klauspost/compress/zstd"
)

// inflate returns the text of an encoded body. The window of zstd is the body's memory too: a frame with a large
// window takes it from the large pool.
func (in *Intake) inflate(ctx context.Context, caller string, b *Body, encoding string, sent *paced) (io.ReadCloser, error) {
	buffered := bufio.NewReaderSize(sent, 4<<10)
	if encoding != "zstd" {
		r, err := gzip.NewReader(buffered)
		if err != nil {
			return nil, reason(err)
		}
		return &inflated{from: r, sent: sent, close: func() {}}, nil
	}
	head, err := buffered.Peek(zstd.HeaderMaxSize)
	if err != nil && err != io.EOF {
		return nil, reason(err)
	}
	var h zstd.Header
	if err := h.Decode(head); err != nil {
		return nil, ErrBroken
	}
	window := h.WindowSize
	if h.SingleSegment {
		window = h.FrameContentSize
	}
	switch {
	case h.HasFCS && h.FrameContentSize > uint64(in.limits.Bytes):
		return nil, ErrTooLarge
	case window > maxWindow && !h.SingleSegment:
		return nil, ErrWindow
	case window > smallBytes:
		if err := b.hold(ctx, in.large, caller, in.limits.Bytes*3/2); err != nil {
			return nil, err
		}
		sent.anew()
	}
	r, err := zstd.NewReader(buffered, zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true),
		zstd.WithDecoderMaxWindow(max(window, smallBytes)), zstd.WithDecoderMaxMemory(uint64(max(in.limits.Bytes, maxWindow))))
	if err != nil {
		return nil, ErrBroken
	}
	return &inflated{from: r, sent: sent, close: r.Close}, nil
}

// inflated bounds the inflated bytes by the sent ones.
type inflated struct {
	from  io.Reader
	sent  *paced
	made  int64
	close func()
}

func (r *inflated) Read(to []byte) (int, error) {
	n, err := r.from.Read(to)
	if r.made += int64(n); r.made > freeRatio && r.made/maxRatio > r.sent.sent {
		return n, ErrRatio
	}
	return n, err
}

func (r *inflated) Close() error {
	r.close()
	return nil
}
