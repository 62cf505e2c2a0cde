package native

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"slices"

	"github.com/symlake/symlake/formats"
)

// Place is one loaded section as a layout compares it.
type Place struct {
	Name       string
	Addr, Size uint64
	Flags      uint64
}

// MaxPlaceName is how much of a section's name counts: names of a hostile file share their bytes,
// and would be read once for each section.
const MaxPlaceName = 256

// TableDigest hashes loaded sections by their addresses, which tools keep where they change the
// order of headers. Zero: there are none.
func TableDigest(arch string, base uint64, places []Place) (sum [32]byte) {
	if len(places) == 0 {
		return sum
	}
	slices.SortFunc(places, func(a, b Place) int {
		return cmp.Or(cmp.Compare(a.Addr, b.Addr), cmp.Compare(a.Name, b.Name), cmp.Compare(a.Size, b.Size), cmp.Compare(a.Flags, b.Flags))
	})
	h := sha256.New()
	var b []byte
	text := func(s string) {
		b = binary.BigEndian.AppendUint32(b, uint32(len(s)))
		b = append(b, s...)
	}
	text(arch)
	b = binary.BigEndian.AppendUint64(b, base)
	for _, p := range places {
		text(p.Name)
		b = binary.BigEndian.AppendUint64(b, p.Addr)
		b = binary.BigEndian.AppendUint64(b, p.Size)
		b = binary.BigEndian.AppendUint64(b, p.Flags)
		h.Write(b)
		b = b[:0]
	}
	return [32]byte(h.Sum(nil))
}

// CodeDigest hashes contents one after the other. Zero: there are none.
func CodeDigest(ctx context.Context, format string, parts []*formats.Input) (sum [32]byte, err error) {
	if len(parts) == 0 {
		return sum, nil
	}
	h := sha256.New()
	for _, in := range parts {
		h.Write(binary.BigEndian.AppendUint64(nil, uint64(in.Size)))
		if err := Feed(ctx, h, in, format); err != nil {
			return sum, err
		}
	}
	return [32]byte(h.Sum(nil)), nil
}
