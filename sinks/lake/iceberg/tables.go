package iceberg

import (
	"bytes"
	"context"
	"errors"
	"path/filepath"
	"strings"
	"time"

	"github.com/symlake/symlake/sinks/bucket"
)

// tablesFolder is the folder of the tables in the bucket of the lake.
const tablesFolder = "iceberg/"

// Options says which tables there are, and where.
type Options struct {
	Bucket bucket.Bucket // of the lake: the files of State are below it
	Tables []Table
	Catalog
	SingleWriter bool             // the bucket need not refuse to overwrite
	Grace        time.Duration    // of snapshots and of files that none names; 0: 24 hours
	Now          func() time.Time // nil: time.Now
}

// Tables are the tables of a lake in a catalog. Safe for concurrent use, also by several processes.
type Tables struct {
	o       Options
	at      string // location of the bucket, with a slash at its end
	shapes  []*shape
	catalog catalog
}

// locationOf returns a bucket's URL as Iceberg has locations: file:///folder/ or s3://bucket/prefix/.
func locationOf(url string) string {
	if !strings.Contains(url, "://") {
		url = filepath.ToSlash(strings.TrimPrefix(url, "file:"))
		if !strings.HasPrefix(url, "/") {
			url = "/" + url // C:/folder
		}
		url = "file://" + url
	}
	return strings.TrimSuffix(url, "/") + "/"
}

func (t *Tables) folder(table string) string { return tablesFolder + table + "/" }

func (t *Tables) location(key string) string { return t.at + key }

// key returns the key of a location below the bucket.
func (t *Tables) key(location string) (string, bool) { return strings.CutPrefix(location, t.at) }

// create writes an object that must be new: bucket.ErrChanged.
func (t *Tables) create(ctx context.Context, key string, text []byte) error {
	if t.o.SingleWriter {
		if _, _, err := t.o.Bucket.Stat(ctx, key); err == nil {
			return bucket.ErrChanged
		} else if !errors.Is(err, bucket.ErrNotFound) {
			return err
		}
	}
	return t.o.Bucket.Create(ctx, key, "", bytes.NewReader(text))
}
