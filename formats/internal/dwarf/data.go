package dwarf

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"

	"github.com/symlake/symlake/formats"
)

// Sections is where the debug sections of one object are. A nil input is a
// section that is absent. Inputs hold the bytes as DWARF means them: inflated
// and, for relocatable files, relocated. They must outlive the Data.
type Sections struct {
	Info, Abbrev          *formats.Input
	Types                 *formats.Input // recognised, never read: type units hold no code
	Line, LineStr         *formats.Input
	Str, StrOffsets, Addr *formats.Input
	Ranges, Rnglists      *formats.Input
	Alt                   *Sections      // the dwz (supplementary) file; nil: none, or not found
	AltID                 string         // its build-id in hex as the object names it, "" if it names none
	Index                 *formats.Input // .debug_cu_index of a package of split units
	BigEndian             bool
	AddrSize              int    // bytes, of the file's class: for line tables, which do not say before version 5
	Format                string // of the object, for errors: "elf"
}

// Data is the DWARF of one object. It is immutable but for caches, and safe
// for concurrent use.
type Data struct {
	format                               string
	lim                                  formats.Limits
	big                                  bool
	addrSize                             uint8
	info, abbrev, line, lineStr          section
	str, strOffsets, addr, lists, lists5 section
	altData                              *Data
	altID                                string
	file                                 Ref   // of this Data's entries
	host                                 *Data // of a Pack: whose split units it holds

	units  []unit
	parts  []int32        // indices of units that can hold code
	shared map[uint64]int // abbreviation tables that more than one unit uses

	mu         sync.Mutex
	tables     map[tableKey]*abbrevs
	tableBytes int

	readers sync.Pool
	// work counts the bytes of range lists and line programs that were run.
	// Lists and programs may be shared, so a small file could ask for endless
	// work; a sound one asks for each byte about once.
	work     atomic.Int64
	cut      atomic.Int64  // bytes of names that were cut
	compiled atomic.Int64  // bytes of abbreviation tables that were read
	packs    atomic.Int64  // how many were opened
	packed   atomic.Uint64 // bytes of their range lists
}

// Open indexes the unit headers of .debug_info and reads no more than those.
// An error means that the units cannot be told apart, or that there are more
// than lim.Units. lim must have its defaults filled in.
func Open(ctx context.Context, s Sections, lim *formats.Limits) (*Data, error) {
	d := newData(s, lim)
	if s.Alt != nil {
		alt := *s.Alt
		alt.BigEndian, alt.Format, alt.AddrSize = s.BigEndian, s.Format, s.AddrSize
		d.altData = newData(alt, lim)
		d.altData.file = altRef
		if err := d.altData.index(ctx); err != nil {
			return nil, err
		}
		d.altData.share()
	}
	if err := d.index(ctx); err != nil {
		return nil, err
	}
	d.share()
	return d, nil
}

func newData(s Sections, lim *formats.Limits) *Data {
	d := &Data{
		format: s.Format, lim: *lim, big: s.BigEndian, addrSize: uint8(s.AddrSize), altID: s.AltID,
		info:       newSection(".debug_info", 0, s.Info),
		abbrev:     newSection(".debug_abbrev", 1, s.Abbrev),
		line:       newSection(".debug_line", 2, s.Line),
		lineStr:    newSection(".debug_line_str", 3, s.LineStr),
		str:        newSection(".debug_str", 4, s.Str),
		strOffsets: newSection(".debug_str_offsets", 5, s.StrOffsets),
		addr:       newSection(".debug_addr", 6, s.Addr),
		lists:      newSection(".debug_ranges", 7, s.Ranges),
		lists5:     newSection(".debug_rnglists", 8, s.Rnglists),
		tables:     map[tableKey]*abbrevs{},
	}
	if d.addrSize != 2 && d.addrSize != 4 {
		d.addrSize = 8
	}
	return d
}

// Units is the number of units that can hold code: all but type units.
func (d *Data) Units() int { return len(d.parts) }

func (d *Data) corrupt(s *section, off uint64, want string) error {
	return &formats.Error{Format: d.format, Section: s.name, Offset: int64(off), Want: want, Err: formats.ErrCorrupt}
}

// charge counts n bytes of a list or program against the object's work.
func (d *Data) charge(s *section, off uint64, n int) error {
	const share = 64 // times the sections' size; sound files ask for less than 2
	h := d
	if d.host != nil {
		h = d.host
	}
	if h.work.Add(int64(n)) > int64(1<<20+share*(h.line.size+h.lists.size+h.lists5.size+h.packed.Load())) {
		return &formats.Error{Format: d.format, Section: s.name, Offset: int64(off), Want: "lists that are not shared without end", Err: formats.ErrLimit}
	}
	return nil
}

func (d *Data) unsupported(u *unit) error {
	if u.version >= 2 && u.version <= 5 {
		return d.corrupt(&d.info, u.off, "the header of a unit")
	}
	return &formats.Error{Format: d.format, Section: d.info.name, Offset: int64(u.off), Want: fmt.Sprintf("units of version 2 to 5, not %d", u.version), Err: formats.ErrUnsupported}
}

// Limits are the limits that Open was given.
func (d *Data) Limits() formats.Limits { return d.lim }
