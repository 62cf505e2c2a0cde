package archive

import (
	"cmp"
	"path"
	"slices"
	"sort"
	"strings"
)

// index is where the members of an archive are. Each question costs a search: an archive may hold as many files of one
// name as members that ask for it.
type index struct {
	bunches map[string]*bunch // by base name
	folders map[string]place  // the first file of each folder, hidden ones aside
}

func newIndex() *index { return &index{bunches: map[string]*bunch{}, folders: map[string]place{}} }

// bunch is the members with one base name.
type bunch struct {
	places []place // in the archive's order
	sorted []int   // indices in places, by the elements of their paths from the last one on; nil: not made yet
	first  map[string][2]int
}

func (x *index) add(p place) {
	name := path.Clean(p.name)
	base := path.Base(p.name)
	b := x.bunches[base]
	if b == nil {
		b = &bunch{}
		x.bunches[base] = b
	}
	b.places = append(b.places, p)
	if folder := path.Dir(name); !strings.HasPrefix(base, ".") {
		if _, ok := x.folders[folder]; !ok {
			x.folders[folder] = p
		}
	}
}

// at returns the first member at a path, other than the asker.
func (b *bunch) at(name string, asker place) (place, bool) {
	b.sort()
	i := sort.Search(len(b.sorted), func(i int) bool { return compareTails(b.name(i), name, -1) >= 0 })
	for ; i < len(b.sorted) && compareTails(b.name(i), name, -1) == 0; i++ {
		if p := b.places[b.sorted[i]]; p.at != asker.at && b.name(i) == name {
			return p, true
		}
	}
	return place{}, false
}

// nearest returns the member, other than the asker, with the most trailing elements of its path in common with want.
// Of several it returns the first.
func (b *bunch) nearest(want string, asker place) (place, bool) {
	b.sort()
	at := sort.Search(len(b.sorted), func(i int) bool { return compareTails(b.name(i), want, -1) >= 0 })
	most := 0
	for i := max(0, at-2); i < min(at+2, len(b.sorted)); i++ { // the asker is one of them at most
		if b.places[b.sorted[i]].at != asker.at {
			most = max(most, sameTail(b.name(i), want))
		}
	}
	if most == 0 {
		return place{}, false
	}
	for _, i := range b.firstTwo(want, most) {
		if p := b.places[i]; p.at != asker.at {
			return p, true
		}
	}
	return place{}, false
}

// firstTwo returns the first two members with n trailing elements in common with want, a single one twice.
func (b *bunch) firstTwo(want string, n int) [2]int {
	key := lastElements(want, n)
	if two, ok := b.first[key]; ok {
		return two
	}
	from := sort.Search(len(b.sorted), func(i int) bool { return compareTails(b.name(i), want, n) >= 0 })
	to := sort.Search(len(b.sorted), func(i int) bool { return compareTails(b.name(i), want, n) > 0 })
	two := [2]int{len(b.places), len(b.places)}
	for _, i := range b.sorted[from:to] {
		if i < two[0] {
			two = [2]int{i, two[0]}
		} else if i < two[1] {
			two[1] = i
		}
	}
	if two[1] == len(b.places) {
		two[1] = two[0]
	}
	if b.first == nil {
		b.first = map[string][2]int{}
	}
	b.first[strings.Clone(key)] = two
	return two
}

func (b *bunch) name(i int) string { return path.Clean(b.places[b.sorted[i]].name) }

func (b *bunch) sort() {
	if b.sorted != nil {
		return
	}
	b.sorted = make([]int, len(b.places))
	for i := range b.sorted {
		b.sorted[i] = i
	}
	slices.SortStableFunc(b.sorted, func(i, j int) int {
		return compareTails(path.Clean(b.places[i].name), path.Clean(b.places[j].name), -1)
	})
}

// compareTails compares two paths by their last n elements, from the last one on; n < 0: by all of them.
func compareTails(a, b string, n int) int {
	for ; n != 0 && a != "" && b != ""; n-- {
		i, j := strings.LastIndexByte(a, '/'), strings.LastIndexByte(b, '/')
		if c := cmp.Compare(a[i+1:], b[j+1:]); c != 0 {
			return c
		}
		a, b = a[:max(i, 0)], b[:max(j, 0)]
	}
	if n == 0 {
		return 0
	}
	return cmp.Compare(len(a), len(b))
}

// lastElements returns the end of a path that holds its last n elements.
func lastElements(name string, n int) string {
	rest := name
	for ; n > 0 && rest != ""; n-- {
		rest = rest[:max(0, strings.LastIndexByte(rest, '/'))]
	}
	return strings.TrimPrefix(name[len(rest):], "/")
}

// sameTail counts the trailing path elements that a and b share.
func sameTail(a, b string) int {
	n := 0
	for a != "" && b != "" {
		i, j := strings.LastIndexByte(a, '/'), strings.LastIndexByte(b, '/')
		if a[i+1:] != b[j+1:] {
			break
		}
		n++
		a, b = a[:max(i, 0)], b[:max(j, 0)]
	}
	return n
}
