package iceberg

import (
	"context"
	"errors"
	"fmt"
	"io"
	"testing"

	"github.com/symlake/symlake/sinks"
	"github.com/symlake/symlake/sinks/bucket"
	"github.com/symlake/symlake/sinks/bucket/buckettest"
	"github.com/symlake/symlake/sinks/bucket/s3/s3test"
)

// Tables on a real S3 server, by conditional writes: published, by several at once, by publishers that die, and swept.
func TestS3(t *testing.T) {
	server := s3test.Start(t)
	server.Make(t, "lake")
	t.Run("race", func(t *testing.T) { race(t, newWorldS3(t, server, "race")) })
	t.Run("deaths", func(t *testing.T) {
		deaths(t, 3, func(n int) *world { return newWorldS3(t, server, fmt.Sprint("deaths/", n)) })
	})
	t.Run("many", func(t *testing.T) {
		w := newWorldS3(t, server, "many")
		for i := range 10 * keepStates {
			w.add("one", "elf", fmt.Sprint(i))
			w.publish(w.open(Catalog{}))
			if i%keepStates != 0 {
				continue
			}
			lists := 0
			err := w.b.List(t.Context(), "iceberg/one/metadata/symlake-list-", "", func(bucket.Entry) error {
				lists++
				return nil
			})
			if err != nil {
				t.Fatal(err)
			}
			if lists <= i { // some were swept
				w.check()
				return
			}
		}
		t.Errorf("all lists are there after %d commits", 10*keepStates)
	})
}

// careless is a bucket that ignores If-None-Match.
type careless struct{ *buckettest.Memory }

func (c careless) Create(ctx context.Context, key, etag string, r io.Reader) error {
	if err := c.Delete(ctx, []string{key}); err != nil {
		return err
	}
	return c.Memory.Create(ctx, key, "", r)
}

// A bucket that ignores If-None-Match gets no table, unless it has one writer.
func TestCarelessBucket(t *testing.T) {
	memory := buckettest.NewMemory()
	w := worldIn(t, "", careless{memory})
	w.add("one", "elf", "a")
	if all := w.try(w.open(Catalog{})); !errors.Is(all[0].Err, sinks.ErrLakeUnsafe) {
		t.Errorf("%+v", all[0])
	}
	if keys := memory.Keys("iceberg/one/"); len(keys) > 0 {
		t.Errorf("there are %q", keys)
	}
	tables := w.open(Catalog{})
	tables.o.SingleWriter = true
	w.publish(tables)
}
