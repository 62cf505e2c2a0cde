package native

import (
	"cmp"
	"slices"

	"github.com/symlake/symlake/formats/symbol"
)

// Parts makes the parts of an artifact of sections by their addresses: positions from base, ascending and apart. Of more
// than an artifact may have it keeps the largest.
func Parts(sections []symbol.Part, base uint64) []symbol.Part {
	all := slices.DeleteFunc(sections, func(p symbol.Part) bool { return p.Start < base || p.End <= p.Start })
	slices.SortStableFunc(all, func(a, b symbol.Part) int { return cmp.Compare(a.Start, b.Start) })
	kept := all[:0]
	for _, p := range all {
		p.Start, p.End, p.Name = p.Start-base, p.End-base, p.Name[:min(len(p.Name), MaxPlaceName)]
		if n := len(kept); n > 0 && kept[n-1].End > p.Start {
			p.Start = kept[n-1].End
		}
		if p.Start < p.End {
			kept = append(kept, p)
		}
	}
	if len(kept) > symbol.MaxParts {
		slices.SortStableFunc(kept, func(a, b symbol.Part) int { return cmp.Compare(b.End-b.Start, a.End-a.Start) })
		kept = kept[:symbol.MaxParts]
		slices.SortFunc(kept, func(a, b symbol.Part) int { return cmp.Compare(a.Start, b.Start) })
	}
	return slices.Clip(kept)
}
