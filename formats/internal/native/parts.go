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

// Segments makes the segments of an artifact of segments by their addresses: positions from base, ascending. There are
// none if there are more than an artifact may have: an offset in a segment that is left out would look like data.
func Segments(segments []symbol.Segment, base uint64) []symbol.Segment {
	all := slices.DeleteFunc(segments, func(s symbol.Segment) bool {
		return s.Position < base || s.Size == 0 || s.Position+s.Size < s.Position || s.Offset+s.Stored < s.Offset
	})
	if len(all) > symbol.MaxImageSegments {
		return nil
	}
	for i := range all {
		s := &all[i]
		if s.Position -= base; s.Stored == 0 {
			s.Offset = 0
		}
	}
	slices.SortStableFunc(all, func(a, b symbol.Segment) int { return cmp.Compare(a.Position, b.Position) })
	return slices.Clip(all)
}
