package icemeta

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/symlake/symlake/sinks/bucket"
)

// VersionKey returns the key of a version of the metadata, as a catalog of the file system names it, in the table's folder metadata/.
func VersionKey(folder string, version uint64) string {
	return folder + "v" + strconv.FormatUint(version, 10) + ".metadata.json"
}

// HintKey returns the key of the hint in the table's folder metadata/: readers take the version that it names.
func HintKey(folder string) string { return folder + "version-hint.text" }

// Location returns a bucket's URL as Iceberg has locations: file:///folder/ or s3://bucket/prefix/.
func Location(url string) string {
	if !strings.Contains(url, "://") {
		url = filepath.ToSlash(strings.TrimPrefix(url, "file:"))
		if !strings.HasPrefix(url, "/") {
			url = "/" + url // C:/folder
		}
		url = "file://" + url
	}
	return strings.TrimSuffix(url, "/") + "/"
}

// maxHints bounds how often another writer may be faster with the hint.
const maxHints = 10

// Point makes the hint in the table's folder metadata/ name a version, unless it names a later one.
func Point(ctx context.Context, b bucket.Bucket, folder string, version uint64) error {
	key := HintKey(folder)
	for range maxHints {
		etag := ""
		switch e, _, err := b.Stat(ctx, key); {
		case err == nil:
			hint, err := readHint(ctx, b, e)
			if errors.Is(err, bucket.ErrChanged) || errors.Is(err, bucket.ErrNotFound) {
				continue
			} else if err != nil {
				return err
			}
			if n, err := strconv.ParseUint(strings.TrimSpace(hint), 10, 63); err == nil && n >= version {
				return nil
			}
			etag = e.ETag
		case !errors.Is(err, bucket.ErrNotFound):
			return err
		}
		err := b.Create(ctx, key, etag, strings.NewReader(strconv.FormatUint(version, 10)))
		if !errors.Is(err, bucket.ErrChanged) {
			return err
		}
	}
	return fmt.Errorf("write %s: others were faster %d times", b.URL(key), maxHints)
}

// readHint returns the first bytes of a hint, which is a number.
func readHint(ctx context.Context, b bucket.Bucket, e bucket.Entry) (string, error) {
	r, err := b.Open(ctx, e)
	if err != nil {
		return "", err
	}
	text := make([]byte, min(e.Size, 64))
	_, err = io.ReadFull(io.NewSectionReader(r, 0, e.Size), text)
	return string(text), errors.Join(err, r.Close())
}
