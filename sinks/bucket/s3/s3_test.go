package s3_test

import (
	"fmt"
	"testing"

	"github.com/symlake/symlake/sinks/bucket"
	"github.com/symlake/symlake/sinks/bucket/buckettest"
	"github.com/symlake/symlake/sinks/bucket/s3"
	"github.com/symlake/symlake/sinks/bucket/s3/s3test"
)

func open(t *testing.T, srv *s3test.Server, name, prefix string) *s3.Bucket {
	t.Helper()
	b, err := s3.Open(t.Context(), name, prefix, s3.Options{Endpoint: srv.Endpoint})
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func TestConformance(t *testing.T) {
	srv := s3test.Start(t)
	n := 0
	for _, prefix := range []string{"", "some/folder"} {
		t.Run("prefix="+prefix, func(t *testing.T) {
			buckettest.Run(t, func(t *testing.T) bucket.Bucket {
				n++
				name := fmt.Sprintf("bucket-%d", n)
				srv.Make(t, name)
				if prefix != "" {
					srv.Put(t, name, "some/folder0", []byte("not below the prefix"), nil)
					srv.Put(t, name, "some/folder-x/y", []byte("not below the prefix"), nil)
				}
				return open(t, srv, name, prefix)
			})
		})
	}
}
