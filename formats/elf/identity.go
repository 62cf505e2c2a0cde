package elf

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"hash"
	"slices"
	"strings"

	"github.com/symlake/symlake/formats"
	"github.com/symlake/symlake/formats/internal/elffile"
	"github.com/symlake/symlake/formats/internal/native"
	"github.com/symlake/symlake/formats/symbol"
)

const (
	buildIDBytes = 8   // less is no hash of anything
	textBytes    = 64  // less is the same start-up code in many files
	goIDBytes    = 256 // the Go linker writes 83

	noteGNUBuildID = 3
	noteGoBuildID  = 4
)

// identify finds a file's canonical id, as the package says, and its names.
func identify(ctx context.Context, in *formats.Input, f *elffile.File) (*native.Identity, error) {
	id := &native.Identity{}
	buildID, goID, err := notes(f)
	if err != nil {
		return nil, err
	}
	if buildID != "" {
		id.Claim(buildID)
		id.Add(symbol.NameBuildID, buildID)
		raw, _ := hex.DecodeString(buildID)
		id.Add(symbol.NameDebugID, debugID(raw, f.BigEndian()))
	}
	if goID != "" {
		id.Claim("go:" + goID)
		id.Add(symbol.NameGoBuildID, goID)
	}
	link, crc, err := f.DebugLink()
	if err != nil {
		return nil, err
	}
	if link != "" {
		text := native.LinkName(link, crc)
		id.Claim(text)
		id.Add(symbol.NameDebugLink, text)
	}
	text, present, err := f.Stored(".text")
	if err != nil {
		return nil, err
	}
	if id.Canonical == "" && present && text == nil {
		crc, err := native.Checksum(ctx, in, name)
		if err != nil {
			return nil, err
		}
		id.Claim(native.LinkName(in.Name, crc))
		id.Add(symbol.NameDebugLink, id.Canonical)
	}
	if buildID == "" && text != nil && text.Size > 0 {
		if err := addTextID(id, text, f.BigEndian()); err != nil {
			return nil, err
		}
	}
	if id.Canonical == "" {
		sum, err := contentHash(ctx, f, text)
		if err != nil {
			return nil, err
		}
		id.Claim(sum)
		id.Add(symbol.NameHash, sum)
	}
	id.Add(symbol.NameFile, in.FileName())
	soname, err := f.SONAME()
	if err != nil {
		return nil, err
	}
	id.Add(symbol.NameFile, formats.Base(soname))
	return id, nil
}

// supplementID is the id that a file made by dwz has: its build-id, or what its
// .debug_sup says.
func supplementID(f *elffile.File) (string, error) {
	sup, err := f.Supplement()
	if err != nil {
		return "", err
	}
	if sup != nil && sup.Is {
		return hex.EncodeToString(sup.ID), nil
	}
	id, _, err := notes(f)
	return id, err
}

// notes finds the GNU build-id, in hex, and the Go build-id.
func notes(f *elffile.File) (buildID, goID string, err error) {
	err = f.Notes(func(name string, kind uint32, desc []byte) bool {
		switch {
		case name == "GNU" && kind == noteGNUBuildID && buildID == "":
			if len(desc) >= buildIDBytes && len(desc) <= sha256.Size*2 && slices.ContainsFunc(desc, func(b byte) bool { return b != 0 }) {
				buildID = hex.EncodeToString(desc)
			}
		case name == "Go" && kind == noteGoBuildID && goID == "":
			text := strings.TrimRight(string(desc), "\x00")
			if len(text) <= goIDBytes && strings.IndexFunc(text, func(r rune) bool { return r <= ' ' || r > '~' }) < 0 {
				goID = text
			}
		}
		return buildID == "" || goID == ""
	})
	return buildID, goID, err
}

// debugID is a build-id in the form of a UUID: its first 16 bytes, zeros if it
// has fewer, with the first three fields turned around in little-endian files.
func debugID(raw []byte, bigEndian bool) string {
	var b [16]byte
	copy(b[:], raw)
	if !bigEndian {
		slices.Reverse(b[0:4])
		slices.Reverse(b[4:6])
		slices.Reverse(b[6:8])
	}
	return fmt.Sprintf("%x-%x-%x-%x-%x", b[0:4], b[4:6], b[6:8], b[8:10], b[10:])
}

// addTextID adds the debug-id that crash reporters (Breakpad and its
// descendants) give a file without build-id: the 16-byte pieces of the first
// page of .text, XORed.
func addTextID(id *native.Identity, text *formats.Input, bigEndian bool) error {
	b, err := text.View(0, min(text.Size, 4096))
	if err != nil {
		return err
	}
	var sum [16]byte
	for i, c := range b {
		sum[i%16] ^= c
	}
	id.Add(symbol.NameDebugID, debugID(sum[:], bigEndian))
	return nil
}

// contentHash is the id of a file that carries none.
func contentHash(ctx context.Context, f *elffile.File, text *formats.Input) (string, error) {
	h := sha256.New()
	if text != nil && text.Size >= textBytes {
		if err := native.Feed(ctx, h, text, name); err != nil {
			return "", err
		}
		return native.Sum(h), nil
	}
	n, err := hashSections(ctx, h, f, elffile.DebugSection)
	if n == 0 && err == nil {
		_, err = hashSections(ctx, h, f, elffile.TableSection)
	}
	return native.Sum(h), err
}

// hashSections feeds h with the stored sections of a kind and says how many
// there were.
func hashSections(ctx context.Context, h hash.Hash, f *elffile.File, kind elffile.SectionKind) (n int, err error) {
	err = f.EachStored(kind, func(in *formats.Input) error {
		n++
		return native.FeedSection(ctx, h, in, name)
	})
	return n, err
}
