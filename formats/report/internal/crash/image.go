package crash

import (
	"cmp"
	"slices"
	"sort"

	"github.com/symlake/symlake/formats/internal/scan"
)

// Image is one entry of a list of images.
type Image struct {
	Name, Path string
	UUID       string // lower case with dashes; "" if it is not said, or zero
	Arch       string
	Start, End uint64 // [start, end); end 0: not said
}

// Images are sorted by start once they are complete.
type Images []Image

// Sort sorts the images by where they start; the other methods need it.
func (l Images) Sort() {
	slices.SortStableFunc(l, func(a, b Image) int { return cmp.Compare(a.Start, b.Start) })
}

// At is the image that holds addr, nil if none does.
func (l Images) At(addr uint64) *Image {
	i := sort.Search(len(l), func(i int) bool { return l[i].Start > addr }) - 1
	if i < 0 || l[i].End != 0 && addr >= l[i].End || l[i].End == 0 && addr-l[i].Start >= 1<<32 {
		return nil
	}
	return &l[i]
}

// based is the image that was loaded at start, nil if none was.
func (l Images) based(start uint64) *Image {
	if i := l.At(start); i != nil && i.Start == start {
		return i
	}
	return nil
}

// named is the one image of that name, nil if there is none or several.
func (l Images) named(name string) (found *Image) {
	for i := range l {
		if l[i].Name == name || string(scan.Base([]byte(l[i].Path))) == name {
			if found != nil {
				return nil
			}
			found = &l[i]
		}
	}
	return found
}
