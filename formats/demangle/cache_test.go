package demangle

import (
	"fmt"
	"runtime"
	"sync"
	"testing"
)

func TestCache(t *testing.T) {
	c := NewCache(1 << 20)
	var wait sync.WaitGroup
	for range 4 {
		wait.Go(func() {
			for i := range 5000 {
				name := fmt.Sprintf("_Z%df%dv", len(fmt.Sprint(i))+1, i)
				if got, want := c.Name(name), fmt.Sprintf("f%d()", i); got != want {
					t.Errorf("%s: %s, want %s", name, got, want)
				}
				if got := c.Name("_ZN4game6Engine4stepEi"); got != "game::Engine::step(int)" {
					t.Errorf("of the name in use: %s", got)
				}
			}
		})
	}
	wait.Wait()
	for _, in := range []string{"", "main", "_ZTotally wrong"} {
		if got := c.Name(in); got != in {
			t.Errorf("%q became %q", in, got)
		}
	}
}

// TestName32: names of C lose their marks, and names of C++ below them are read.
func TestName32(t *testing.T) {
	c := NewCache(0)
	for in, want := range map[string]string{"_f@8": "f", "@f@8": "f", "f@@16": "f", "__Z1fi@4": "f(int)", "?f@@YGXH@Z": "f(int)", "_f": "_f", "main": "main", "_Z1fi": "f(int)", "": ""} {
		if got := c.Name32(in); got != want {
			t.Errorf("%s: %q, want %q", in, got, want)
		}
	}
	if got := c.Name("_f@8"); got != "_f@8" {
		t.Errorf("elsewhere: %s", got)
	}
}

// TestCacheBounds puts ten times what the cache may hold into it, and checks
// that it stays below its bound and that a name in constant use stays in.
func TestCacheBounds(t *testing.T) {
	const most = 1 << 20
	c := NewCache(most)
	const hot = "_ZN4game6Engine4stepEi"
	c.Name(hot)
	for i := range 100_000 {
		c.Name(fmt.Sprintf("_Z7f%06dv", i))
		if i%10 == 0 {
			c.Name(hot)
		}
	}
	var bytes int64
	var entries int
	for i := range c.shards {
		s := &c.shards[i]
		for _, m := range []map[string]string{s.young, s.old} {
			for k, v := range m {
				bytes += entryBytes + int64(len(k)+len(v))
				entries++
			}
		}
	}
	if bytes > most || entries < 1000 {
		t.Errorf("%d entries, %d bytes, at most %d", entries, bytes, most)
	}
	before := demangled(c, hot)
	if before == 0 {
		t.Errorf("the name in use was dropped")
	}
	runtime.KeepAlive(c)
}

// demangled counts in how many generations a name is.
func demangled(c *Cache, name string) int {
	n := 0
	for i := range c.shards {
		for _, m := range []map[string]string{c.shards[i].young, c.shards[i].old} {
			if _, ok := m[name]; ok {
				n++
			}
		}
	}
	return n
}

func BenchmarkName(b *testing.B) {
	for b.Loop() {
		Name("_ZNK4game6Engine6energyEPKNS_4Vec3Ei")
	}
}

func BenchmarkCacheHit(b *testing.B) {
	c := NewCache(0)
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			c.Name("_ZNK4game6Engine6energyEPKNS_4Vec3Ei")
		}
	})
}
