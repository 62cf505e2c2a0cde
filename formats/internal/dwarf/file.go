package dwarf

import (
	"context"

	"github.com/symlake/symlake/formats"
)

// File is a program file with debug sections.
type File interface {
	// Input is a section by its ELF name, nil if there is none.
	Input(name string) (*formats.Input, error)
	BigEndian() bool
	AddrSize() int // bytes
}

// SectionsOf finds the sections that hold code's DWARF; types, macros and
// locations stay packed.
func SectionsOf(f File, format string) (Sections, error) {
	s := Sections{BigEndian: f.BigEndian(), AddrSize: f.AddrSize(), Format: format}
	for _, want := range []struct {
		name string
		to   **formats.Input
	}{
		{".debug_info", &s.Info},
		{".debug_abbrev", &s.Abbrev},
		{".debug_line", &s.Line},
		{".debug_line_str", &s.LineStr},
		{".debug_str", &s.Str},
		{".debug_str_offsets", &s.StrOffsets},
		{".debug_addr", &s.Addr},
		{".debug_ranges", &s.Ranges},
		{".debug_rnglists", &s.Rnglists},
	} {
		var err error
		if *want.to, err = f.Input(want.name); err != nil {
			return s, err
		}
	}
	return s, nil
}

// CountUnits is the number of units of f that can hold code. It reads unit
// headers alone.
func CountUnits(ctx context.Context, f File, format string, lim *formats.Limits) (int, error) {
	info, err := f.Input(".debug_info")
	if info == nil || err != nil {
		return 0, err
	}
	d, err := Open(ctx, Sections{Info: info, BigEndian: f.BigEndian(), AddrSize: f.AddrSize(), Format: format}, lim)
	if err != nil {
		return 0, err
	}
	return d.Units(), nil
}
