// Package formats is the contract between what can be read and what reads it.
// Each format is a child package with one [Format] value; formats/all lists
// them. The package imports formats/symbol only and no child.
//
// Invariants:
//   - a parser takes bytes, never a path, and opens nothing by itself;
//   - a parser starts no goroutine; ingest owns the workers;
//   - no number read from an object sizes an allocation before it is checked
//     against [Limits] and against the bytes that are there;
//   - [ErrCorrupt], [ErrUnsupported] and [ErrLimit] reject one object, any
//     other error stops the job.
package formats

import (
	"cmp"
	"context"
	"io"
	"strings"

	"github.com/symlake/symlake/formats/symbol"
)

// Format is a plug-in: a value in formats/all, narrow ones first. Archives are
// formats with members in their objects.
type Format struct {
	Name    string
	Version int // parser version: raised when answers change, so that objects are derived again
	// Detect tells from an object's name and up to HeadBytes of its beginning whether
	// the format reads it. It does no I/O.
	Detect func(name string, head []byte) bool
	// Open reads identity and layout. The object is valid until its Close.
	Open func(ctx context.Context, in *Input) (*Object, error)
}

// HeadBytes is how much of an object's beginning Detect is shown.
const HeadBytes = 64 << 10

// Input is an object, an archive's member or a companion: bytes with random
// access, their limits, and the ways to ask for more.
type Input struct {
	Name   string      // "outer.zip!lib/x.so"
	File   string      // base name of the file; "": the last part of Name
	Size   int64       // see Fetch
	Limits *Limits     // never nil
	Bytes  io.ReaderAt // concurrent
	Mapped []byte      // all of it, or nil when it is not in memory as one piece
	// Err, when set, is why a member could not be read: reject the member alone
	// and go on with the next. Bytes is nil then. Open returns it.
	Err error
	// Fetch, when set, belongs to a compressed member, or to a member with a
	// checksum still to be compared: until it has run, reading beyond the head is
	// slow at first, Mapped may be nil and Size is what the archive says, or
	// the length of the head where it says nothing. Fetch brings all of it into
	// reach and sets Bytes, Mapped, Size and Release; a damaged member is its
	// error. Open calls it as soon as a format claims the input, so an
	// unclaimed member costs no more than its head. Repeating it does nothing.
	Fetch func(ctx context.Context) error
	// Companion finds another file that this one refers to: in the same
	// archive, then beside the object, then in the ledger by id. It returns
	// ErrNoCompanion when there is none; ingest notes the wanted name.
	// The caller owns the input and calls its Release.
	Companion func(ctx context.Context, want Ref) (*Input, error)
	// Spool gives random access to a stream of at most size bytes (size < 0:
	// unknown, Limits.SpoolBytes rules): in memory while the object's share
	// lasts, then in a sealed scratch file. A stream that yields more or, when
	// size >= 0, fewer bytes than size is ErrCorrupt.
	Spool func(name string, size int64, r io.Reader) (*Input, error)
	// Release gives back what backs the input (memory share, scratch file,
	// mapping); nil when there is nothing to give back. Views die with it.
	Release func() error
}

// Ref names a companion. ID or Name may be empty.
type Ref struct {
	ID   string // "build-id:…", "dwo:…", "debug-id:…"
	Name string // a path relative to the object that asks; with a slash at its end any file of that folder
	// Optional marks one of several ways to the same companion: its absence is
	// no loss yet, and is not noted.
	Optional bool
}

// Object is what Open found: artifacts, members to open in turn, or neither (a
// part of something else, such as a .dwo file, or a file without symbols).
type Object struct {
	Artifacts []Artifact
	// Members hands out the archive's members in order; nil if the object is no
	// archive. A member is valid during the call. emit's error comes back
	// unchanged.
	Members func(ctx context.Context, emit func(*Input) error) error
	// Companions are the ids by which this object is a companion of others
	// ("dwo:…"); it may hold artifacts too. At most MaxCompanions.
	Companions []string
	// Note says why an object without artifacts and members has none, where that
	// is worth a word: "reason: a sentence". Reports count by the reason.
	Note  string
	Close func() error // nil: nothing to close
}

// Artifact is one artifact of an opened object, and the way to its ranges.
type Artifact struct {
	symbol.Artifact
	// Rank is the best rank of what Explode can emit.
	Rank symbol.Rank
	// Table is symbol.Layout's; zero where the format knows none.
	Table [32]byte
	// CodeDigest reads the code for symbol.Layout's Code; nil where the format knows none.
	CodeDigest func(ctx context.Context) ([32]byte, error)
	// Parts is the number of independent pieces (units, symbol tables). The
	// caller may explode parts at once and in any order; the bytes stored do
	// not depend on it.
	Parts int
	// Explode emits the runs of one part of code, in any order of addresses. ExplodeScript does the
	// same for a script, ExplodeClasses for a mapping. An artifact has exactly one of the three, by
	// its kind. emit's error comes back unchanged. Calls with different parts may run at once. The
	// returned Quality covers the part.
	Explode        func(ctx context.Context, part int, emit func(*symbol.Run) error) (symbol.Quality, error)
	ExplodeScript  func(ctx context.Context, part int, emit func(*symbol.Script) error) (symbol.Quality, error)
	ExplodeClasses func(ctx context.Context, part int, emit func(*symbol.Class) error) (symbol.Quality, error)
	// Ordered promises three facts of a script: it has one part; the runs of that part ascend and lie apart; the strings
	// of its first run are the strings of all runs, no two of them equal. So ingest makes its rows while it reads.
	Ordered bool
	// Few says that an Ordered script has few ranges. Ingest holds them, and counts their strings before it makes rows.
	Few bool
	// Lasting promises that the strings of runs stay what they are until the object is closed, not during the call
	// alone: the caller need not copy them.
	Lasting bool
	// Texts, when not nil, emits the texts of sources that the object carries, each
	// with the name that frames call it by: some of them, in any order, one name
	// maybe several times. text is valid during the call only; emit's error comes back
	// unchanged. A text of more than Limits.SourceBytes is passed over. Not called while Explode runs.
	Texts func(ctx context.Context, emit func(file string, text []byte) error) error
	// Unwind, when not nil, emits the call frame information of code, in any order of addresses. Damage costs
	// its own functions, and is counted in UnitsBroken and named in Warnings of the returned Quality; an error that rejects
	// ends the call frame information, not the load. emit's error comes back unchanged. Not called
	// while Explode runs.
	Unwind func(ctx context.Context, emit func(*symbol.Unwind) error) (symbol.Quality, error)
	// Check, when not nil, gets the quality of all parts together, and rejects an
	// object with too many broken parts.
	Check func(symbol.Quality) error
}

// Takers take the pieces of an artifact: Run takes code, Script a script, Class a mapping. A taker
// of a kind that the artifact does not have may be nil.
type Takers struct {
	Run    func(*symbol.Run) error
	Script func(*symbol.Script) error
	Class  func(*symbol.Class) error
}

// ExplodeInto explodes one part of an artifact of any kind.
func (a *Artifact) ExplodeInto(ctx context.Context, part int, to Takers) (symbol.Quality, error) {
	switch {
	case a.ExplodeScript != nil:
		return a.ExplodeScript(ctx, part, to.Script)
	case a.ExplodeClasses != nil:
		return a.ExplodeClasses(ctx, part, to.Class)
	}
	return a.Explode(ctx, part, to.Run)
}

// Base is the last part of an input's name: "x.so" of "outer.zip!lib/x.so".
func Base(name string) string { return name[strings.LastIndexAny(name, `/!\`)+1:] }

// FileName returns the base name of the file.
func (in *Input) FileName() string { return cmp.Or(in.File, Base(in.Name)) }

// MaxCompanions bounds the ids of one object: each is a record of the catalog.
const MaxCompanions = 1024

// View returns n bytes at off: a piece of Mapped, else a copy. It is
// ErrCorrupt (in an *Error naming the input) if they are not all there. Ask by unit, not by section:
// a copy is garbage for the collector afterwards.
func (in *Input) View(off, n int64) ([]byte, error) {
	if off < 0 || n < 0 || off > in.Size || n > in.Size-off {
		return nil, &Error{Format: "input", Section: in.Name, Offset: off, Want: "more bytes than there are", Err: ErrCorrupt}
	}
	if in.Mapped != nil {
		return in.Mapped[off : off+n : off+n], nil
	}
	b := make([]byte, n)
	if got, err := in.Bytes.ReadAt(b, off); got < len(b) {
		if err == io.EOF || err == io.ErrUnexpectedEOF {
			return nil, &Error{Format: "input", Section: in.Name, Offset: off + int64(got), Want: "more bytes than there are", Err: ErrCorrupt}
		}
		return nil, err
	}
	return b, nil
}

// Section is a sub-range of the input as an input of its own, with the same
// limits and ways to ask; releasing it does nothing.
func (in *Input) Section(name string, off, n int64) (*Input, error) {
	if off < 0 || n < 0 || off > in.Size || n > in.Size-off {
		return nil, &Error{Format: "input", Section: name, Offset: off, Want: "a section inside the file", Err: ErrCorrupt}
	}
	s := *in
	s.Name, s.Size, s.Fetch, s.Release = name, n, nil, nil
	s.Bytes = io.NewSectionReader(in.Bytes, off, n)
	if in.Mapped != nil {
		s.Mapped = in.Mapped[off : off+n : off+n]
	}
	return &s, nil
}
