package machofile

import (
	"context"

	"github.com/symlake/symlake/formats"
	"github.com/symlake/symlake/formats/internal/native"
)

// TableDigest is symbol.Layout's Table: the sections of __TEXT, which a dSYM describes as its image
// does.
func (f *File) TableDigest() [32]byte {
	var places []native.Place
	for i := range f.headers {
		if h := &f.headers[i]; h.segment == "__TEXT" {
			places = append(places, native.Place{Name: h.name, Addr: h.addr, Size: h.size, Flags: uint64(h.flags & (pureCode | someCode))})
		}
	}
	return native.TableDigest(f.Arch(), f.Base(), places)
}

// CodeDigest is symbol.Layout's Code. It reads all code; a dSYM has none.
func (f *File) CodeDigest(ctx context.Context) ([32]byte, error) {
	var parts []*formats.Input
	for i := range f.headers {
		h := &f.headers[i]
		if f.DSYM() || !h.code() || !h.stored() {
			continue
		}
		if h.off > uint64(f.In.Size) || h.size > uint64(f.In.Size)-h.off {
			return [32]byte{}, f.Corrupt(h.name, 0, "code inside the file")
		}
		in, err := f.In.Section(h.name, int64(h.off), int64(h.size))
		if err != nil {
			return [32]byte{}, err
		}
		parts = append(parts, in)
	}
	return native.CodeDigest(ctx, "macho", parts)
}
