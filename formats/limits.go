package formats

import "github.com/symlake/symlake/formats/symbol"

// Limits bounds what one object may cost. They are checked before anything is
// allocated. The zero value of a field means the documented default; call
// [Limits.WithDefaults] once and read fields plainly.
type Limits struct {
	ObjectBytes  int64 // an object or member as it is stored (16 GiB; the largest real dSYM and vmlinux files are below 8)
	SectionBytes int64 // one section after inflating (4 GiB: DWARF's 32-bit format ends there)
	SpoolBytes   int64 // all that one object may spool (16 GiB)
	NameBytes    int64 // one function or file name; longer ones are cut, see symbol.CutName (64 KiB; at least symbol.CutBytes)
	LineBytes    int64 // one line of a mapping (1 MiB; the longest real ones are 10 KiB)
	ClassBytes   int64 // the text of one class of a mapping (16 MiB; the largest real ones are 2 MiB)
	ClassLines   int   // lines of one class (131,072; the largest real ones have 20,000)
	SourceBytes  int64 // the text of one source in a map (16 MiB)
	Units        int   // units of one object (4 million; the largest real file has 280,000)
	Files        int   // entries of one file table (1 million)
	Symbols      int   // entries of one symbol table (64 million)
	Members      int   // members of one archive (1 million)
	Nesting      int   // archives inside archives (4)
	InlineDepth  int   // nested inlines; deeper ones are cut (1,024)
	RunRanges    int   // ranges of one run, or of one piece of call frame information; longer ones are cut (1 million)
	UnwindRanges int   // ranges of call frame information; the rest is left out (32 million; the largest real file has 8 million)
	UnwindRules  int   // unlike rules among them; the rest is left out (1 million; the largest real file has 100,000)

	// NoSourceNames leaves the sources in maps unread: functions of scripts are called as the scripts' scopes tell.
	NoSourceNames bool
}

// WithDefaults returns l with every zero field at its default.
func (l Limits) WithDefaults() Limits {
	set := func(v *int64, d int64) {
		if *v == 0 {
			*v = d
		}
	}
	setInt := func(v *int, d int) {
		if *v == 0 {
			*v = d
		}
	}
	set(&l.ObjectBytes, 16<<30)
	set(&l.SectionBytes, 4<<30)
	set(&l.SpoolBytes, 16<<30)
	set(&l.NameBytes, 64<<10)
	l.NameBytes = max(l.NameBytes, symbol.CutBytes) // a cut name keeps the limit
	set(&l.LineBytes, 1<<20)
	set(&l.ClassBytes, 16<<20)
	set(&l.SourceBytes, 16<<20)
	setInt(&l.ClassLines, 128<<10)
	setInt(&l.Units, 4<<20)
	setInt(&l.Files, 1<<20)
	setInt(&l.Symbols, 64<<20)
	setInt(&l.Members, 1<<20)
	setInt(&l.Nesting, 4)
	setInt(&l.InlineDepth, 1024)
	setInt(&l.RunRanges, 1<<20)
	setInt(&l.UnwindRanges, 32<<20)
	setInt(&l.UnwindRules, 1<<20)
	return l
}
