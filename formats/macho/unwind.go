package macho

import (
	"context"
	"errors"

	"github.com/symlake/symlake/formats"
	"github.com/symlake/symlake/formats/internal/cfi"
	"github.com/symlake/symlake/formats/internal/cfi/compact"
	"github.com/symlake/symlake/formats/internal/machofile"
	"github.com/symlake/symlake/formats/internal/native"
	"github.com/symlake/symlake/formats/symbol"
	"github.com/symlake/symlake/formats/unwind"
)

// offer adds the id by which a debug file asks for this image, if it holds what that has lost.
func (o *object) offer(obj *formats.Object, canonical string) {
	if has, lost := o.file.Frames(); has && !lost {
		obj.Companions = append(obj.Companions, cfi.ImageID(canonical))
	}
}

// addUnwind gives the artifact its call frame information, if there is any and the processor is known.
func (o *object) addUnwind(a *formats.Artifact) {
	has, lost := o.file.Frames()
	if !has && !lost || unwind.ArchOf(a.Arch) == nil {
		return
	}
	canonical := a.Canonical
	a.Unwind = func(ctx context.Context, emit func(*symbol.Unwind) error) (symbol.Quality, error) {
		return o.unwind(ctx, canonical, emit)
	}
}

// unwind emits the call frame information of the file, and of its image if this is a debug file.
func (o *object) unwind(ctx context.Context, canonical string, emit func(*symbol.Unwind) error) (symbol.Quality, error) {
	sources := []func(*cfi.Table) error{func(t *cfi.Table) error { return frames(ctx, o.file, t) }}
	if _, lost := o.file.Frames(); lost {
		sources = append(sources, func(t *cfi.Table) error { return o.imageFrames(ctx, canonical, t) })
	}
	return cfi.Emit(ctx, o.file.Base(), o.code, o.in.Limits, emit, sources...)
}

// imageFrames adds the call frame information of a debug file's image: of the slice with its id.
func (o *object) imageFrames(ctx context.Context, canonical string, t *cfi.Table) error {
	return cfi.FromImage(ctx, o.in, canonical, nil, t, func(in *formats.Input) (found bool, err error) {
		in, err = sliceFor(in, o.file.Arch())
		if in == nil || err != nil {
			return false, err
		}
		image, err := machofile.Open(in)
		if err != nil {
			return false, err
		}
		var id *native.Identity
		if id, err = identify(ctx, in, image); err == nil && id.Canonical == canonical && image.Base() == o.file.Base() {
			found = true
			err = frames(ctx, image, t)
		}
		return found, errors.Join(err, image.Close())
	})
}

// frames adds what one image says. A section that cannot be read is counted.
func frames(ctx context.Context, f *machofile.File, t *cfi.Table) error {
	arch := unwind.ArchOf(f.Arch())
	in, err := f.Input(".debug_frame")
	if in != nil && err == nil {
		t.Rank = symbol.UnwindDebug
		err = cfi.Read(ctx, &cfi.Section{In: in, Name: "__debug_frame", BigEndian: f.BigEndian(), AddrSize: f.AddrSize(), Arch: arch}, t)
	}
	if err := t.Tell("__debug_frame", err); err != nil {
		return err
	}
	in, addr, err := f.EHFrame()
	if in != nil && err == nil {
		t.Rank = symbol.UnwindRuntime
		err = cfi.Read(ctx, &cfi.Section{In: in, Name: "__eh_frame", Addr: addr, Runtime: true, BigEndian: f.BigEndian(), AddrSize: f.AddrSize(),
			Swapped: arch.Name == "x86", Arch: arch}, t)
	}
	if err := t.Tell("__eh_frame", err); err != nil {
		return err
	}
	return t.Tell("__unwind_info", compactFrames(ctx, f, arch, t))
}

func compactFrames(ctx context.Context, f *machofile.File, arch *unwind.Arch, t *cfi.Table) error {
	in, err := f.Compact()
	if in == nil || err != nil {
		return err
	}
	memory, err := f.Loaded()
	if err != nil {
		return err
	}
	t.Rank = symbol.UnwindCompact
	return compact.Read(ctx, &compact.Info{In: in, Base: f.Base(), Order: f.Order, Arch: arch, Memory: memory.View}, t)
}
