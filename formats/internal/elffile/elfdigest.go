package elffile

import (
	"context"

	"github.com/symlake/symlake/formats"
	"github.com/symlake/symlake/formats/internal/native"
)

// shfLoaded are the section flags that neither strip nor objcopy change.
const shfLoaded = 1 | shfAlloc | shfExec | 1<<10 // SHF_WRITE, SHF_TLS

// TableDigest is symbol.Layout's Table. Whether the file holds the bytes of a section does not
// count: a debug file holds none.
func (f *File) TableDigest() [32]byte {
	var places []native.Place
	for i := range f.headers {
		if h := &f.headers[i]; h.kind != 0 && h.flags&shfAlloc != 0 {
			places = append(places, native.Place{Name: h.name[:min(len(h.name), native.MaxPlaceName)], Addr: h.addr, Size: h.size, Flags: h.flags & shfLoaded})
		}
	}
	return native.TableDigest(f.Arch(), f.Base(), places)
}

// CodeDigest is symbol.Layout's Code. It reads all code.
func (f *File) CodeDigest(ctx context.Context) ([32]byte, error) {
	var parts []*formats.Input
	for i := range f.headers {
		if h := &f.headers[i]; h.code() && h.kind != 0 && h.kind != shtNobits {
			in, err := f.raw(i)
			if err != nil {
				return [32]byte{}, err
			}
			parts = append(parts, in)
		}
	}
	return native.CodeDigest(ctx, "elf", parts)
}
