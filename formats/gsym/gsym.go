// Package gsym reads GSYM files, which llvm-gsymutil makes of DWARF or Breakpad files for servers that symbolicate:
// functions with their lines and inlined functions (LLVM's DebugInfo/GSYM). It reads version 1, which releases of LLVM
// write, and version 2, which its sources document; in both byte orders.
//
// # Identity
//
// A GSYM file has the id of its image and does not say the system. An id of 16 bytes is a Mach-O UUID if it has the form
// of one (RFC 4122, version 3 to 5, as Apple's linker and LLVM's write it). Any other id is an ELF build-id. An id of
// 16 bytes is a name in both spellings, so a report of the other system finds the artifact by name. A file without an id
// is known by its hash and its file name.
//
// # Positions
//
// The base address of the file is the image's, as llvm-gsymutil writes it. Where another program wrote the address of
// the first function there, as its offset of zero shows, the base is 0, or 1<<32 for a program of macOS.
//
// Invariants:
//   - a function ends where the next one begins, at the latest; of several at one address each answers what those before it
//     leave;
//   - a symbol without a size reaches to the next function, at most to the end of its page where none follows;
//   - an inlined function counts inside of the function around it;
//   - functions that a linker merged answer as the first of them; call sites are passed over;
//   - a function that does not parse is counted and dropped; above 1 % the file is rejected.
package gsym

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"

	"github.com/symlake/symlake/formats"
	"github.com/symlake/symlake/formats/internal/native"
	"github.com/symlake/symlake/formats/symbol"
)

const name = "gsym"

// Format reads GSYM files.
var Format = formats.Format{Name: name, Version: 1, Detect: detect, Open: open}

func detect(_ string, head []byte) bool {
	if len(head) < 8 {
		return false
	}
	switch string(head[:4]) {
	case "MYSG":
		return head[5] == 0 && head[4] < 16
	case "GSYM":
		return head[4] == 0 && head[5] < 16
	}
	return false
}

// partFunctions is how many functions one part has.
const partFunctions = 16 << 10

func open(ctx context.Context, in *formats.Input) (*formats.Object, error) {
	f, err := readFile(in)
	if err != nil {
		return nil, err
	}
	if f.count == 0 {
		return &formats.Object{Note: "no-symbols: a GSYM file without functions"}, nil
	}
	if err := f.measure(ctx); err != nil {
		return nil, err
	}
	id, kind, err := f.identity(ctx)
	if err != nil {
		return nil, err
	}
	parts := (f.count + partFunctions - 1) / partFunctions
	return &formats.Object{Artifacts: []formats.Artifact{{
		Artifact: id.Artifact(kind, "", f.image, f.end),
		Rank:     symbol.RankBreakpad, Parts: parts, Check: check,
		Explode: func(ctx context.Context, part int, emit func(*symbol.Run) error) (symbol.Quality, error) {
			if part < 0 || part >= parts {
				return symbol.Quality{}, fmt.Errorf("%s: part %d of %d", name, part, parts)
			}
			return f.explode(ctx, part, emit)
		},
	}}}, nil
}

// maxBad is the share of functions, in percent, that may be damaged.
const maxBad = 1

func check(q symbol.Quality) error {
	if uint64(q.UnitsBroken)*100 <= uint64(q.Units)*maxBad {
		return nil
	}
	want := fmt.Sprintf("at most %d %% of damaged functions: %d of %d are", maxBad, q.UnitsBroken, q.Units)
	if len(q.Warnings) > 0 {
		want += ", the first at " + q.Warnings[0]
	}
	return &formats.Error{Format: name, Want: want, Err: formats.ErrCorrupt}
}

// identity returns the identity of the image, and its kind.
func (f *file) identity(ctx context.Context) (*native.Identity, symbol.Kind, error) {
	id, kind := &native.Identity{}, symbol.ELF
	switch text := hex.EncodeToString(f.id); {
	case len(f.id) == 0:
		h := sha256.New()
		if err := native.Feed(ctx, h, f.in, name); err != nil {
			return nil, kind, err
		}
		id.Claim(native.Sum(h))
		id.Add(symbol.NameHash, id.Canonical)
	case f.isUUID():
		kind = symbol.MachO
		id.Claim(dashed(f.id))
		id.Add(symbol.NameDebugID, id.Canonical)
		id.Add(symbol.NameBuildID, text)
	default:
		id.Claim(text)
		id.Add(symbol.NameBuildID, text)
		if len(f.id) >= 16 {
			id.Add(symbol.NameDebugID, dashed(turned(f.id[:16])))
		}
		if len(f.id) == 16 {
			id.Add(symbol.NameDebugID, dashed(f.id))
		}
	}
	id.Add(symbol.NameFile, f.in.FileName())
	return id, kind, nil
}

// isUUID reports whether the id has the form of a Mach-O UUID.
func (f *file) isUUID() bool {
	return len(f.id) == 16 && f.id[6]>>4 >= 3 && f.id[6]>>4 <= 5 && f.id[8]>>6 == 2
}

// turned returns an id with its first three numbers turned around, as Breakpad has ids of ELF images.
func turned(id []byte) []byte {
	id = slices.Clone(id)
	slices.Reverse(id[0:4])
	slices.Reverse(id[4:6])
	slices.Reverse(id[6:8])
	return id
}

func dashed(id []byte) string {
	return fmt.Sprintf("%x-%x-%x-%x-%x", id[0:4], id[4:6], id[6:8], id[8:10], id[10:16])
}

func fault(at int64, want string) error {
	return &formats.Error{Format: name, Offset: at, Want: want, Err: formats.ErrCorrupt}
}

func limit(at int64, want string) error {
	return &formats.Error{Format: name, Offset: at, Want: want, Err: formats.ErrLimit}
}
