//go:build unix

package dwarf

import (
	"debug/elf"
	"debug/macho"
	"os"
	"testing"

	"github.com/symlake/symlake/formats"
	"github.com/symlake/symlake/formats/formattest"
)

// BenchmarkFloor passes over the file that SYMLAKE_FLOOR names and keeps nothing: all units with their tables of
// abbreviations, the same with all entries, skipped one by one, and with all line programs. make bench prints it beside what an ingest spends on them. The file is of ELF or one slice of Mach-O,
// with its DWARF not compressed.
func BenchmarkFloor(b *testing.B) {
	path := os.Getenv("SYMLAKE_FLOOR")
	if path == "" {
		b.Skip("set SYMLAKE_FLOOR to a file with DWARF")
	}
	lim := formats.Limits{}.WithDefaults()
	sections := floorSections(b, path, &lim)
	for _, pass := range []struct {
		name string
		over func(*Reader) error
	}{{"units", func(*Reader) error { return nil }}, {"entries", skipEntries}, {"lines", func(r *Reader) error {
		_, err := r.Lines(func(uint64, uint64) bool { return false }, false)
		return err
	}}} {
		b.Run(pass.name, func(b *testing.B) {
			from := formattest.Spent(b)
			for b.Loop() {
				floorPass(b, sections, &lim, pass.over)
			}
			b.ReportMetric(float64(formattest.Spent(b)-from)/float64(b.N), "cpu-ns/op")
		})
	}
}

// floorPass runs a pass over every unit.
func floorPass(b *testing.B, s *Sections, lim *formats.Limits, over func(*Reader) error) {
	d, err := Open(b.Context(), *s, lim)
	if err != nil {
		b.Fatal(err)
	}
	r := d.Reader()
	defer r.Close()
	for i := range d.Units() {
		u, err := r.Open(i)
		if err == nil && u.Lines {
			err = over(r)
		}
		if err != nil {
			b.Fatal(err)
		}
	}
}

// skipEntries goes to the end of the unit that is open.
func skipEntries(r *Reader) error {
	b, p := r.buf, int(r.u.first-r.base)
	for p < len(b) && r.base+uint64(p) < r.u.end {
		start := p
		code, next := uleb(b, p)
		if p = next; code == 0 {
			continue
		}
		a := r.t.find(code)
		if next < 0 || a == nil {
			return r.d.corrupt(&r.d.info, r.base+uint64(start), "an abbreviation code")
		}
		if p = r.t.skipEntry(a, b, p, r.u.shape, r.d.big); p < 0 {
			return r.d.corrupt(&r.d.info, r.base+uint64(start), "an entry")
		}
	}
	return nil
}

// floorSections reads the debug sections of a file with the standard library.
func floorSections(b *testing.B, path string, lim *formats.Limits) *Sections {
	b.Helper()
	if f, err := elf.Open(path); err == nil {
		defer f.Close()
		return sectionsOf(b, f, true)
	}
	f, err := macho.Open(path)
	if err != nil {
		b.Fatal(err)
	}
	defer f.Close()
	section := func(name string) *formats.Input {
		s := f.Section(name)
		if s == nil {
			return nil
		}
		text, err := s.Data()
		if err != nil {
			b.Fatal(err)
		}
		return input(name, text, lim, true)
	}
	return &Sections{Info: section("__debug_info"), Abbrev: section("__debug_abbrev"), Line: section("__debug_line"), Str: section("__debug_str"), Ranges: section("__debug_ranges"), AddrSize: 8, Format: "macho"}
}
