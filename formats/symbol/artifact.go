// Package symbol holds the words that every layer shares: what an artifact
// is, how a place in it is named, and what an answer looks like.
//
// It does no I/O and imports nothing of this module.
//
// Invariants:
//   - ranges are half-open, [Start, End), and count from the image base;
//   - frames stand innermost first, everywhere;
//   - [Artifact.Position] is the only code that adds or subtracts a base.
package symbol

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"sort"
)

// Kind is the family of an artifact's image, never the format of the file it
// came from: a debug file, its stripped twin and a Breakpad file with one id
// are sources of one artifact. Kinds are durable: they are hashed into IDs.
type Kind string

// The kinds.
const (
	ELF   Kind = "elf"   // every program image of an ELF system
	MachO Kind = "macho" // every program image of Apple's systems; canonical is its UUID, in lower case with dashes
	PE    Kind = "pe"    // every program image of Windows; canonical is the GUID of its PDB, in lower case with dashes, and the age
	Wasm  Kind = "wasm"  // modules of WebAssembly; canonical is their build_id in lower-case hex, else a hash; positions are offsets in the module
	CLR   Kind = "clr"   // assemblies of .NET; canonical is the id of their portable PDB; a position is the row of a method << 32 | its IL offset
)

// ID names an artifact in keys: the first 16 bytes of
// SHA-256(kind ‖ 0 ‖ canonical id). It is uniform and leaks no name.
type ID [16]byte

// NewID gives the ID of the artifact with that kind and canonical id.
func NewID(k Kind, canonical string) ID {
	h := sha256.New()
	h.Write([]byte(k))
	h.Write([]byte{0})
	h.Write([]byte(canonical))
	var sum [sha256.Size]byte
	h.Sum(sum[:0])
	return ID(sum[:16])
}

// String is the ID in lower-case hex.
func (id ID) String() string { return hex.EncodeToString(id[:]) }

// ParseID reads what String printed.
func ParseID(s string) (ID, error) {
	b, err := hex.DecodeString(s)
	if err != nil || len(b) != len(ID{}) {
		return ID{}, fmt.Errorf("artifact id %q: want 32 hex digits", s)
	}
	return ID(b), nil
}

// NameKind says what sort of name a [Name] is. Durable: stored in catalog
// records and in the lake.
type NameKind string

// The kinds of names an artifact is known by.
const (
	NameBuildID   NameKind = "build-id"    // GNU build-id, lower-case hex, full length
	NameDebugID   NameKind = "debug-id"    // UUID: of a Mach-O image; of an ELF file the first 16 bytes of the build-id
	NameGoBuildID NameKind = "go-build-id" // as the Go linker wrote it
	NameCodeID    NameKind = "code-id"     // of a Windows image: its timestamp, 8 hex digits, and its size in hex, as symbol servers spell it
	NameMVID      NameKind = "mvid"        // of an assembly of .NET: the id of its module, a UUID
	NameHash      NameKind = "hash"        // "sha256:…" of what the format documents
	NameDebugLink NameKind = "debuglink"   // "debuglink:NAME:CRC32"
	NameFile      NameKind = "file"        // base name of the object or member, SONAME
	NameApp       NameKind = "app"         // APP@BUILD
)

// Name is one name of an artifact. Names match in any case.
type Name struct {
	Kind NameKind `json:"kind"`
	Text string   `json:"text"`
}

// Artifact is one identified program image or map. It is stored, sealed, in
// its catalog record.
type Artifact struct {
	ID        ID
	Kind      Kind
	Canonical string // full build-id in hex; else "go:…", "sha256:…" or "debuglink:…"
	Names     []Name // without APP@BUILD, which the source's configuration adds
	Arch      string // "arm64", "arm", "x86_64", "x86", "riscv64", …; "" for scripts
	Base      uint64 // unslid image base
	End       uint64 // first position outside the image (a position, not an address)
	// Anchors are the positions of names that places may be given from:
	// the symbols a runtime counts from, the sections of an ET_REL file.
	Anchors map[string]uint64
	// Parts are the parts of the image where no source says anything, as far as they are known. They ascend, and they may
	// lie behind End.
	Parts []Part
	// Segments are where the code of the image is in its file, ascending by position. None: the file does not say it, or
	// the load is older than they are.
	Segments []Segment
}

// Part is a section of an image that holds no code of a source: data, or stubs that the linker made.
type Part struct {
	Name       string // of the section
	Start, End uint64 // positions
	Stubs      bool
}

// MaxParts bounds the parts of an artifact.
const MaxParts = 64

// PartAt returns the part that holds pos; nil: none is known to.
func (a *Artifact) PartAt(pos uint64) *Part {
	i := sort.Search(len(a.Parts), func(i int) bool { return a.Parts[i].End > pos })
	if i == len(a.Parts) || a.Parts[i].Start > pos {
		return nil
	}
	return &a.Parts[i]
}

// Space says what the value of a [Where] counts from.
type Space uint8

// The spaces of a place. They are not stored.
const (
	Position   Space = iota // from the image base, as rows store it
	Unslid                  // an address of the file, as llvm-symbolizer takes it
	Loaded                  // a run-time address; Where.Load is where Base was mapped
	Anchored                // an offset from Where.Anchor
	FileOffset              // in the image's file, as its segments map it; Where.Mapped tells more
)

// Where is a place as it was reported. A return address is already stepped
// back into its call.
type Where struct {
	Space  Space
	Value  uint64
	Load   uint64   // Loaded: the run-time address of Base
	Anchor string   // Anchored: the name that Value counts from
	Mapped *Mapping // FileOffset: the mapping that it was found in; nil: it is not known
}

// Position converts a place to a position. ok is false when the place lies
// before the base, names no anchor, or is an offset that no segment has; a position at or past End
// is returned as it is, for the caller to answer "outside".
func (a *Artifact) Position(w Where) (pos uint64, ok bool) {
	switch w.Space {
	case Position:
		return w.Value, true
	case Unslid:
		return w.Value - a.Base, w.Value >= a.Base
	case Loaded:
		return w.Value - w.Load, w.Value >= w.Load
	case Anchored:
		at, known := a.Anchors[w.Anchor]
		return at + w.Value, known && at+w.Value >= at
	case FileOffset:
		if a.Kind == MachO && len(a.Segments) == 0 { // the header is the first byte of __TEXT, and of the file
			return w.Value, w.Value < a.End
		}
		in := segments{a.Segments, a.Base, a.Arch}
		return in.position(w.Value, w.Mapped)
	}
	return 0, false
}

// Unslid is the inverse of Position: the address of the file at pos.
func (a *Artifact) Unslid(pos uint64) uint64 { return a.Base + pos }
