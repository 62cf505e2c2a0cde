package regions

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"
)

// row makes n regions of one table, at the two first bytes of a key.
func row(n int, server string) []*Region {
	list := make([]*Region, n)
	for i := range list {
		r := &Region{Encoded: fmt.Sprint(server, i), Server: server}
		if i > 0 {
			r.Start = binary.BigEndian.AppendUint32(nil, uint32(i))
			list[i-1].End = r.Start
		}
		list[i] = r
	}
	return list
}

func at(i int) []byte { return binary.BigEndian.AppendUint32(nil, uint32(i)) }

func TestCache(t *testing.T) {
	var g Cache
	list := row(8, "a")
	g.Fill(list[2:4]...)
	g.Fill(list...)
	if g.Len() != 8 || g.Find(at(5)) != list[5] || g.Find(nil) != list[0] || g.Find(at(900)) != list[7] {
		t.Fatal("fill")
	}
	other := row(8, "b")
	g.Fill(other...)
	if g.Find(at(5)) != list[5] {
		t.Error("fill changed what was there")
	}
	g.Put(other[5])
	if g.Find(at(5)) != other[5] || g.Find(at(4)) != list[4] || g.Len() != 8 {
		t.Error("put")
	}
	merged := &Region{Start: at(2), End: at(6)}
	g.Put(merged)
	if g.Find(at(3)) != merged || g.Find(at(5)) != merged || g.Find(at(6)) != list[6] || g.Len() != 5 {
		t.Error("merge", g.Len())
	}
	halves := []*Region{{Start: at(4), End: at(6)}, {Start: at(2), End: at(4)}} // in no order
	g.Put(halves...)
	if g.Find(at(3)) != halves[1] || g.Find(at(5)) != halves[0] || g.Len() != 6 {
		t.Error("split", g.Len())
	}
	g.Moved(halves[0], "c")
	if r := g.Find(at(5)); r == nil || r.Server != "c" {
		t.Error("moved")
	}
	g.Forget(halves[0]) // which is there no more
	if g.Find(at(5)) == nil {
		t.Error("another region was forgotten")
	}
	g.Forget(g.Find(at(5)))
	if g.Find(at(5)) != nil || g.Len() != 5 {
		t.Error("forget")
	}
}

func TestHoles(t *testing.T) {
	var g Cache
	now := time.Unix(1000, 0)
	seen, lost := errors.New("seen"), errors.New("lost")
	if g.Missing(at(2), at(4), seen, lost, now) != seen || g.Lost(at(3), now) != seen || g.Lost(at(3), now.Add(glance)) != nil {
		t.Error("a hole is believed at once")
	}
	now = now.Add(2 * time.Second)
	if g.Missing(at(2), at(4), seen, lost, now) != seen {
		t.Error("after 2 s")
	}
	now = now.Add(2 * time.Second)
	if g.Missing(at(2), at(4), seen, lost, now) != lost || g.Lost(at(3), now) != lost || g.Lost(at(4), now) != nil || g.Lost(at(1), now) != nil {
		t.Error("after 4 s")
	}
	if g.Lost(at(3), now.Add(belief)) != nil {
		t.Error("it is believed for ever")
	}
	if g.Put(&Region{Start: at(1), End: at(3)}); g.Lost(at(3), now) != nil {
		t.Error("it is believed although a region fills it")
	}
	if g.Bar(nil, nil, lost, now); g.Lost(at(7), now) != lost {
		t.Error("bar")
	}
	if g.Missing(at(7), nil, seen, lost, now.Add(time.Hour)) != seen {
		t.Error("an hour later")
	}
}

// The regions of a table go in at linear cost, page by page and all at once.
func TestLinearCost(t *testing.T) {
	const most = 100_000
	took := func(n int) time.Duration {
		best := time.Hour
		for range 3 {
			var g Cache
			list := row(n, "a")
			began := time.Now()
			g.Put(list...)
			g.Put(row(n, "b")...)
			for i := 0; i < n; i += n / 20 {
				g.Fill(list[i:min(i+n/20, n)]...)
			}
			best = min(best, time.Since(began))
			if g.Len() != n {
				t.Fatal(g.Len())
			}
		}
		return best
	}
	small, large := took(most/100), took(most)
	if large > 2000*small { // quadratic cost is 10,000 times
		t.Errorf("%d regions take %v, %d take %v", most/100, small, most, large)
	}
}

// FuzzCache compares a cache with the plain rule: each region stays until a later one overlaps it.
func FuzzCache(f *testing.F) {
	f.Add(uint64(1))
	f.Fuzz(func(t *testing.T, seed uint64) {
		rng := rand.New(rand.NewPCG(seed, 0))
		var g Cache
		var plain []*Region
		for range 30 {
			start, n := rng.IntN(20), 1+rng.IntN(6)
			r := &Region{Start: at(start), End: at(start + n)}
			if rng.IntN(8) == 0 {
				r.End = nil
			}
			overlaps := func(o *Region) bool { return !o.before(r) && !r.before(o) }
			switch rng.IntN(4) {
			case 0:
				free := true
				for _, o := range plain {
					free = free && !overlaps(o)
				}
				if g.Fill(r); free {
					plain = append(plain, r)
				}
			case 1:
				if o := g.Find(at(start)); o != nil {
					g.Forget(o)
					plain = without(plain, func(p *Region) bool { return p == o })
				}
			default:
				g.Put(r)
				plain = append(without(plain, overlaps), r)
			}
			for key := range 30 {
				var want *Region
				for _, o := range plain {
					if o.Holds(at(key)) {
						want = o
					}
				}
				if got := g.Find(at(key)); got != want {
					t.Fatalf("key %d: %v, want %v", key, got, want)
				}
			}
		}
	})
}

func without(list []*Region, out func(*Region) bool) (kept []*Region) {
	for _, r := range list {
		if !out(r) {
			kept = append(kept, r)
		}
	}
	return kept
}
