package bucket

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
)

// Conditional reports whether Create refuses a key that is taken, as it must: some servers of S3 ignore If-None-Match. It writes
// an object below _probe/ and deletes it.
func Conditional(ctx context.Context, b Bucket) (bool, error) {
	key := "_probe/" + rand.Text()
	defer b.Delete(context.WithoutCancel(ctx), []string{key})
	if err := b.Create(ctx, key, "", bytes.NewReader([]byte("1"))); err != nil {
		return false, fmt.Errorf("try the bucket: %w", err)
	}
	for range 2 {
		err := b.Create(ctx, key, "", bytes.NewReader([]byte("2")))
		if err == nil {
			return false, nil
		}
		if !errors.Is(err, ErrChanged) {
			return false, fmt.Errorf("try the bucket: %w", err)
		}
	}
	return true, nil
}
