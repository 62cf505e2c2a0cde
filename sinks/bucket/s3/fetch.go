package s3

import (
	"context"
	"fmt"
	"io"
	"slices"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/s3/types"
	"golang.org/x/sync/errgroup"

	"github.com/symlake/symlake/sinks/bucket"
)

// piece is a range of an object that is fetched in ranges.
type piece struct {
	off, n int64
	sum    uint64   // of what came last
	seen   []uint64 // of what came before
}

// fetchRanges writes an object to dst in ranges, several at a time. The answer to a range has no checksum. So it joins
// the checksums of all ranges, and compares them with the object's, where the server keeps one of a kind that can be joined.
func (b *Bucket) fetchRanges(ctx context.Context, e bucket.Entry, dst io.WriterAt) error {
	want, err := b.storedSum(ctx, e)
	if err != nil {
		return err
	}
	var pieces []*piece
	for off := int64(0); off < e.Size; off += rangeBytes {
		pieces = append(pieces, &piece{off: off, n: min(rangeBytes, e.Size-off)})
	}
	read := func(ctx context.Context, p *piece) error {
		w := &summing{offsetWriter: offsetWriter{w: dst, off: p.off}, of: want.kind}
		err := b.once(ctx, e, p.off, p.n, w)
		p.sum = w.sum
		return err
	}
	if err := eachPiece(ctx, pieces, read); err != nil || want.kind == nil || joined(want.kind, pieces) == want.sum {
		return err
	}
	// Any range may be damaged. Each is read until it comes as it came before: no two accidents are alike.
	err = eachPiece(ctx, pieces, func(ctx context.Context, p *piece) error {
		for attempt := 1; attempt < sumAttempts; attempt++ {
			p.seen = append(p.seen, p.sum)
			if err := pause(ctx, attempt-1); err != nil {
				return b.explain("fetch", e.Key, err)
			}
			if err := read(ctx, p); err != nil || slices.Contains(p.seen, p.sum) {
				return err
			}
		}
		return nil
	})
	if err == nil && joined(want.kind, pieces) != want.sum {
		err = b.explain("fetch", e.Key, &sumError{sumAttempts, fmt.Errorf("the bytes come to %x, the object's checksum is %x", joined(want.kind, pieces), want.sum)})
	}
	return err
}

// eachPiece works on the pieces, several at a time.
func eachPiece(ctx context.Context, pieces []*piece, work func(context.Context, *piece) error) error {
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(rangesAtOnce)
	for _, p := range pieces {
		g.Go(func() error { return work(ctx, p) })
	}
	return g.Wait()
}

// storedSum asks for the checksum that the server keeps of a whole object. None is returned where it keeps none, keeps
// one of the checksums of parts, does not tell, or is not to be asked.
func (b *Bucket) storedSum(ctx context.Context, e bucket.Entry) (sum storedSum, err error) {
	if !b.sums {
		return sum, nil
	}
	out, err := b.s3.HeadObject(ctx, &s3.HeadObjectInput{Bucket: aws.String(b.name), Key: aws.String(b.root + e.Key), IfMatch: quote(e.ETag),
		ChecksumMode: types.ChecksumModeEnabled})
	if err != nil {
		if err = b.explain("fetch", e.Key, err); Refused(err) {
			err = nil // the answer to reading it says why
		}
		return sum, err
	}
	if err := b.same("fetch", e, out.ETag, "", ""); err != nil || out.ChecksumType == types.ChecksumTypeComposite {
		return sum, err
	}
	for _, s := range []struct {
		kind *crcKind
		text *string
	}{{&crc64nvme, out.ChecksumCRC64NVME}, {&crc32c, out.ChecksumCRC32C}, {&crc32ieee, out.ChecksumCRC32}} {
		if value, ok := s.kind.parse(aws.ToString(s.text)); ok {
			return storedSum{s.kind, value}, nil
		}
	}
	return sum, nil
}
