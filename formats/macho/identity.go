package macho

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/symlake/symlake/formats"
	"github.com/symlake/symlake/formats/internal/native"
	"github.com/symlake/symlake/formats/symbol"
)

// identity is how an image is known.
type identity struct {
	canonical string
	names     []symbol.Name
}

func (id *identity) add(kind symbol.NameKind, text string) {
	n := symbol.Name{Kind: kind, Text: text}
	if text != "" && !slices.Contains(id.names, n) {
		id.names = append(id.names, n)
	}
}

// identify finds an image's canonical id, as the package says, and its names.
func identify(ctx context.Context, in *formats.Input, f *native.MachO) (*identity, error) {
	id := &identity{}
	if id.canonical = uuid(f.UUID()); id.canonical != "" {
		id.add(symbol.NameDebugID, id.canonical)
	} else {
		sum, err := contentHash(ctx, f)
		if err != nil {
			return nil, err
		}
		id.canonical = sum
		id.add(symbol.NameHash, sum)
	}
	id.add(symbol.NameFile, fileName(in.Name))
	id.add(symbol.NameFile, fileName(f.InstallName()))
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
func contentHash(ctx context.Context, f *native.MachO) (string, error) {
	h := sha256.New()
	text, err := f.Stored("__TEXT", "__text")
	if err != nil {
		return "", err
	}
	if text != nil {
		err = feed(ctx, h, text)
	} else {
		err = f.EachDebug(func(in *formats.Input) error {
			io.WriteString(h, in.Name)
			h.Write(binary.BigEndian.AppendUint64([]byte{0}, uint64(in.Size)))
			return feed(ctx, h, in)
		})
	}
	return "sha256:" + hex.EncodeToString(h.Sum(nil)), err
}

// feed writes all of in to w.
func feed(ctx context.Context, w io.Writer, in *formats.Input) error {
	const piece = 1 << 20
	r := io.NewSectionReader(in.Bytes, 0, in.Size)
	for left := in.Size; left > 0; left -= piece {
		if err := ctx.Err(); err != nil {
			return err
		}
		if _, err := io.CopyN(w, r, min(left, piece)); errors.Is(err, io.EOF) {
			return &formats.Error{Format: name, Section: in.Name, Offset: in.Size - left, Want: "more bytes than there are", Err: formats.ErrCorrupt}
		} else if err != nil {
			return err
		}
	}
	return nil
}
