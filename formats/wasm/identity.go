package wasm

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"

	"github.com/symlake/symlake/formats"
	"github.com/symlake/symlake/formats/internal/native"
	"github.com/symlake/symlake/formats/internal/wasmfile"
	"github.com/symlake/symlake/formats/symbol"
)

// Bytes of a build_id. Less is no hash of anything.
const (
	leastBuildID = 8
	mostBuildID  = 64
	uuidBytes    = 16
)

// identify finds a module's canonical id, as the package says, and its names. A file without code and build_id has no id.
func identify(ctx context.Context, in *formats.Input, f *wasmfile.File) (*native.Identity, error) {
	id := &native.Identity{}
	raw, payload, err := f.BuildID()
	if err != nil {
		return nil, err
	}
	if len(raw) >= leastBuildID && len(raw) <= mostBuildID && slices.ContainsFunc(raw, func(b byte) bool { return b != 0 }) {
		text := hex.EncodeToString(raw)
		id.Claim(text)
		id.Add(symbol.NameBuildID, text)
		id.Add(symbol.NameDebugID, debugID(raw))
		// Sentry's library and symbolic take the count of bytes for a part of the id.
		id.Add(symbol.NameBuildID, hex.EncodeToString(payload))
		id.Add(symbol.NameDebugID, debugID(payload))
	}
	if id.Canonical == "" && f.CodeBytes() > 0 {
		text, err := codeHash(ctx, f)
		if err != nil {
			return nil, err
		}
		id.Claim(text)
		id.Add(symbol.NameHash, text)
	}
	id.Add(symbol.NameFile, in.FileName())
	title, err := f.ModuleName()
	if err != nil {
		return nil, err
	}
	if title = formats.Base(title); int64(len(title)) <= in.Limits.NameBytes && strings.TrimSpace(title) != "" {
		id.Add(symbol.NameFile, title)
	}
	return id, nil
}

// debugID is a build_id as a UUID: its first 16 bytes, zeros if it has fewer.
func debugID(raw []byte) string {
	var b [uuidBytes]byte
	copy(b[:], raw)
	return fmt.Sprintf("%x-%x-%x-%x-%x", b[0:4], b[4:6], b[6:8], b[8:10], b[10:])
}

// codeHash is the id of a module that carries none.
func codeHash(ctx context.Context, f *wasmfile.File) (string, error) {
	code, err := f.Code()
	if err != nil {
		return "", err
	}
	h := sha256.New()
	h.Write(binary.BigEndian.AppendUint64(nil, f.CodeStart()))
	if err := native.Feed(ctx, h, code, name); err != nil {
		return "", err
	}
	return native.Sum(h), nil
}

// partName is how a file with the DWARF of a module is called.
func partName(canonical string) string { return "wasm:" + canonical }
