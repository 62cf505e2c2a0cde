package pefile

import (
	"context"

	"github.com/symlake/symlake/formats"
	"github.com/symlake/symlake/formats/internal/native"
	"github.com/symlake/symlake/formats/symbol"
)

// TableDigest is symbol.Layout's Table: the sections that stay in memory, as an image, its stripped twin and its debug file have them.
func (f *File) TableDigest() [32]byte {
	var places []native.Place
	for i := range f.headers {
		if s := &f.headers[i]; s.Flags&flagDiscardable == 0 && s.Name != buildSection {
			places = append(places, native.Place{Name: s.Name[:min(len(s.Name), native.MaxPlaceName)], Addr: uint64(s.Addr), Size: uint64(s.Size),
				Flags: uint64(s.Flags & (flagExecute | flagRead | flagWrite))})
		}
	}
	return native.TableDigest(f.Arch(), f.base, places)
}

// CodeDigest is symbol.Layout's Code. It reads all code; a debug file has none.
func (f *File) CodeDigest(ctx context.Context) ([32]byte, error) {
	var parts []*formats.Input
	err := f.EachCode(func(in *formats.Input) error {
		parts = append(parts, in)
		return nil
	})
	if err != nil {
		return [32]byte{}, err
	}
	return native.CodeDigest(ctx, f.Format, parts)
}

// Parts returns the sections with data, by position.
func (f *File) Parts() []symbol.Part {
	var all []symbol.Part
	for i := range f.headers {
		if s := &f.headers[i]; !s.Executed() && s.Flags&flagDiscardable == 0 {
			at := f.base + uint64(s.Addr)
			all = append(all, symbol.Part{Name: s.Name, Start: at, End: at + uint64(s.Size)})
		}
	}
	return native.Parts(all, f.base)
}

// Segments returns where code lies in the file.
func (f *File) Segments() []symbol.Segment {
	var all []symbol.Segment
	for i := range f.headers {
		if s := &f.headers[i]; s.Executed() {
			all = append(all, symbol.Segment{Position: f.base + uint64(s.Addr), Size: uint64(s.Size), Offset: uint64(s.Offset), Stored: uint64(s.Stored)})
		}
	}
	return native.Segments(all, f.base)
}
