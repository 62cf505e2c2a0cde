package lookup

import (
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"
	"unsafe"

	"github.com/symlake/symlake/formats/symbol"
	"github.com/symlake/symlake/sinks/catalog"
	"github.com/symlake/symlake/sinks/row"
	"github.com/symlake/symlake/sinks/row/classes"
	"github.com/symlake/symlake/sinks/row/loads"
)

// load is a published load, opened: its key, its fence, its shared strings
// once they were read. Blocks are cached under its address.
type load struct {
	id       symbol.ID
	artifact *symbol.Artifact
	loaded   *row.Loaded
	opened   *loads.Opened
}

// entry is what the client believes about an artifact. Immutable.
type entry struct {
	rec    *catalog.Record // nil: there is none
	load   *load           // nil unless status is Found
	status symbol.Status
	err    error     // the reason, unless Found
	lost   bool      // a name leads to it, and its record is gone
	read   time.Time // when the catalog said so
	until  time.Time
}

// kind is the kind of the artifact; "": unknown.
func (e *entry) kind() symbol.Kind {
	if e.rec == nil || e.rec.Published == nil {
		return ""
	}
	return e.rec.Published.Artifact.Kind
}

// bytes is roughly the memory an entry holds.
func (e *entry) bytes() int64 {
	n := int64(1024)
	if e.rec != nil {
		for _, name := range e.rec.Names {
			n += int64(len(name.Text)) + 32
		}
	}
	if e.load != nil {
		n += e.load.opened.Bytes() + int64(len(e.load.loaded.Fence)+len(e.load.loaded.Unwind)) + 64*int64(len(e.load.artifact.Anchors)+len(e.load.artifact.Parts)+len(e.load.artifact.Segments))
	}
	return n
}

// place turns a place into a position and the row that speaks for it. The
// status is Found when there is one, else it is the answer's, as the reason is.
func (e *entry) place(w symbol.Where) (pos uint64, i int, status symbol.Status, why error) {
	if e.status != symbol.Found {
		return 0, 0, e.status, e.err
	}
	pos, ok := e.load.artifact.Position(w)
	switch {
	case !ok && w.Space == symbol.Anchored:
		return 0, 0, symbol.Outside, ErrNowhere
	case !ok && w.Space == symbol.FileOffset:
		status, why = e.load.whyNowhere(w)
		return 0, 0, status, why
	case !ok:
		return 0, 0, symbol.Outside, errBefore
	case pos >= e.load.artifact.End:
		if p := e.load.artifact.PartAt(pos); p != nil {
			return pos, 0, symbol.Hole, partErr(p)
		}
		if parts := e.load.artifact.Parts; len(parts) > 0 && pos < parts[len(parts)-1].End {
			return pos, 0, symbol.Hole, errBetween
		}
		return pos, 0, symbol.Outside, errPast
	}
	if i, ok = e.load.opened.Index(pos); !ok { // past the last row: the record's fence is the proof
		return pos, 0, symbol.Hole, e.load.whyHole(pos)
	}
	return pos, i, symbol.Found, nil
}

// The reasons that need no detail, so that they cost nothing.
var (
	errHole    = errors.New("no source of this artifact says anything about this position")
	errData    = errors.New("the position is data: only code has functions and lines")
	errBetween = errors.New("the position lies between two sections of the image")
	errPast    = errors.New("the position lies beyond the end of the image")
	errBefore  = errors.New("the address lies below the image base")
	errNoCode  = errors.New("no code of the image lies at this offset of its file")
	errLost    = errors.New("the symbols come from a debug file, which does not tell where code lies in the program's file: ingest the program with its symbols")
	errWithin  = errors.New("the image lies at an unknown offset in the file that was mapped")

	errNoSegments = errors.New("the load does not tell where code lies in the program's file: ingest the program with its symbols again, with --force")

	ErrNowhere = errors.New("the artifact has no such section or symbol to count from")
)

// whyNowhere returns the status and the reason of an offset in the image's file without a position.
func (l *load) whyNowhere(w symbol.Where) (symbol.Status, error) {
	lost := slices.ContainsFunc(l.artifact.Segments, func(s symbol.Segment) bool { return s.Stored == 0 })
	switch {
	case len(l.artifact.Segments) == 0:
		return symbol.Hole, errNoSegments
	case w.Mapped != nil && w.Mapped.Within:
		return symbol.Hole, errWithin
	case lost:
		return symbol.Hole, errLost
	}
	return symbol.Outside, errNoCode
}

// whyHole is the reason of a hole at pos.
func (l *load) whyHole(pos uint64) error {
	if p := l.artifact.PartAt(pos); p != nil {
		return partErr(p)
	}
	return errHole
}

// partErr is the reason of a hole in a part of the image without code of a source.
func partErr(p *symbol.Part) error {
	if p.Stubs {
		return fmt.Errorf("the position is in section %s: the linker made its code, and no source says anything about it", p.Name)
	}
	if p.Name == "" {
		return errData
	}
	return fmt.Errorf("the position is data, in section %s: only code has functions and lines", p.Name)
}

// place names a row of an opened load.
type place struct {
	load *load
	row  int32
}

// sharedStrings is the place of the row with a load's shared strings.
const sharedStrings = -1

// rowErr says which row an error is about.
func (p place) rowErr(err error) error {
	switch {
	case p.row == sharedStrings:
		return fmt.Errorf("artifact %s, load %x, shared strings: %w", p.load.id, p.load.loaded.Load, err)
	case p.row < sharedStrings:
		return fmt.Errorf("artifact %s, load %x, call frame information: %w", p.load.id, p.load.loaded.Load, err)
	}
	return fmt.Errorf("artifact %s, load %x, row %d: %w", p.load.id, p.load.loaded.Load, p.row, err)
}

// rowBytes is the mean size of the load's rows as they are stored.
func (l *load) rowBytes() uint64 {
	return (l.loaded.Bytes - l.loaded.UnwindBytes) / max(l.loaded.Rows, 1)
}

// named is what a spelling leads to, as it is believed. Immutable.
type named struct {
	ids     []symbol.ID
	objects []*catalog.Object // ledger entries of objects that are not loaded
	more    bool              // there are more ids than maxNamed
	direct  bool              // the ids come from names, not from the ledger
	read    time.Time         // when the catalog said so
	until   time.Time
}

func (n *named) bytes() int64 {
	return 128 + 16*int64(len(n.ids)) + 512*int64(len(n.objects))
}

// classOf is a class of an opened load in the cache.
type classOf struct {
	load *load
	name string
}

// Class is a class of a mapping, as the client keeps it. Safe for concurrent use.
type Class struct {
	*classes.Class
	once sync.Once
	made any
}

// Made returns the result of make, which is called once and stays in the cache together with the class: a layer
// above keeps there its own form of the class.
func (c *Class) Made(make func(*classes.Class) any) any {
	c.once.Do(func() { c.made = make(c.Class) })
	return c.made
}

// keptClass is a class in the cache.
type keptClass struct {
	*Class // nil: there is none such
	bytes  int64
}

// newKept is a class for the cache, with about the memory that it holds once all its members were asked for.
func newKept(name string, c *classes.Class) keptClass {
	k := keptClass{bytes: int64(len(name)) + 64}
	if c != nil {
		k.Class = &Class{Class: c}
		k.bytes += c.Bytes() + int64(c.Size())*(indexBytes+int64(unsafe.Sizeof(symbol.Member{})))
	}
	return k
}

// indexBytes is about what a member takes that was retraced: a record, and its share of a name.
const indexBytes = 96

// keys holds the store's keys once they are open.
type keys struct {
	flights flights[struct{}, *keyset]
	now     atomic.Pointer[keyset]
}

// keyset is one opening of the store's keys, or the refusal of one. Immutable.
// Versions that rotation adds later are the keyring's own affair.
type keyset struct {
	ring    *row.Keyring
	catalog *catalog.Catalog
	err     error // refused: believed until then
	until   time.Time
}

// errGone: a row that the record promises. A hole would be a lie.
var errGone = fmt.Errorf("%w: the row is gone", row.ErrUnauthentic)
