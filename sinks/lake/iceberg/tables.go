package iceberg

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"strconv"
	"strings"
	"time"

	"github.com/symlake/symlake/sinks/bucket"
)

// tablesFolder is the folder of the tables in the bucket of the lake.
const tablesFolder = "iceberg/"

// ownPrefix begins the names of this package's files. Files with other names belong to somebody else.
const ownPrefix = "symlake-"

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

func (t *Tables) folder(table string) string { return tablesFolder + table + "/" }

func (t *Tables) location(key string) string { return t.at + key }

// key returns the key of a location below the bucket.
func (t *Tables) key(location string) (string, bool) { return strings.CutPrefix(location, t.at) }

// Kinds of the files of metadata that commits add.
const (
	listKind     = "list"
	manifestKind = "manifest"
)

// metadataKey names a new file of a commit by the commit's sequence number: symlake-KIND-SEQUENCE-RANDOM.avro.
func (t *Tables) metadataKey(table, kind string, sequence int64) string {
	return t.folder(table) + "metadata/" + ownPrefix + kind + "-" + strconv.FormatInt(sequence, 10) + "-" + strings.ToLower(rand.Text()) + ".avro"
}

// sequenceOf takes the kind and the sequence number out of the name of such a file.
func sequenceOf(name string) (kind string, sequence int64, ok bool) {
	name, ok = strings.CutPrefix(name, ownPrefix)
	parts := strings.Split(name, "-")
	if !ok || len(parts) != 3 || parts[0] != listKind && parts[0] != manifestKind || !strings.HasSuffix(name, ".avro") {
		return "", 0, false
	}
	n, err := strconv.ParseInt(parts[1], 10, 64)
	return parts[0], n, err == nil && n > 0
}

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
