package pe

import (
	"context"
	"errors"

	"github.com/symlake/symlake/formats"
	"github.com/symlake/symlake/formats/internal/cfi"
	"github.com/symlake/symlake/formats/internal/cfi/pdata"
	"github.com/symlake/symlake/formats/internal/native"
	"github.com/symlake/symlake/formats/internal/pefile"
	"github.com/symlake/symlake/formats/symbol"
	"github.com/symlake/symlake/formats/unwind"
)

// Sections with call frame information of DWARF. A header without a string table cuts the first one's name.
var frameSections = [...]string{".eh_frame", ".eh_fram", ".debug_frame"}

// hasFrames reports whether the file holds call frame information.
func (o *object) hasFrames() bool {
	for _, section := range frameSections {
		if o.file.Has(section) {
			return true
		}
	}
	d := o.file.Directory(pefile.DirException)
	return d.Size > 0 && o.file.Room(d.Addr) > 0
}

// frames returns what emits the call frame information of the file, or of the image if this is a debug file; nil if
// there is none, or if the processor is not known.
func (o *object) frames(canonical string) func(context.Context, func(*symbol.Unwind) error) (symbol.Quality, error) {
	if unwind.ArchOf(o.file.Arch()) == nil || !o.hasFrames() && !o.file.Debug() {
		return nil
	}
	return func(ctx context.Context, emit func(*symbol.Unwind) error) (symbol.Quality, error) {
		return cfi.Emit(ctx, o.file.Base(), o.code, o.in.Limits, emit, func(t *cfi.Table) error {
			if o.hasFrames() {
				return readFrames(ctx, o.file, t)
			}
			return o.imageFrames(ctx, canonical, t)
		})
	}
}

// readFrames adds what one file says. A section that cannot be read is counted.
func readFrames(ctx context.Context, f *pefile.File, t *cfi.Table) error {
	for _, section := range frameSections {
		in, err := f.Input(section)
		if in != nil && err == nil {
			runtime := section[1] == 'e'
			if t.Rank = symbol.UnwindDebug; runtime {
				t.Rank = symbol.UnwindRuntime
			}
			err = cfi.Read(ctx, &cfi.Section{In: in, Name: section, Addr: f.Address(section), Runtime: runtime, AddrSize: f.AddrSize(), Thumb: f.Thumb(),
				Arch: unwind.ArchOf(f.Arch())}, t)
		}
		if err = t.Tell(section, err); err != nil {
			return err
		}
	}
	return t.Tell(".pdata", pdata.Read(ctx, f, t))
}

// imageFrames adds what the image of a debug file says.
func (o *object) imageFrames(ctx context.Context, canonical string, t *cfi.Table) error {
	return cfi.FromImage(ctx, o.in, canonical, nil, t, func(in *formats.Input) (found bool, err error) {
		image, err := pefile.Open(in)
		if err != nil {
			return false, err
		}
		var id *native.Identity
		if id, err = identify(ctx, in, image); err == nil && id.Canonical == canonical {
			found = true
			err = readFrames(ctx, image, t)
		}
		return found, errors.Join(err, image.Close())
	})
}
