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
	err := find(f, []sectionName{
		{".debug_info", &s.Info},
		{".debug_abbrev", &s.Abbrev},
		{".debug_line", &s.Line},
		{".debug_line_str", &s.LineStr},
		{".debug_str", &s.Str},
		{".debug_str_offsets", &s.StrOffsets},
		{".debug_addr", &s.Addr},
		{".debug_ranges", &s.Ranges},
		{".debug_rnglists", &s.Rnglists},
	})
	return s, err
}

// PackSectionsOf finds the sections of split units, for OpenPack. Without Info
// the file has none.
func PackSectionsOf(f File, format string) (Sections, error) {
	s := Sections{BigEndian: f.BigEndian(), AddrSize: f.AddrSize(), Format: format}
	err := find(f, []sectionName{
		{".debug_info.dwo", &s.Info},
		{".debug_abbrev.dwo", &s.Abbrev},
		{".debug_str.dwo", &s.Str},
		{".debug_str_offsets.dwo", &s.StrOffsets},
		{".debug_rnglists.dwo", &s.Rnglists},
		{".debug_cu_index", &s.Index},
	})
	return s, err
}

// sectionName says where a section is to be noted.
type sectionName struct {
	name string
	to   **formats.Input
}

func find(f File, all []sectionName) (err error) {
	for _, want := range all {
		if *want.to, err = f.Input(want.name); err != nil {
			return err
		}
	}
	return nil
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
