package native

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"slices"

	"github.com/symlake/symlake/formats"
)

// place is one loaded section as a layout compares it.
type place struct {
	name       string
	addr, size uint64
	flags      uint64
}

// maxPlaceName is how much of a section's name counts: names of a hostile file share their bytes,
// and would be read once for each section.
const maxPlaceName = 256

// tableDigest hashes loaded sections by their addresses, which tools keep where they change the
// order of headers. Zero: there are none.
func tableDigest(arch string, base uint64, places []place) (sum [32]byte) {
	if len(places) == 0 {
		return sum
	}
	slices.SortFunc(places, func(a, b place) int {
		return cmp.Or(cmp.Compare(a.addr, b.addr), cmp.Compare(a.name, b.name), cmp.Compare(a.size, b.size), cmp.Compare(a.flags, b.flags))
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
		text(p.name)
		b = binary.BigEndian.AppendUint64(b, p.addr)
		b = binary.BigEndian.AppendUint64(b, p.size)
		b = binary.BigEndian.AppendUint64(b, p.flags)
		h.Write(b)
		b = b[:0]
	}
	return [32]byte(h.Sum(nil))
}

// codeDigest hashes contents one after the other. Zero: there are none.
func codeDigest(ctx context.Context, format string, parts []*formats.Input) (sum [32]byte, err error) {
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
