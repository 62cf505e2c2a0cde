package native

import (
	"context"

	"github.com/symlake/symlake/formats"
)

// TableDigest is symbol.Layout's Table: the sections of __TEXT, which a dSYM describes as its image
// does.
func (f *MachO) TableDigest() [32]byte {
	var places []place
	for i := range f.headers {
		if h := &f.headers[i]; h.segment == "__TEXT" {
			places = append(places, place{h.name, h.addr, h.size, uint64(h.flags & (pureCode | someCode))})
		}
	}
	return tableDigest(f.Arch(), f.Base(), places)
}

// CodeDigest is symbol.Layout's Code. It reads all code; a dSYM has none.
func (f *MachO) CodeDigest(ctx context.Context) ([32]byte, error) {
	var parts []*formats.Input
	for i := range f.headers {
		h := &f.headers[i]
		if f.DSYM() || !h.code() || !h.stored() {
			continue
		}
		if h.off > uint64(f.in.Size) || h.size > uint64(f.in.Size)-h.off {
			return [32]byte{}, f.corrupt(h.name, 0, "code inside the file")
		}
		in, err := f.in.Section(h.name, int64(h.off), int64(h.size))
		if err != nil {
			return [32]byte{}, err
		}
		parts = append(parts, in)
	}
	return codeDigest(ctx, "macho", parts)
}
