package s3

import (
	"context"
	"fmt"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"

	"github.com/symlake/symlake/sinks/bucket"
)

// List implements bucket.Bucket: a page of 1,000 keys a request.
func (b *Bucket) List(ctx context.Context, prefix, after string, emit func(bucket.Entry) error) error {
	in := &s3.ListObjectsV2Input{Bucket: aws.String(b.name), Prefix: aws.String(b.root + prefix)}
	if after != "" {
		in.StartAfter = aws.String(b.root + after)
	}
	last, first := "", true
	for {
		page, err := b.s3.ListObjectsV2(ctx, in, readPages)
		if err != nil {
			return b.explain("list", prefix, err)
		}
		for _, o := range page.Contents {
			key, ours := strings.CutPrefix(aws.ToString(o.Key), b.root+prefix)
			key = prefix + key
			if !ours || !first && key <= last {
				// Every caller's comparison with what it knows rests on the order.
				return fmt.Errorf("s3: list %s: the server gives key %q after %q: it does not list in byte order", b.URL(prefix), key, last)
			}
			last, first = key, false
			if o.Size == nil {
				return fmt.Errorf("s3: list %s: the server gives no size of key %q", b.URL(prefix), key)
			}
			size := *o.Size
			if key == "" || size == 0 && strings.HasSuffix(key, "/") || after != "" && key <= after {
				continue
			}
			if err := emit(bucket.Entry{Key: key, ETag: unquote(o.ETag), Size: size, Modified: aws.ToTime(o.LastModified)}); err != nil {
				return err
			}
		}
		if !aws.ToBool(page.IsTruncated) {
			return nil
		}
		// What a listing does not name is gone to its callers: it has its end, or it fails.
		switch token := aws.ToString(page.NextContinuationToken); token {
		case "":
			return fmt.Errorf("s3: list %s: the server has more keys after %q and does not say how to ask for them: it does not know ListObjectsV2", b.URL(prefix), last)
		case aws.ToString(in.ContinuationToken):
			return fmt.Errorf("s3: list %s: the server has more keys after %q and says twice to go on in the same place", b.URL(prefix), last)
		}
		in.ContinuationToken = page.NextContinuationToken
	}
}

// Stat implements bucket.Bucket.
func (b *Bucket) Stat(ctx context.Context, key string) (bucket.Entry, map[string]string, error) {
	if key == "" {
		return bucket.Entry{}, nil, fmt.Errorf("s3: %s: %w", b.URL(key), bucket.ErrNotFound)
	}
	out, err := b.s3.HeadObject(ctx, &s3.HeadObjectInput{Bucket: aws.String(b.name), Key: aws.String(b.root + key)})
	if err != nil {
		return bucket.Entry{}, nil, b.explain("stat", key, err)
	}
	e := bucket.Entry{Key: key, ETag: unquote(out.ETag), Size: aws.ToInt64(out.ContentLength), Modified: aws.ToTime(out.LastModified)}
	var meta map[string]string
	for k, v := range out.Metadata {
		if meta == nil {
			meta = make(map[string]string, len(out.Metadata))
		}
		meta[strings.ToLower(k)] = v
	}
	return e, meta, nil
}

// An ETag travels in quotes, which are not part of it. A weak one is kept as it is.
func unquote(etag *string) string {
	s := aws.ToString(etag)
	if len(s) >= 2 && s[0] == '"' && s[len(s)-1] == '"' {
		return s[1 : len(s)-1]
	}
	return s
}

func quote(etag string) *string {
	if strings.HasPrefix(etag, "W/") {
		return aws.String(etag)
	}
	return aws.String(`"` + etag + `"`)
}
