package cache

import (
	"sync"
	"testing"

	"pgregory.net/rapid"
)

func weightOf(_ int, v *int64) int64 { return *v }

func value(n int64) *int64 { return &n }

// check holds the order, the map and the weight against each other, and returns the keys from the newest on.
func check(t testing.TB, c *Cache[int, *int64]) (keys []int) {
	t.Helper()
	held, inMap := int64(0), 0
	for e := c.newest; e != nil; e = e.older {
		keys = append(keys, e.key)
		held += e.weight
		if c.shard(e.key).get(e.key) != e {
			t.Fatalf("key %d is in the order and not in the map", e.key)
		}
		if e.older == nil && c.oldest != e {
			t.Fatal("the order ends elsewhere")
		}
	}
	for i := range c.shards {
		inMap += len(c.shards[i].of)
	}
	if held != c.held || held > c.most || inMap != len(keys) {
		t.Fatalf("holds %d of %d, says %d; %d keys in order, %d in the map", held, c.most, c.held, len(keys), inMap)
	}
	return keys
}

// A scan through many keys leaves a key in use.
func TestScan(t *testing.T) {
	t.Parallel()
	c := New(100, weightOf)
	for i := range 10 {
		c.Set(i, value(10))
	}
	for i := range 1000 {
		c.Set(1000+i, value(10))
		if _, ok := c.Get(3); !ok {
			t.Fatalf("after %d others the key is gone", i)
		}
		if n := len(check(t, c)); n != 10 {
			t.Fatalf("%d entries", n)
		}
	}
	if _, ok := c.Get(4); ok {
		t.Error("a key that was never asked for stayed")
	}
}

func TestGiant(t *testing.T) {
	t.Parallel()
	c := New(100, weightOf)
	c.Set(1, value(1))
	c.Set(1, value(101)) // its last value is old and must go
	if _, ok := c.Get(1); ok {
		t.Error("a value above the limit is kept, or the one before it")
	}
	check(t, c)
	grown := value(10)
	c.Set(2, grown)
	c.Set(3, value(10))
	*grown = 95
	c.Reweigh(2, func(v *int64) bool { return v != grown })
	if len(check(t, c)) != 2 {
		t.Error("another value was weighed")
	}
	c.Get(2)
	c.Reweigh(2, func(v *int64) bool { return v == grown })
	if keys := check(t, c); len(keys) != 1 || keys[0] != 2 {
		t.Errorf("left %v, want 2", keys)
	}
	c.Reweigh(7, func(*int64) bool { t.Error("asked about a key that is absent"); return true })
}

// Any order of calls keeps map, order and weight together, and a value that is found is the last one set.
func TestModel(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		c := New(50, weightOf)
		last := make(map[int]*int64)
		for range rapid.IntRange(1, 200).Draw(t, "calls") {
			key := rapid.IntRange(0, 15).Draw(t, "key")
			switch rapid.IntRange(0, 2).Draw(t, "call") {
			case 0:
				last[key] = value(rapid.Int64Range(1, 60).Draw(t, "weight"))
				c.Set(key, last[key])
			case 1:
				if v, ok := c.Get(key); ok && v != last[key] {
					t.Fatalf("key %d has an old value", key)
				}
			case 2:
				if v := last[key]; v != nil {
					*v = rapid.Int64Range(1, 60).Draw(t, "new weight")
				}
				c.Reweigh(key, func(v *int64) bool { return v == last[key] })
			}
			held := int64(0)
			for e := c.newest; e != nil; e = e.older {
				held += e.weight
			}
			if held != c.held || held > c.most {
				t.Fatalf("holds %d, says %d", held, c.held)
			}
		}
	})
}

func TestConcurrent(t *testing.T) {
	t.Parallel()
	c := New(500, weightOf)
	var group sync.WaitGroup
	for g := range 8 {
		group.Go(func() {
			for i := range 2000 {
				key := (i*7 + g) % 100
				if v, ok := c.Get(key); ok && *v != int64(key%9+1) {
					t.Errorf("key %d has the value %d", key, *v)
				}
				c.Set(key, value(int64(key%9+1)))
				c.Reweigh(key, func(*int64) bool { return true })
			}
		})
	}
	group.Wait()
	check(t, c)
}

func BenchmarkGet(b *testing.B) {
	c := New(1<<20, weightOf)
	for i := range 1 << 14 {
		c.Set(i, value(1))
	}
	b.RunParallel(func(pb *testing.PB) {
		for i := 0; pb.Next(); i++ {
			c.Get(i & (1<<14 - 1))
		}
	})
}
