package buckettest

import (
	"testing"

	"github.com/symlake/symlake/sinks/bucket"
)

func TestMemory(t *testing.T) {
	Run(t, func(*testing.T) bucket.Bucket { return NewMemory() })
}
