// Package bucket reads and writes bytes by URL: the sources of symbol objects, the
// lake, staging folders. Its children are file, s3 and debuginfod; bucket/all opens a URL. It
// imports nothing of this module.
package bucket

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"time"
)

// Entry is one object of a listing.
type Entry struct {
	Key      string // relative to the bucket's URL, with forward slashes
	ETag     string // changes when the bytes change; opaque
	Size     int64
	Modified time.Time
	File     string // base name of the file, if the key does not end with it
}

// ErrChanged says that the object no longer has the ETag that the caller asked for.
var ErrChanged = errors.New("object changed")

// ErrNotFound says that the bucket has no such object.
var ErrNotFound = errors.New("no such object")

// ErrPartial says that a part of a listing could not be read. The entries before it are right.
var ErrPartial = errors.New("not all could be listed")

// ErrUsage says that a URL or an option is wrong. Another attempt fails alike.
var ErrUsage = errors.New("wrong usage")

// Usage makes an error that is ErrUsage and says only what it is given.
func Usage(format string, args ...any) error { return &usage{fmt.Errorf(format, args...)} }

type usage struct{ error }

func (u *usage) Is(target error) bool { return target == ErrUsage }

func (u *usage) Unwrap() error { return u.error }

// Bucket is a folder or a prefix of an object store. Safe for concurrent use.
type Bucket interface {
	// URL is the absolute URL of a key; URL("") is the bucket's own.
	URL(key string) string
	// List emits the entries with prefix and a key above after, in byte order of keys, page by page.
	// It returns emit's error unchanged, and ErrPartial only after it emitted all readable entries.
	List(ctx context.Context, prefix, after string, emit func(Entry) error) error
	// Stat finds one object, with its user metadata (lower-case names, without
	// the store's prefix; nil where the store has none). ErrNotFound.
	Stat(ctx context.Context, key string) (Entry, map[string]string, error)
	// Open gives random access to exactly the bytes of that ETag: ErrChanged,
	// also from a later ReadAt, when they are gone; ErrNotFound.
	Open(ctx context.Context, e Entry) (Reader, error)
	// Create writes a whole object or none. etag "": it must be new; else the
	// ETag it replaces. ErrChanged.
	Create(ctx context.Context, key, etag string, r io.Reader) error
	// Delete removes keys; absent ones are no error.
	Delete(ctx context.Context, keys []string) error
}

// Fetcher is a bucket that reads whole objects faster than pieces of them, as across a network. Ingest stages their objects through it.
type Fetcher interface {
	// Fetch writes exactly the e.Size bytes of that ETag to dst: pieces in any
	// order, each once unless it had to be repeated, possibly at once.
	// ErrChanged, ErrNotFound; what dst holds after an error is undefined.
	Fetch(ctx context.Context, e Entry, dst io.WriterAt) error
}

// ByBuildID is a bucket that cannot list its objects: they are found by the build-id of what they hold.
type ByBuildID interface {
	// Keys returns the keys under which the bucket may have a build's files, the best first. id is lower-case hex. nil: the
	// bucket has no build with such an id.
	Keys(id string) []string
	// BuildID returns the build-id of a key; "": it is no build's.
	BuildID(key string) string
}

// ByModule is a bucket that cannot list its objects: they are found by the file of a module and its id.
type ByModule interface {
	// ModuleKeys returns the keys under which the bucket may have a module's files, the best first. file is the base name of
	// the module's image or PDB, id its GUID and age, or its time stamp and size. nil: the bucket has no module with such an id.
	ModuleKeys(file, id string) []string
}

// Drafter is a bucket that can write an object in its place before the object has a name: a local folder.
type Drafter interface {
	// Draft opens an empty file without a name for an object below a folder of the bucket. The caller
	// closes it: without Publish the file is gone then. Draft returns nil where the file system has no
	// such files.
	Draft(folder string) (*os.File, error)
	// Publish gives a draft its key, which must be new: ErrChanged.
	Publish(f *os.File, key string) error
}

// Reader is an open object. ReadAt is safe for concurrent use.
type Reader interface {
	io.ReaderAt
	// Close returns ErrChanged if a mapped file was overwritten in place while it was open: bytes read
	// from the mapping may mix two states.
	io.Closer
	// Mapped is all of the object, or nil unless it is a mapped local file.
	// It dies with Close.
	Mapped() []byte
}

// Hider is a bucket of local files that can leave some of them out of its listings.
type Hider interface {
	// Hide gives the bucket without the folders and files that hide tells of, by their real path: without links. It is called
	// for each entry of a listing, and for what a link to a file leads to. A hidden folder is not read.
	Hide(hide func(path string) bool) Bucket
}
