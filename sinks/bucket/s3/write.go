package s3

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/feature/s3/transfermanager"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/s3/types"

	"github.com/symlake/symlake/sinks/bucket"
)

// writeMark is metadata that tells our own write from another's.
const writeMark = "symlake-write"

// deleteKeys is as many as one request deletes.
const deleteKeys = 1000

// Create implements bucket.Bucket. The condition is checked by the server
// when the object becomes visible. An answer that got lost makes the SDK ask
// again and lose to itself: a mark in the object's metadata tells.
func (b *Bucket) Create(ctx context.Context, key, etag string, r io.Reader) error {
	if key == "" {
		return fmt.Errorf("s3: create %s: no key", b.URL(key))
	}
	mark := rand.Text()
	in := &transfermanager.UploadObjectInput{
		Bucket: aws.String(b.name), Key: aws.String(b.root + key), Body: r,
		Metadata: map[string]string{writeMark: mark},
	}
	if etag == "" {
		in.IfNoneMatch = aws.String("*")
	} else {
		in.IfMatch = quote(etag)
	}
	_, err := b.move.UploadObject(ctx, in)
	if err == nil {
		return nil
	}
	err = b.explain("create", key, err)
	if errors.Is(err, bucket.ErrNotFound) && etag != "" {
		return fmt.Errorf("%w: %w", bucket.ErrChanged, err) // the object to replace is gone
	}
	if errors.Is(err, bucket.ErrChanged) {
		if _, meta, serr := b.Stat(ctx, key); serr == nil && meta[writeMark] == mark {
			return nil
		}
	}
	return err
}

// Delete implements bucket.Bucket.
func (b *Bucket) Delete(ctx context.Context, keys []string) error {
	var all []error
	for len(keys) > 0 {
		n := min(len(keys), deleteKeys)
		ids := make([]types.ObjectIdentifier, 0, n)
		for _, k := range keys[:n] {
			if k != "" {
				ids = append(ids, types.ObjectIdentifier{Key: aws.String(b.root + k)})
			}
		}
		keys = keys[n:]
		if len(ids) == 0 {
			continue
		}
		out, err := b.s3.DeleteObjects(ctx, &s3.DeleteObjectsInput{Bucket: aws.String(b.name), Delete: &types.Delete{Objects: ids, Quiet: aws.Bool(true)}})
		if err != nil {
			return errors.Join(append(all, b.explain("delete", "", err))...)
		}
		for _, e := range out.Errors {
			if aws.ToString(e.Code) != "NoSuchKey" && len(all) < 100 {
				all = append(all, fmt.Errorf("s3: delete s3://%s/%s: %s (%s)", b.name, aws.ToString(e.Key), aws.ToString(e.Message), aws.ToString(e.Code)))
			}
		}
	}
	return errors.Join(all...)
}
