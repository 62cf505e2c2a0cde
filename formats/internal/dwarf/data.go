package dwarf

import (
	"context"
	"fmt"
	"slices"
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
	Alt                   *Sections // the dwz (supplementary) file; nil: none, or not found
	AltID                 string    // its build-id in hex as the object names it, "" if it names none
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
	alt                                  Ref // altRef if this is the Data of a dwz file

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
	work atomic.Int64
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
		d.altData.alt = altRef
		if err := d.altData.index(ctx); err != nil {
			return nil, err
		}
	}
	if err := d.index(ctx); err != nil {
		return nil, err
	}
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

// Missing names what the object refers to and does not contain: "dwo:ID" (16
// hex digits) of split units, "dwo:NAME" of those without an id, and
// "dwz:BUILD-ID". It reads the first entry of each unit. Sorted, without
// repeats; what cannot be read is left to the parts to count.
func (d *Data) Missing() []string {
	r := d.Reader()
	defer r.Close()
	var names []string
	if d.altID != "" && d.altData == nil {
		names = append(names, "dwz:"+d.altID)
	}
	var t abbrevs
	for _, i := range d.parts {
		u := &d.units[i]
		if u.bad || u.version == 5 && u.kind != utSkeleton {
			continue
		}
		if name := r.split(u, &t); name != "" {
			names = append(names, name)
		}
		r.err = nil
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// split is the name of the file that the entries of a skeleton unit are in,
// as Missing says it; "" if u is whole.
func (r *Reader) split(u *unit, t *abbrevs) string {
	if u.version == 5 && u.dwoID != 0 {
		return fmt.Sprintf("dwo:%016x", u.dwoID)
	}
	b := r.peek(&r.d.info, u.first, 16)
	code, p := uleb(b, 0)
	if p < 0 || code == 0 || r.d.parseTable(&r.blocks, u, t, code) != nil {
		return ""
	}
	a, _, err := r.d.rootOf(&r.blocks, u, t)
	if err != nil {
		return ""
	}
	return r.splitName(u, &a)
}

// SplitID is the id of the first unit that has one. Of the .dwo sections of a
// file it is what the skeleton unit in the main object knows the file by.
func (d *Data) SplitID() (id uint64, ok bool) {
	r := d.Reader()
	defer r.Close()
	var t abbrevs
	for i := range d.units {
		u := &d.units[i]
		switch {
		case u.bad:
		case u.kind == utSplitCompile || u.kind == utSkeleton:
			return u.dwoID, true
		case u.version < 5:
			if d.parseTable(&r.blocks, u, &t, 0) != nil {
				continue
			}
			a, _, err := d.rootOf(&r.blocks, u, &t)
			if err == nil && a.is(slotDwoID) {
				return a.val[slotDwoID], true
			}
		}
	}
	return 0, false
}

func (d *Data) corrupt(s *section, off uint64, want string) error {
	return &formats.Error{Format: d.format, Section: s.name, Offset: int64(off), Want: want, Err: formats.ErrCorrupt}
}

// charge counts n bytes of a list or program against the object's work.
func (d *Data) charge(s *section, off uint64, n int) error {
	const share = 64 // times the sections' size; sound files ask for less than 2
	if d.work.Add(int64(n)) > int64(1<<20+share*(d.line.size+d.lists.size+d.lists5.size)) {
		return &formats.Error{Format: d.format, Section: s.name, Offset: int64(off), Want: "lists that are not shared without end", Err: formats.ErrLimit}
	}
	return nil
}

func (d *Data) unsupported(u *unit) error {
	return &formats.Error{Format: d.format, Section: d.info.name, Offset: int64(u.off), Want: "a unit of version 2 to 5", Err: formats.ErrUnsupported}
}

// Limits are the limits that Open was given.
func (d *Data) Limits() formats.Limits { return d.lim }
