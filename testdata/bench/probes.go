package main

import (
	"debug/elf"
	"math/rand/v2"
	"sort"
)

// probes draws n addresses inside function symbols, each byte of them as
// likely as any other, from a fixed seed; without a symbol table from the executable sections.
func probes(f *elf.File, n int) ([]uint64, error) {
	type span struct{ at, size uint64 }
	var spans []span
	symbols, err := f.Symbols()
	if err != nil {
		symbols = nil
	}
	for _, s := range symbols {
		if elf.ST_TYPE(s.Info) == elf.STT_FUNC && s.Size > 0 && s.Section != elf.SHN_UNDEF {
			spans = append(spans, span{s.Value, s.Size})
		}
	}
	if len(spans) == 0 {
		for _, s := range f.Sections {
			if s.Flags&elf.SHF_EXECINSTR != 0 && s.Size > 0 {
				spans = append(spans, span{s.Addr, s.Size})
			}
		}
	}
	sort.Slice(spans, func(i, j int) bool { return spans[i].at < spans[j].at })
	// Aliases would count their bytes twice.
	kept, total := spans[:0], uint64(0)
	var ends []uint64
	end := uint64(0)
	for _, s := range spans {
		if s.at < end {
			continue
		}
		end = s.at + s.size
		total += s.size
		kept = append(kept, s)
		ends = append(ends, total)
	}
	rng := rand.New(rand.NewPCG(1, 2))
	out := make([]uint64, 0, n)
	for len(out) < n && total > 0 {
		k := rng.Uint64N(total)
		i := sort.Search(len(ends), func(i int) bool { return ends[i] > k })
		out = append(out, kept[i].at+kept[i].size-(ends[i]-k))
	}
	return out, nil
}
