package main

import (
	"debug/elf"
	"debug/macho"
	"math/rand/v2"
	"sort"
)

// span is code: of a function, or of a section.
type span struct{ at, size uint64 }

// elfSpans are the function symbols; without a symbol table the executable
// sections.
func elfSpans(f *elf.File) []span {
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
	return spans
}

// machoSpans are the sections with code: symbols have no sizes.
func machoSpans(f *macho.File) []span {
	var spans []span
	for _, s := range f.Sections {
		if s.Seg == "__TEXT" && s.Flags&0x80000400 != 0 && s.Size > 0 {
			spans = append(spans, span{s.Addr, s.Size})
		}
	}
	return spans
}

// drawSpans gives n addresses of spans, each byte of them as likely as any other,
// from a fixed seed.
func drawSpans(spans []span, n int) []uint64 {
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
	return out
}
