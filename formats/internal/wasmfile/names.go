package wasmfile

import (
	"cmp"
	"slices"
)

// settle sorts names by their numbers. Of several for one number it keeps the first.
func settle(all []Name) []Name {
	slices.SortStableFunc(all, func(a, b Name) int { return cmp.Compare(a.Index, b.Index) })
	return slices.Clip(slices.CompactFunc(all, func(a, b Name) bool { return a.Index == b.Index }))
}

// find returns the name of a function, "" if it has none, and the names of functions behind it.
func find(all []Name, index uint32) (string, []Name) {
	i, ok := slices.BinarySearchFunc(all, index, func(n Name, index uint32) int { return cmp.Compare(n.Index, index) })
	if !ok {
		return "", all[i:]
	}
	return all[i].Text, all[i+1:]
}
