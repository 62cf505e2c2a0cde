package file_test

import (
	"testing"

	"github.com/symlake/symlake/sinks/bucket"
	"github.com/symlake/symlake/sinks/bucket/buckettest"
	"github.com/symlake/symlake/sinks/bucket/file"
)

func TestConformance(t *testing.T) {
	buckettest.Run(t, func(t *testing.T) bucket.Bucket {
		b, err := file.Open(t.TempDir())
		if err != nil {
			t.Fatal(err)
		}
		return b
	})
}
