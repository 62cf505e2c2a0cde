package bulk

import (
	"context"
	"fmt"
	"io"
	"net/url"
	"strings"

	"github.com/symlake/symlake/sinks/bucket"
	"github.com/symlake/symlake/sinks/hbase/security"
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
	// Token returns a right to reach the files in the user's name; nil where servers need none. It is the file system's,
	// and ends with it.
	Token(ctx context.Context) (*Token, error)
	// Close ends what the file system keeps open. Files that are still open are lost.
	Close() error
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
	User string // at HDFS without Kerberos; "": the process's
	// HadoopConf is a folder of core-site.xml and hdfs-site.xml, for name services; "": HADOOP_CONF_DIR, if it is set.
	HadoopConf string
	Security   security.Options
	Remote     Remote
	Notice     func(string) // unless nil, hears what a file system waits for; from any goroutine
}

// Remote opens the file systems that need a library of their own. A loader sets it. A program that only reads
// a store does not, and links no such library. A nil function refuses roots on its file system.
type Remote struct {
	S3 func(ctx context.Context, bucket string) (bucket.Bucket, error)
	// HDFS opens an HDFS until ctx ends. Package sinks/hbase/hdfs has it.
	HDFS func(ctx context.Context, root string, o FileOptions) (FileSystem, error)
}

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
		if o.Remote.HDFS == nil {
			return nil, fmt.Errorf("HBase keeps its files at %s: this program brings no HDFS: load with puts", path)
		}
		return o.Remote.HDFS(ctx, path, o)
	case "s3a", "s3n", "s3":
		return openS3(ctx, path, o.Remote.S3)
	}
	return nil, fmt.Errorf("HBase keeps its files at %s: no such file system is known (file, hdfs, s3a): load with puts", path)
}

// LocalPath returns the host and the path of a URL. host is empty for file: and for a plain path.
func LocalPath(s string) (host, path string, err error) {
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
