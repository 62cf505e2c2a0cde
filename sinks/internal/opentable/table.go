package opentable

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net/url"
	"slices"
	"strings"

	"github.com/symlake/symlake/sinks/bucket"
)

// ErrTable says that a table is damaged, lacks the version that was asked for, or uses a feature that is not read.
var ErrTable = errors.New("the table cannot be read")

// File is a data file of a table.
type File struct {
	Key string
	// Values has the values of partition columns that the table keeps beside the file, by the name of the column.
	Values map[string]string
	// Gone has the rows of the file that were deleted by their position, from 0, ascending. Rows leaves out all others, too.
	Gone []uint32

	// Physical has Values by the names that the files of a Delta table with column mapping have for columns; nil: it has none.
	Physical map[string]string

	// Of a table that was opened whole:

	Stats string         // Delta: what the log says of the rows, as JSON; "": nothing
	Entry map[string]any // Iceberg: the record data_file of the manifest
	Spec  int64          // Iceberg: id of the partition spec
	// Partition is the Avro type of the partition in Entry, as JSON.
	Partition string

	// Of Iceberg:

	sequence int64       // of the commit that added the file
	scope    string      // partition spec and partition
	identity map[int]any // values of the partition by the number of their column
	names    *Names
	byValue  []*valueDeletes // which reach the file
}

// Deleted returns a hash of what deletes rows of the file, by which versions of a table are compared; "": nothing does.
func (f *File) Deleted() string {
	if len(f.Gone) == 0 && len(f.byValue) == 0 {
		return ""
	}
	h := sha256.New()
	for _, v := range f.byValue {
		for _, d := range v.files {
			if d.sequence > f.sequence {
				fmt.Fprintf(h, "%q,", d.key)
			}
		}
	}
	for part := range slices.Chunk(f.Gone, 1<<10) {
		var b []byte
		for _, n := range part {
			b = binary.BigEndian.AppendUint32(b, n)
		}
		h.Write(b)
	}
	return hex.EncodeToString(h.Sum(nil))
}

// Table is a version of a table.
type Table struct {
	Format  string // delta or iceberg
	Version int64  // of Delta; of Iceberg the snapshot
	Files   []File // by key
	ID      string // made with the table, and kept by it wherever it moves

	Names   *Names // of columns; nil: files say them
	Delta   *Delta // nil: the format is another one
	Iceberg *Iceberg
	whole   bool
	deletes []deletes // of Iceberg
	specs   map[int64]partitionSpec
	gone    int // positions that were read
}

// Newest asks for the version that counts now.
const Newest = -1

// Open reads which files a version of the table at a bucket has. nil: there is no table, only files.
func Open(ctx context.Context, b bucket.Bucket, version int64) (*Table, error) {
	return open(ctx, b, version, false)
}

// OpenWhole is Open for a caller that writes a table: it keeps all that the table says of its files.
func OpenWhole(ctx context.Context, b bucket.Bucket, version int64) (*Table, error) {
	return open(ctx, b, version, true)
}

func open(ctx context.Context, b bucket.Bucket, version int64, whole bool) (*Table, error) {
	for _, open := range []func(context.Context, bucket.Bucket, int64, bool) (*Table, error){openDelta, openIceberg} {
		t, err := open(ctx, b, version, whole)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", b.URL(""), err)
		}
		if t != nil {
			slices.SortFunc(t.Files, func(a, b File) int { return strings.Compare(a.Key, b.Key) })
			return t, nil
		}
	}
	if version != Newest {
		return nil, fmt.Errorf("%s: %w: it is no table of Delta or Iceberg, so it has no snapshot %d", b.URL(""), ErrTable, version)
	}
	return nil, nil
}

// maxLogBytes is the largest object of a table's metadata that is read.
const maxLogBytes = 1 << 30

// Read reads a whole object of a table's metadata.
func Read(ctx context.Context, b bucket.Bucket, key string) (text []byte, err error) {
	e, _, err := b.Stat(ctx, key)
	if errors.Is(err, bucket.ErrNotFound) {
		return nil, fmt.Errorf("%w: %s is not there: %w", ErrTable, key, err)
	}
	if err != nil {
		return nil, err
	}
	if e.Size > maxLogBytes {
		return nil, fmt.Errorf("%w: %s has %d bytes, above %d", ErrTable, key, e.Size, maxLogBytes)
	}
	r, err := b.Open(ctx, e)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, r.Close()) }()
	text = make([]byte, e.Size)
	_, err = io.ReadFull(io.NewSectionReader(r, 0, e.Size), text)
	return text, err
}

// KeyOf returns the key of a path that a table's metadata names. location is where the metadata says that the table lies: it
// may have been moved since.
func KeyOf(b bucket.Bucket, location, path string) (string, error) {
	for _, root := range []string{location, b.URL("")} {
		root = strings.TrimSuffix(bare(root), "/") + "/"
		if key, ok := strings.CutPrefix(bare(path), root); ok && root != "/" && !strings.Contains("/"+key+"/", "/../") {
			return key, nil
		}
	}
	return "", fmt.Errorf("%w: its file %s lies outside of it", ErrTable, path)
}

// SamePlace reports whether two URLs name one place.
func SamePlace(a, b string) bool {
	return strings.TrimSuffix(bare(a), "/") == strings.TrimSuffix(bare(b), "/")
}

// bare returns a URL without the marks of local files, and with one scheme for S3.
func bare(u string) string {
	for _, scheme := range []string{"file://", "file:"} {
		if rest, ok := strings.CutPrefix(u, scheme); ok {
			return rest
		}
	}
	for _, scheme := range []string{"s3a://", "s3n://"} {
		if rest, ok := strings.CutPrefix(u, scheme); ok {
			return "s3://" + rest
		}
	}
	return u
}

// unescape decodes a path that a Delta log has as part of a URL.
func unescape(path string) (string, error) {
	s, err := url.PathUnescape(path)
	if err != nil {
		return "", fmt.Errorf("%w: path %q: %w", ErrTable, path, err)
	}
	return s, nil
}
