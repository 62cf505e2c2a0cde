package elf

import (
	"context"
	"errors"
	"strings"

	"github.com/symlake/symlake/formats"
	"github.com/symlake/symlake/formats/internal/cfi"
	"github.com/symlake/symlake/formats/internal/cfi/ehabi"
	"github.com/symlake/symlake/formats/internal/elffile"
	"github.com/symlake/symlake/formats/internal/native"
	"github.com/symlake/symlake/formats/symbol"
	"github.com/symlake/symlake/formats/unwind"
)

// offer adds the id by which debug files ask for this image, if it holds what they have lost. No one splits object files.
func (o *object) offer(obj *formats.Object, canonical string) {
	if has, lost := o.file.Frames(); has && !lost && !o.file.Relocatable() && len(obj.Companions) < formats.MaxCompanions {
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
	sources := []func(*cfi.Table) error{func(t *cfi.Table) error { return o.frames(ctx, o.file, t) }}
	if _, lost := o.file.Frames(); lost {
		sources = append(sources, func(t *cfi.Table) error { return o.imageFrames(ctx, canonical, t) })
	}
	return cfi.Emit(ctx, o.file.Base(), o.code, o.in.Limits, emit, sources...)
}

// imageFrames adds the call frame information of a debug file's image: found by its id, or beside the file under the name
// without the end that tools give debug files.
func (o *object) imageFrames(ctx context.Context, canonical string, t *cfi.Table) error {
	var beside []string
	for _, end := range [...]string{".debug", ".dbg", ".sym"} {
		if name, ok := strings.CutSuffix(o.in.FileName(), end); ok && name != "" {
			beside = append(beside, name)
		}
	}
	return cfi.FromImage(ctx, o.in, canonical, beside, t, func(in *formats.Input) (found bool, err error) {
		image, err := elffile.Open(in)
		if err != nil {
			return false, err
		}
		var id *native.Identity
		if id, err = identify(ctx, in, image); err == nil && id.Canonical == canonical && image.Base() == o.file.Base() {
			found = true
			err = o.frames(ctx, image, t)
		}
		return found, errors.Join(err, image.Close())
	})
}

// frames adds what one file says. A section that cannot be read is counted.
func (o *object) frames(ctx context.Context, f *elffile.File, t *cfi.Table) error {
	if err := t.Tell(".debug_frame", o.debugFrames(ctx, f, t)); err != nil {
		return err
	}
	s, open, err := f.EHFrame()
	if s != nil && err == nil {
		t.Rank = symbol.UnwindRuntime
		err = cfi.Read(ctx, &cfi.Section{In: s.In, Name: ".eh_frame", Addr: s.Addr, Runtime: true, Ends: open, BigEndian: f.BigEndian(),
			AddrSize: f.AddrSize(), Thumb: f.Thumb(), Arch: unwind.ArchOf(f.Arch())}, t)
	}
	if err := t.Tell(".eh_frame", err); err != nil {
		return err
	}
	return t.Tell(".ARM.exidx", indexFrames(ctx, f, t))
}

func indexFrames(ctx context.Context, f *elffile.File, t *cfi.Table) error {
	index, err := f.ARMIndex()
	if index == nil || err != nil {
		return err
	}
	memory, err := f.Loaded(ctx)
	if err != nil {
		return err
	}
	t.Rank = symbol.UnwindCompact
	return ehabi.Read(ctx, &ehabi.Index{In: index.In, Addr: index.Addr, BigEndian: f.BigEndian(), Memory: memory.View}, t)
}

func (o *object) debugFrames(ctx context.Context, f *elffile.File, t *cfi.Table) error {
	in, done, err := f.DebugFrame()
	if in != nil && err == nil {
		t.Rank = symbol.UnwindDebug
		err = cfi.Read(ctx, &cfi.Section{In: in, Name: ".debug_frame", BigEndian: f.BigEndian(), AddrSize: f.AddrSize(), Thumb: f.Thumb(),
			Arch: unwind.ArchOf(f.Arch())}, t)
	}
	return errors.Join(err, done())
}
