// Package all brings the libraries that only loaders need: the lake, HBase's files on HDFS and S3, and
// readers of the files that stores and lakes write.
//
// sinks/stores lists the schemes of stores.
package all

import (
	"context"
	"strings"
	"time"

	"github.com/symlake/symlake/sinks"
	"github.com/symlake/symlake/sinks/bucket"
	bucketall "github.com/symlake/symlake/sinks/bucket/all"
	"github.com/symlake/symlake/sinks/hbase"
	"github.com/symlake/symlake/sinks/hbase/hdfs"
	"github.com/symlake/symlake/sinks/stores"
)

// Open opens the store at url as stores.Open does, with all that loading into it needs.
func Open(ctx context.Context, url string, o stores.Options) (*sinks.Store, error) {
	o.Remote = hbase.Remote{S3: openS3, HDFS: hdfs.Open}
	return stores.Open(ctx, url, o)
}

// Exported is what ExportHBase wrote.
type Exported = hbase.Exported

// ExportHBase writes all of a store as HFiles below dir, for HBase's own tools: see
// hbase.Export. url names the store to be, if it is an HBase; no server is asked.
func ExportHBase(ctx context.Context, from *sinks.Store, dir, url string) (*Exported, error) {
	rest, ok := strings.CutPrefix(url, "hbase:")
	if !ok {
		rest = "//localhost" // the default namespace and regions
	}
	return hbase.Export(ctx, from, dir, rest, time.Now())
}

// openS3 opens a bucket as the environment says, for HBase's files on S3.
func openS3(ctx context.Context, name string) (bucket.Bucket, error) {
	b, _, err := bucketall.Open(ctx, "s3://"+name, bucketall.Options{})
	return b, err
}
