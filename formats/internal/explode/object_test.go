package explode

import (
	"bytes"
	"cmp"
	"context"
	"debug/elf"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/symlake/symlake/formats"
	"github.com/symlake/symlake/formats/internal/dwarf"
	"github.com/symlake/symlake/formats/internal/native"
	"github.com/symlake/symlake/formats/symbol"
)

// object is a program file as the standard library reads it, so that these
// tests depend on no reader of ours.
type object struct {
	sections dwarf.Sections
	image    native.Image
	names    map[string]bool // all symbols; true: functions
	bytes    int64           // of the debug sections
}

// openObject reads a program file. mapped false hands the sections over as
// readers only.
func openObject(t testing.TB, path string, mapped bool) *object {
	t.Helper()
	return openSections(t, path, mapped, func(s *elf.Section) ([]byte, error) { return s.Data() })
}

// openMapped reads a program file without compressed sections from a
// mapping.
func openMapped(t testing.TB, path string) *object {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	b, err := mapped(f)
	if err != nil {
		t.Fatal(err)
	}
	return openSections(t, path, true, func(s *elf.Section) ([]byte, error) {
		if s.Flags&elf.SHF_COMPRESSED != 0 {
			return s.Data()
		}
		return b[s.Offset : s.Offset+s.Size], nil
	})
}

func openSections(t testing.TB, path string, mapped bool, data func(*elf.Section) ([]byte, error)) *object {
	t.Helper()
	f, err := elf.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	o := &object{}
	lim := formats.Limits{}.WithDefaults()
	section := func(name string) *formats.Input {
		s := f.Section(name)
		if s == nil || s.Type == elf.SHT_NOBITS {
			return nil
		}
		b, err := data(s)
		if err != nil {
			t.Fatal(err)
		}
		o.bytes += int64(len(b))
		in := &formats.Input{Name: name, Size: int64(len(b)), Limits: &lim, Bytes: bytes.NewReader(b)}
		if mapped {
			in.Mapped = b
		}
		return in
	}
	o.sections = dwarf.Sections{
		Info: section(".debug_info"), Types: section(".debug_types"), Abbrev: section(".debug_abbrev"),
		Line: section(".debug_line"), LineStr: section(".debug_line_str"),
		Str: section(".debug_str"), StrOffsets: section(".debug_str_offsets"), Addr: section(".debug_addr"),
		Ranges: section(".debug_ranges"), Rnglists: section(".debug_rnglists"),
		BigEndian: f.Data == elf.ELFDATA2MSB, AddrSize: 8, Format: "elf",
	}
	if f.Class == elf.ELFCLASS32 {
		o.sections.AddrSize = 4
	}
	for _, p := range f.Progs {
		if p.Type == elf.PT_LOAD && p.Flags&elf.PF_X != 0 {
			o.image.Code = append(o.image.Code, native.Span{Start: p.Vaddr, End: p.Vaddr + p.Memsz})
		}
	}
	if f.Type == elf.ET_REL {
		for _, s := range f.Sections {
			if s.Flags&elf.SHF_EXECINSTR != 0 && s.Size > 0 {
				o.image.Code = append(o.image.Code, native.Span{Start: 0, End: s.Size})
				break
			}
		}
	}
	slices.SortFunc(o.image.Code, func(a, b native.Span) int { return cmp.Compare(a.Start, b.Start) })
	syms, _ := f.Symbols()
	o.symbols(f, syms, symbol.RankSymtab)
	syms, _ = f.DynamicSymbols()
	o.symbols(f, syms, symbol.RankDynsym)
	slices.SortStableFunc(o.image.Symbols, func(a, b native.Symbol) int {
		return cmp.Or(cmp.Compare(a.Addr, b.Addr), cmp.Compare(a.Rank, b.Rank))
	})
	return o
}

func (o *object) symbols(f *elf.File, syms []elf.Symbol, rank symbol.Rank) {
	file := ""
	for _, s := range syms {
		name, version, _ := strings.Cut(s.Name, "@")
		if strings.ContainsAny(version, "#:/<>() ") { // Crystal's names have the sign
			name = s.Name
		}
		if o.names == nil {
			o.names = map[string]bool{}
		}
		kind := elf.ST_TYPE(s.Info)
		code := kind == elf.STT_FUNC || kind == elf.STT_LOOS
		o.names[s.Name] = o.names[s.Name] || code
		o.names[name] = o.names[name] || code
		if kind == elf.STT_FILE {
			file = s.Name
		}
		if !code || s.Section == elf.SHN_UNDEF {
			continue
		}
		addr := s.Value
		if f.Machine == elf.EM_ARM {
			addr &^= 1
		}
		sym := native.Symbol{Addr: addr, Size: s.Size, Name: name, Rank: rank}
		if elf.ST_BIND(s.Info) == elf.STB_LOCAL {
			sym.File = file
		}
		o.image.Symbols = append(o.image.Symbols, sym)
	}
}

// exploder opens the object's units.
func (o *object) exploder(t testing.TB) *Exploder {
	t.Helper()
	lim := formats.Limits{}.WithDefaults()
	d, err := dwarf.Open(context.Background(), o.sections, &lim)
	if err != nil {
		t.Fatal(err)
	}
	return Units(d, &o.image)
}

// answer is a range with its chain.
type answer struct {
	start, end uint64
	frames     []symbol.Frame
}

// piece is a run as it is swept.
type piece struct {
	start, end uint64
	rank       symbol.Rank
	part, seq  int
	ranges     []answer
}

func newPiece(r *symbol.Run, part, seq int) piece {
	p := piece{start: r.Ranges[0].Start, end: r.Ranges[len(r.Ranges)-1].End, rank: r.Rank, part: part, seq: seq}
	for k, v := range r.Ranges {
		frames := r.Chain(k, nil)
		for f := range frames {
			frames[f].Linkage, frames[f].File = strings.Clone(frames[f].Linkage), strings.Clone(frames[f].File)
		}
		p.ranges = append(p.ranges, answer{v.Start, v.End, frames})
	}
	return p
}

// answers explodes everything, checks each part's runs, and settles what
// parts and symbols both say as the sweep does.
func (o *object) answers(t testing.TB) ([]answer, symbol.Quality) {
	t.Helper()
	x := o.exploder(t)
	var all []piece
	var sum symbol.Quality
	for i := range x.Parts() {
		c := newChecker(t)
		q, err := x.Part(context.Background(), i, func(r *symbol.Run) error {
			c.run(r)
			all = append(all, newPiece(r, i, len(all)))
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		c.disjoint()
		sum.Units += q.Units
		sum.UnitsBroken += q.UnitsBroken
		sum.LinesBroken += q.LinesBroken
		sum.Missing = append(sum.Missing, q.Missing...)
	}
	c := newChecker(t)
	rank := symbol.RankSymtab
	err := Symbols(&o.image, func(r *symbol.Run) error {
		if r.Rank != rank {
			c.disjoint()
			c, rank = newChecker(t), r.Rank
		}
		c.run(r)
		all = append(all, newPiece(r, x.Parts(), len(all)))
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	c.disjoint()
	return sweep(all), sum
}

// sweep is a plain sweep over runs: by rank, then start, part and sequence. A
// run that has begun keeps its code: two units may describe one function by
// different rows.
func sweep(all []piece) []answer {
	slices.SortFunc(all, func(a, b piece) int {
		return cmp.Or(cmp.Compare(a.rank, b.rank), cmp.Compare(a.start, b.start), cmp.Compare(a.part, b.part), cmp.Compare(a.seq, b.seq))
	})
	var out []answer
	for len(all) > 0 {
		n := 0
		for n < len(all) && all[n].rank == all[0].rank {
			n++
		}
		var layer []answer
		end := uint64(0)
		for _, p := range all[:n] {
			for _, a := range p.ranges {
				if a.start = max(a.start, end); a.start < a.end {
					layer = append(layer, a)
				}
			}
			end = max(end, p.end)
		}
		all = all[n:]
		// The free part of out.
		var free []answer
		i := 0
		for _, a := range layer {
			for i < len(out) && out[i].end <= a.start {
				i++
			}
			for j := i; j < len(out) && out[j].start < a.end; j++ {
				if a.start < out[j].start {
					b := a
					b.end = out[j].start
					free = append(free, b)
				}
				a.start = max(a.start, out[j].end)
			}
			if a.start < a.end {
				free = append(free, a)
			}
		}
		out = append(out, free...)
		slices.SortFunc(out, func(a, b answer) int { return cmp.Compare(a.start, b.start) })
	}
	return out
}

func find(all []answer, pos uint64) []symbol.Frame {
	i, _ := slices.BinarySearchFunc(all, pos, func(a answer, pos uint64) int {
		if a.end <= pos {
			return -1
		}
		return 1
	})
	if i < len(all) && all[i].start <= pos {
		return all[i].frames
	}
	return nil
}

// checker holds what every part's runs must keep.
type checker struct {
	t     testing.TB
	spans []native.Span
}

func newChecker(t testing.TB) *checker { return &checker{t: t} }

func (c *checker) run(r *symbol.Run) {
	c.t.Helper()
	if len(r.Ranges) == 0 {
		c.t.Fatal("a run without ranges")
	}
	if len(r.Strings) == 0 || r.Strings[0] != "" {
		c.t.Fatalf("string table: %d strings", len(r.Strings))
	}
	for i, s := range r.Scopes {
		if int(s.Parent) >= i || s.Parent < -1 || int(s.Function) >= len(r.Strings) || int(s.Call.File) >= len(r.Strings) {
			c.t.Fatalf("scope %d of %d: %+v", i, len(r.Scopes), s)
		}
	}
	for i, v := range r.Ranges {
		if v.Start >= v.End || int(v.Scope) >= len(r.Scopes) || v.Scope < 0 || int(v.At.File) >= len(r.Strings) {
			c.t.Fatalf("range %d: %+v", i, v)
		}
		if i > 0 && (r.Ranges[i-1].End != v.Start || r.Ranges[i-1].Scope == v.Scope && r.Ranges[i-1].At == v.At) {
			c.t.Fatalf("ranges %+v, %+v", r.Ranges[i-1], v)
		}
	}
	c.spans = append(c.spans, native.Span{Start: r.Ranges[0].Start, End: r.Ranges[len(r.Ranges)-1].End})
}

func (c *checker) disjoint() {
	c.t.Helper()
	slices.SortFunc(c.spans, func(a, b native.Span) int { return cmp.Compare(a.Start, b.Start) })
	for i := 1; i < len(c.spans); i++ {
		if c.spans[i-1].End > c.spans[i].Start {
			c.t.Fatalf("runs overlap: %+v, %+v", c.spans[i-1], c.spans[i])
		}
	}
}
