package bulk

import (
	"context"
	"fmt"
	"io"
	"net/url"
	"strings"

	"github.com/symlake/symlake/sinks/bucket"
)

// FileSystem is where HBase keeps its files, as far as handing files over
// needs it. Paths are written as HBase writes them: file:/a/b, hdfs://host:port/a/b,
// s3a://bucket/a/b. What it makes is open to every user of the cluster: HBase
// may run as another one, and what lies there is sealed.
type FileSystem interface {
	// Create makes a new file, and the folders above it.
	Create(ctx context.Context, path string) (Output, error)
	Open(ctx context.Context, path string) (Input, error)
	// Remove removes a file, or a folder with all files in it. It returns nil if path is absent.
	Remove(ctx context.Context, path string) error
}

// Output is a file being written. It is there once Close has succeeded.
type Output interface {
	io.Writer
	Close() error
	Abort() // gives it up; the path may have to be removed. After Close it does nothing
}

// Input is a file to be read. One goroutine.
type Input interface {
	io.ReaderAt
	io.Closer
	Size() int64
}

// FileOptions say how file systems are reached. Zero values are what the
// environment of the process says.
type FileOptions struct {
	User       string // at HDFS without Kerberos; "": the process's
	HadoopConf string // folder of core-site.xml and hdfs-site.xml, for name services; "": none
	S3         OpenS3
}

// OpenS3 opens a bucket of S3 by its name. A loader gives it, so that a reader links no SDK. If it is
// nil, roots on S3 are refused.
type OpenS3 = func(ctx context.Context, bucket string) (bucket.Bucket, error)

// OpenFileSystem gives the file system that a path stands on.
func OpenFileSystem(ctx context.Context, path string, o FileOptions) (FileSystem, error) {
	scheme, _, ok := strings.Cut(path, ":")
	if !ok || strings.HasPrefix(path, "/") {
		scheme = "file"
	}
	switch scheme {
	case "file":
		return local{}, nil
	case "hdfs":
		return openHDFS(path, o)
	case "s3a", "s3n", "s3":
		return openS3(ctx, path, o.S3)
	}
	return nil, fmt.Errorf("HBase keeps its files at %s: no such file system is known (file, hdfs, s3a): load with puts", path)
}

// localPath is the path in a URL; host is empty for file: and what has none.
func localPath(s string) (host, path string, err error) {
	if strings.HasPrefix(s, "/") {
		return "", s, nil
	}
	u, err := url.Parse(s)
	if err != nil {
		return "", "", fmt.Errorf("path %q: %w", s, err)
	}
	path = u.Path
	if u.Opaque != "" || !strings.HasPrefix(path, "/") {
		return "", "", fmt.Errorf("path %q is not absolute", s)
	}
	return u.Host, path, nil
}
