package lake

import (
	"errors"
	"testing"

	"github.com/symlake/symlake/sinks"
	"github.com/symlake/symlake/sinks/bucket/s3"
	"github.com/symlake/symlake/sinks/bucket/s3/s3test"
)

// A lake on a real S3 server: probed, written by two, compacted, read back.
func TestS3(t *testing.T) {
	server := s3test.Start(t)
	server.Make(t, "lake")
	b, err := s3.Open(t.Context(), "lake", "symbols/", s3.Options{Endpoint: server.Endpoint, Region: s3test.Region, PathStyle: true})
	if err != nil {
		t.Fatal(err)
	}
	open := func() *Lake {
		return Open(Options{Bucket: b, Profile: sinks.LakeSealed, Keys: testKeys, Scratch: t.TempDir()})
	}
	one, two := open(), open()
	for n, l := range []*Lake{one, two, one} {
		if _, err := write(t, l, testLoad(byte(n)), testRun(0, "f", "g")); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := write(t, two, testLoad(0), testRun(0, "f", "g")); err != nil && !errors.Is(err, sinks.ErrConflict) {
		t.Fatal(err)
	}
	if counts := rangesOf(t, open()); len(counts) != 3 || counts[testLoad(1).Artifact.ID] != 2 {
		t.Errorf("%v", counts)
	}
}
