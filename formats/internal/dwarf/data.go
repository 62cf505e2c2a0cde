package dwarf

import (
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
	Types                 *formats.Input // recognized, never read: type units hold no code
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
	host                                 *Data // of a Pack: the owner of its split units

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

// attrs are the attributes of one entry: for each slot of has a form and a
// value. What a value is depends on the form: a number, an offset, an index;
// of formString the offset of the text in its section, of blocks nothing.
type attrs struct {
	has  uint32
	form [slots]uint8
	val  [slots]uint64
}

func (a *attrs) is(slot int) bool { return a.has&(1<<slot) != 0 }

// num is the value of a constant attribute, 0 if it is absent.
func (a *attrs) num(slot int) uint64 {
	if a.has&(1<<slot) == 0 {
		return 0
	}
	return a.val[slot]
}

// Ref names an entry: which .debug_info it is in, and its offset there. 0 is
// no entry: a unit's header is there.
type Ref uint64

// The files that an entry may be in: the object, the dwz file, or a Pack by its
// number.
const (
	altRef    Ref = 1 << 63
	fileShift     = 40
	offMask       = 1<<fileShift - 1
	maxPacks      = 1 << 20
)

// offset is where the entry is in its file.
func (r Ref) offset() uint64 { return uint64(r & offMask) }

// file is the file alone.
func (r Ref) file() Ref { return r &^ offMask }

// unit is what a unit header says.
type unit struct {
	off, first, end uint64 // of the header, of the first entry, behind the unit
	abbrev          uint64
	dwoID           uint64 // of skeleton and split units from version 5 on
	file            Ref    // that its entries are in
	kind            uint8
	bad             bool // an unknown version or address size
	shape
	pieces
}

// pieces are where in the sections of a package the unit's own parts begin;
// zeros elsewhere.
type pieces struct{ info, strOffsets, lists uint64 }

// code reports whether a unit can hold code.
func (u *unit) code() bool { return u.kind != utType && u.kind != utSplitType }

type tableKey struct {
	off uint64
	shape
}

// Pack holds split units: of a .dwo file, of a package of many (.dwp), or
// units that were left in the object itself.
type Pack struct {
	d       *Data
	units   map[uint64]int32 // indices in d.units, by id
	indexed bool
}

// Skeleton is what a unit says of the split unit that has its entries.
type Skeleton struct {
	ID    uint64 // the same in both
	HasID bool   // some compilers of the extension to version 4 gave none: such a unit is never found
	Name  string // of the file, as the compiler was told: DW_AT_dwo_name
	Dir   string // the folder that Name is relative to: DW_AT_comp_dir
}

// Companion is the id of the file that holds the split unit.
func (s *Skeleton) Companion() string {
	if s.HasID {
		return SplitName(s.ID)
	}
	return "dwo:" + s.Name
}

// SplitName is how the file is called that holds the split unit of that id.
func SplitName(id uint64) string { return fmt.Sprintf("dwo:%016x", id) }

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

// stringAttr is the text of an attribute of class string.
func (d *Data) stringAttr(r *blocks, u *unit, root *rootAttrs, a *attrs, slot int) Text {
	if a.has&(1<<slot) == 0 {
		return 0
	}
	return d.stringForm(r, u.offSize, root.strOffsets, a.form[slot], a.val[slot], textInfo)
}

func (d *Data) stringForm(r *blocks, offSize uint8, strOffsets uint64, form uint8, v uint64, inline Text) Text {
	var kind Text
	switch form {
	case formStrp:
		kind = textStr
	case formLineStrp:
		kind = textLineStr
	case formString:
		kind = inline
	case formStrpSup:
		if v > offMask {
			return 0
		}
		return (textStr+textAlt)<<textShift | Text(v)
	case formStrx, formStrx1, formStrx2, formStrx3, formStrx4:
		if v > d.strOffsets.size || strOffsets > d.strOffsets.size {
			return 0
		}
		b := r.peek(&d.strOffsets, strOffsets+v*uint64(offSize), int(offSize))
		if len(b) < int(offSize) {
			return 0
		}
		kind, v = textStr, number(b[:offSize], d.big)
	default:
		return 0
	}
	switch {
	case v > offMask:
		return 0
	case d.file == altRef:
		kind += textAlt
	case d.host == nil:
	case kind == textStr:
		kind = textSplitStr
	case kind == textInfo:
		kind = textSplitInfo
	default:
		return 0 // split units have no other section of strings
	}
	return kind<<textShift | Text(d.file&^altRef) | Text(v)
}

// Text names a string of the object without reading it: equal texts are equal
// strings. 0 is no string.
type Text uint64

// Where a text is: in the top 4 bits, an offset in the rest. Values from
// FirstForeign on are never made by this package: a caller may use them for
// strings of other origin in the same key space.
const (
	textStr       = 1  // .debug_str
	textLineStr   = 2  // .debug_line_str
	textInfo      = 3  // in an entry of .debug_info
	textLine      = 4  // in a header of .debug_line
	textAlt       = 4  // added to the first three: of the dwz file
	textQualified = 8  // built: the name of an entry of .debug_info in its scopes
	textPath      = 9  // built: offsets in .debug_line_str, 20 bits each, of three parts
	textSplitStr  = 10 // .debug_str.dwo of a Pack: its number stands above the offset
	textSplitInfo = 11 // in an entry of a Pack
	FirstForeign  = 12 // see above

	textShift = 60
	textMask  = 1<<textShift - 1
)

// rootAttrs is what the entry of a unit says about all others in it.
type rootAttrs struct {
	low        uint64
	lang       uint64
	strOffsets uint64
	addrs      uint64
	rnglists   uint64
	ranges     uint64 // where lists of .debug_ranges begin that split units of version 4 name
	lines      uint64
	hasLines   bool
	compDir    Text
	qualifies  bool // names get their scopes: the language has any
	flat       bool // no function stands in a type: the language is C
}
