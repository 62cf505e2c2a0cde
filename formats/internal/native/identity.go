package native

import (
	"context"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"hash/crc32"
	"io"
	"slices"

	"github.com/symlake/symlake/formats"
	"github.com/symlake/symlake/formats/symbol"
)

// Identity is how a program file is known: its canonical id, and all names.
type Identity struct {
	Canonical string
	Names     []symbol.Name
}

// Add adds a name, unless it is empty or there already.
func (id *Identity) Add(kind symbol.NameKind, text string) {
	n := symbol.Name{Kind: kind, Text: text}
	if text != "" && !slices.Contains(id.Names, n) {
		id.Names = append(id.Names, n)
	}
}

// Claim makes text the canonical id unless there is one already.
func (id *Identity) Claim(text string) {
	if id.Canonical == "" {
		id.Canonical = text
	}
}

// Artifact is the artifact of that identity. Its addresses, less base, end
// at end.
func (id *Identity) Artifact(kind symbol.Kind, arch string, base, end uint64) symbol.Artifact {
	return symbol.Artifact{
		ID:        symbol.NewID(kind, id.Canonical),
		Kind:      kind,
		Canonical: id.Canonical,
		Names:     id.Names,
		Arch:      arch,
		Base:      base,
		End:       end - base,
	}
}

// Sum is a hash over contents as a canonical id.
func Sum(h hash.Hash) string { return "sha256:" + hex.EncodeToString(h.Sum(nil)) }

// Feed writes all of in to w. format stands in its errors.
func Feed(ctx context.Context, w io.Writer, in *formats.Input, format string) error {
	const piece = 1 << 20
	r := io.NewSectionReader(in.Bytes, 0, in.Size)
	for left := in.Size; left > 0; left -= piece {
		if err := ctx.Err(); err != nil {
			return err
		}
		if _, err := io.CopyN(w, r, min(left, piece)); errors.Is(err, io.EOF) {
			return &formats.Error{Format: format, Section: in.Name, Offset: in.Size - left, Want: "more bytes than there are", Err: formats.ErrCorrupt}
		} else if err != nil {
			return err
		}
	}
	return nil
}

// FeedSection writes the name, the size and the bytes of a section to h.
func FeedSection(ctx context.Context, h hash.Hash, in *formats.Input, format string) error {
	io.WriteString(h, in.Name)
	h.Write(binary.BigEndian.AppendUint64([]byte{0}, uint64(in.Size)))
	return Feed(ctx, h, in, format)
}

// Opened is what a format's Open returns: obj or, if describing it went wrong,
// the error, after closing obj.
func Opened(obj *formats.Object, err error) (*formats.Object, error) {
	if err != nil {
		return nil, errors.Join(err, obj.Close())
	}
	return obj, nil
}

// LinkName returns the id "debuglink:NAME:CRC32" of a debug file, and of the file that has a link to it. The checksum is
// CRC-32 over the whole debug file.
func LinkName(file string, crc uint32) string {
	return fmt.Sprintf("debuglink:%s:%08x", formats.Base(file), crc)
}

// Checksum returns the CRC-32 of a whole file, as a debug link has it.
func Checksum(ctx context.Context, in *formats.Input, format string) (uint32, error) {
	h := crc32.NewIEEE()
	err := Feed(ctx, h, in, format)
	return h.Sum32(), err
}
