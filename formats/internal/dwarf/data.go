package dwarf

import (
	"context"

	"github.com/symlake/symlake/formats"
)

// Sections is where the debug sections of one object are. A nil input is a
// section that is absent. Inputs hold the bytes as DWARF means them: inflated
// and, for relocatable files, relocated.
type Sections struct {
	Info, Types, Abbrev   *formats.Input
	Line, LineStr         *formats.Input
	Str, StrOffsets, Addr *formats.Input
	Ranges, Rnglists      *formats.Input
	Alt                   *Sections // the dwz (supplementary) file, nil: none or not found
	AltID                 string    // its build-id in hex as .gnu_debugaltlink names it, "" if the object names none
	BigEndian             bool
	AddrSize              int    // of the file's class, for what does not say its own
	Format                string // of the object, for errors: "elf"
}

// Data is the DWARF of one object. It is safe for concurrent use.
type Data struct {
	s   Sections
	lim formats.Limits
}

// Open indexes the unit headers of .debug_info; it reads no more than those.
func Open(ctx context.Context, s Sections, lim *formats.Limits) (*Data, error) {
	return &Data{s: s, lim: *lim}, nil
}

// Units is the number of units that can hold code: all but type units.
func (d *Data) Units() int { return 0 }

// Missing names what the object refers to and does not contain: "dwo:ID" or
// "dwo:NAME" of split units, "dwz:BUILD-ID". Sorted, without repeats.
func (d *Data) Missing() []string { return nil }
