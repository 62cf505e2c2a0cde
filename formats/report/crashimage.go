package report

import (
	"cmp"
	"slices"
	"sort"

	"github.com/symlake/symlake/formats/internal/scan"
)

// appleImage is one entry of a list of images.
type appleImage struct {
	name, path string
	uuid       string // lower case with dashes; "" if it is not said, or zero
	arch       string
	start, end uint64 // [start, end); end 0: not said
}

// appleImages are sorted by start once they are complete.
type appleImages []appleImage

func (l appleImages) sort() {
	slices.SortStableFunc(l, func(a, b appleImage) int { return cmp.Compare(a.start, b.start) })
}

// at is the image that holds addr, nil if none does.
func (l appleImages) at(addr uint64) *appleImage {
	i := sort.Search(len(l), func(i int) bool { return l[i].start > addr }) - 1
	if i < 0 || l[i].end != 0 && addr >= l[i].end || l[i].end == 0 && addr-l[i].start >= 1<<32 {
		return nil
	}
	return &l[i]
}

// based is the image that was loaded at start, nil if none was.
func (l appleImages) based(start uint64) *appleImage {
	if i := l.at(start); i != nil && i.start == start {
		return i
	}
	return nil
}

// named is the one image of that name, nil if there is none or several.
func (l appleImages) named(name string) (found *appleImage) {
	for i := range l {
		if l[i].name == name || string(scan.Base([]byte(l[i].path))) == name {
			if found != nil {
				return nil
			}
			found = &l[i]
		}
	}
	return found
}
