package pe

import (
	"bytes"
	"context"
	"crypto/sha256"
	"strings"

	"github.com/symlake/symlake/formats"
	"github.com/symlake/symlake/formats/internal/native"
	"github.com/symlake/symlake/formats/internal/pefile"
	"github.com/symlake/symlake/formats/symbol"
)

// identify finds a file's canonical id, as the package says, and its names.
func identify(ctx context.Context, in *formats.Input, f *pefile.File) (*native.Identity, error) {
	id := &native.Identity{}
	if err := f.Names(id); err != nil {
		return nil, err
	}
	goID, err := goBuildID(f)
	if err != nil {
		return nil, err
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
	if id.Canonical == "" && f.Debug() {
		crc, err := native.Checksum(ctx, in, name)
		if err != nil {
			return nil, err
		}
		id.Claim(native.LinkName(in.Name, crc))
		id.Add(symbol.NameDebugLink, id.Canonical)
	}
	if id.Canonical == "" {
		sum, err := contentHash(ctx, f)
		if err != nil {
			return nil, err
		}
		id.Claim(sum)
		id.Add(symbol.NameHash, sum)
	}
	id.Add(symbol.NameFile, in.FileName())
	library, err := f.Library()
	if err != nil {
		return nil, err
	}
	id.Add(symbol.NameFile, formats.Base(library))
	return id, nil
}

// goBuildID returns the id that Go's linker writes at the beginning of the code; "": there is none.
func goBuildID(f *pefile.File) (string, error) {
	const headBytes, idBytes = 512, 256 // the linker writes 83
	code, err := f.Input(".text")
	if code == nil || err != nil {
		return "", err
	}
	head, err := code.View(0, min(headBytes, code.Size))
	if err != nil {
		return "", err
	}
	_, rest, _ := bytes.Cut(head, []byte("\xff Go build ID: \""))
	id, _, found := bytes.Cut(rest, []byte("\"\n \xff"))
	text := string(id)
	if !found || len(id) > idBytes || strings.IndexFunc(text, func(r rune) bool { return r <= ' ' || r > '~' }) >= 0 {
		return "", nil
	}
	return text, nil
}

// contentHash is the id of a file that carries none.
func contentHash(ctx context.Context, f *pefile.File) (string, error) {
	h := sha256.New()
	n := 0
	add := func(in *formats.Input) error {
		n++
		return native.FeedSection(ctx, h, in, name)
	}
	err := f.EachCode(add)
	if n == 0 && err == nil {
		err = f.EachDebug(add)
	}
	return native.Sum(h), err
}
