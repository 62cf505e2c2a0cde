package archive

import (
	"fmt"
	"math/rand/v2"
	"path"
	"testing"
)

// The index finds what looking at every member finds.
func TestNearest(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	elements := []string{"a", "b", "c", ".", "..", "x.so"}
	random := func() string {
		name := ""
		for range r.IntN(4) {
			name += elements[r.IntN(len(elements))] + "/"
		}
		if r.IntN(8) == 0 {
			name = "/" + name
		}
		return name + []string{"x.so", "y.so"}[r.IntN(2)]
	}
	for range 2000 {
		x, all := newIndex(), []place{}
		for i := range 1 + r.IntN(12) {
			p := place{name: path.Clean(random()), at: int64(i)}
			all = append(all, p)
			x.add(p)
		}
		asker, want := all[r.IntN(len(all))], path.Clean(random())
		beside := path.Join(path.Dir(asker.name), want)
		var found, exact place
		most, at := 0, false
		for _, p := range all {
			if p.at == asker.at || path.Base(p.name) != path.Base(want) {
				continue
			}
			if p.name == beside && !at {
				exact, at = p, true
			}
			if n := sameTail(p.name, want); n > most {
				found, most = p, n
			}
		}
		b := x.bunches[path.Base(want)]
		if b == nil {
			continue
		}
		if got, ok := b.at(beside, asker); ok != at || got != exact {
			t.Fatalf("%v asks for %s: %v %t, want %v of %v", asker, beside, got, ok, exact, all)
		}
		if got, ok := b.nearest(want, asker); ok != (most > 0) || got != found {
			t.Fatalf("%v asks for %s: %v %t, want %v of %v", asker, want, got, ok, found, all)
		}
	}
	if got := fmt.Sprint(lastElements("/a/b/c", 2), lastElements("c", 1), lastElements("/c", 1)); got != "b/ccc" {
		t.Error(got)
	}
}
