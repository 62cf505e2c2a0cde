package macho

import (
	"context"
	"crypto/sha256"
	"fmt"
	"slices"

	"github.com/symlake/symlake/formats"
	"github.com/symlake/symlake/formats/internal/machofile"
	"github.com/symlake/symlake/formats/internal/native"
	"github.com/symlake/symlake/formats/symbol"
)

// identify finds an image's canonical id, as the package says, and its names.
func identify(ctx context.Context, in *formats.Input, f *machofile.File) (*native.Identity, error) {
	id := &native.Identity{}
	if id.Canonical = uuid(f.UUID()); id.Canonical != "" {
		id.Add(symbol.NameDebugID, id.Canonical)
	} else {
		sum, err := contentHash(ctx, f)
		if err != nil {
			return nil, err
		}
		id.Canonical = sum
		id.Add(symbol.NameHash, sum)
	}
	id.Add(symbol.NameFile, fileName(in.Name))
	id.Add(symbol.NameFile, fileName(f.InstallName()))
	return id, nil
}

// uuid spells 16 bytes as a UUID; "" for none, and for zeros.
func uuid(b []byte) string {
	if len(b) != 16 || !slices.ContainsFunc(b, func(c byte) bool { return c != 0 }) {
		return ""
	}
	return fmt.Sprintf("%x-%x-%x-%x-%x", b[:4], b[4:6], b[6:8], b[8:10], b[10:])
}

// contentHash is the id of an image that carries none.
func contentHash(ctx context.Context, f *machofile.File) (string, error) {
	h := sha256.New()
	text, err := f.Stored("__TEXT", "__text")
	if err != nil {
		return "", err
	}
	if text != nil {
		err = native.Feed(ctx, h, text, name)
	} else {
		err = f.EachDebug(func(in *formats.Input) error { return native.FeedSection(ctx, h, in, name) })
	}
	return native.Sum(h), err
}
