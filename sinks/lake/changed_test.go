package lake

import (
	"context"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/symlake/symlake/formats/symbol"
	"github.com/symlake/symlake/sinks"
	"github.com/symlake/symlake/sinks/bucket"
)

// tally is a bucket that counts requests, and the manifests that are read.
type tally struct {
	bucket.Bucket
	mu                  sync.Mutex
	requests, manifests int
	bytes               int64 // of manifests
}

func (c *tally) count(n int) { c.mu.Lock(); c.requests += n; c.mu.Unlock() }

func (c *tally) Open(ctx context.Context, e bucket.Entry) (bucket.Reader, error) {
	c.count(1)
	c.mu.Lock()
	if strings.Contains(e.Key, "/symlake-manifest-") {
		c.manifests++
		c.bytes += e.Size
	}
	c.mu.Unlock()
	return c.Bucket.Open(ctx, e)
}

func (c *tally) Stat(ctx context.Context, key string) (bucket.Entry, map[string]string, error) {
	c.count(1)
	return c.Bucket.Stat(ctx, key)
}

func (c *tally) List(ctx context.Context, prefix, after string, emit func(bucket.Entry) error) error {
	c.count(1)
	return c.Bucket.List(ctx, prefix, after, emit)
}

// A publish after a load that replaces another, after a drop and after new facts costs what changed: as many requests and bytes of
// manifests in a lake of four times the files. It does not read the whole state of the log.
func TestPublishChanged(t *testing.T) {
	t.Parallel()
	costs := map[string][]*tally{}
	for _, n := range []int{8, 32} {
		v := newVillage(t)
		for i := range n {
			loads := map[*sinks.LakeLoad][]string{}
			for k := range 4 {
				x := testLoad(byte(4*i + k))
				x.Load = sinks.Load{1, 0, 0, 0, byte(i), byte(k)}
				loads[x] = []string{"f", "g"}
			}
			v.write(loads)
		}
		v.publish()
		for _, c := range []struct {
			what   string
			change func()
		}{
			{"replaced", func() {
				x := testLoad(5)
				x.Load = sinks.Load{9, 0, 0, 0, 1}
				v.write(map[*sinks.LakeLoad][]string{x: {"h"}})
			}},
			{"dropped", func() {
				id := testLoad(9).Artifact.ID
				if err := v.lake.Drop(t.Context(), []symbol.ID{id}); err != nil {
					t.Fatal(err)
				}
				delete(v.loads, id)
			}},
			{"new facts", func() {
				x := *v.loads[testLoad(10).Artifact.ID]
				x.Artifact.Names = append(slices.Clone(x.Artifact.Names), symbol.Name{Kind: symbol.NameApp, Text: "shop@2"})
				b, err := v.lake.Begin(t.Context())
				if err == nil {
					_, err = b.Commit(t.Context(), []*sinks.LakeLoad{&x})
				}
				if err != nil {
					t.Fatal(err)
				}
				v.loads[x.Artifact.ID] = &x
			}},
			{"the rest of a file", func() {
				for _, k := range []byte{8, 10, 11} {
					id := testLoad(k).Artifact.ID
					if err := v.lake.Drop(t.Context(), []symbol.ID{id}); err != nil {
						t.Fatal(err)
					}
					delete(v.loads, id)
				}
			}},
		} {
			c.change()
			v.open() // another process
			asked := &tally{Bucket: v.lake.b}
			v.lake.b, v.lake.log.Bucket = asked, asked
			v.publish()
			if v.lake.state != nil {
				t.Errorf("%s, of %d commits: the whole state was read", c.what, n)
			}
			costs[c.what] = append(costs[c.what], asked)
		}
	}
	for what, c := range costs {
		few, many := c[0], c[1]
		t.Logf("%s: %d requests, then %d; %d manifests of %d bytes, then %d of %d", what, few.requests, many.requests, few.manifests, few.bytes, many.manifests, many.bytes)
		if most := few.requests + 40; many.requests > most { // entries since the last checkpoint are read
			t.Errorf("%s: %d requests, and %d with four times the files", what, few.requests, many.requests)
		}
		if what != "the rest of a file" && (many.bytes > few.bytes*5/4 || many.manifests > few.manifests+1) {
			t.Errorf("%s: %d manifests of %d bytes were read, and %d of %d with four times the files", what, few.manifests, few.bytes, many.manifests, many.bytes)
		}
	}
}
