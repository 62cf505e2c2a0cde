package pdb

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/symlake/symlake/formats"
	"github.com/symlake/symlake/formats/internal/cfi"
	"github.com/symlake/symlake/formats/internal/cfi/pdata"
	"github.com/symlake/symlake/formats/internal/msf"
	"github.com/symlake/symlake/formats/internal/native"
	"github.com/symlake/symlake/formats/internal/pefile"
	"github.com/symlake/symlake/formats/symbol"
	"github.com/symlake/symlake/formats/unwind"
)

// frames returns what emits the call frame information of the image: for x86 the records of the file, else the tables
// that the image holds. It is nil if the processor is not known.
func (o *object) frames(a *symbol.Artifact) func(context.Context, func(*symbol.Unwind) error) (symbol.Quality, error) {
	if unwind.ArchOf(a.Arch) == nil {
		return nil
	}
	canonical, own := a.Canonical, a.Arch == "x86"
	return func(ctx context.Context, emit func(*symbol.Unwind) error) (symbol.Quality, error) {
		if err := ctx.Err(); err != nil {
			return symbol.Quality{}, err
		}
		if !own {
			return o.imageFrames(ctx, canonical, emit)
		}
		code := make([]native.Span, 0, len(o.layout.final))
		for _, s := range o.layout.final {
			if s.code {
				code = append(code, native.Span{Start: uint64(s.start), End: uint64(s.end)})
			}
		}
		return cfi.Emit(ctx, 0, native.Disjoint(code, 0), o.in.Limits, emit, func(t *cfi.Table) error {
			t.Rank = symbol.UnwindDebug
			return t.Tell("frame data", o.frameData(ctx, t))
		}, func(t *cfi.Table) error { return t.Tell("FPO", o.fpo(ctx, t)) })
	}
}

// imageFrames emits what the image says.
func (o *object) imageFrames(ctx context.Context, canonical string, emit func(*symbol.Unwind) error) (q symbol.Quality, err error) {
	in, err := o.askImage(ctx, canonical)
	if in == nil || err != nil {
		return q, err
	}
	if in.Release != nil {
		defer in.Release()
	}
	image, err := pefile.Open(in)
	if formats.Rejects(err) {
		return q, nil // damaged: as good as missing
	} else if err != nil {
		return q, err
	}
	t := cfi.NewTable(image.Base(), image.Code(), o.in.Limits, emit)
	t.Rank = symbol.UnwindRuntime
	id := &native.Identity{}
	if err = image.Names(id); err == nil && id.Canonical == canonical {
		err = pdata.Read(ctx, image, t)
	}
	if err = t.Tell(".pdata", err); err == nil {
		err = t.Flush()
	}
	return t.Quality, errors.Join(err, image.Close())
}

// askImage finds the image: beside the file, under the same name, or by its id.
func (o *object) askImage(ctx context.Context, canonical string) (*formats.Input, error) {
	if o.in.Companion == nil {
		return nil, nil
	}
	var refs []formats.Ref
	file := o.in.FileName()
	if i := strings.LastIndexByte(file, '.'); i > 0 {
		for _, ending := range [...]string{".dll", ".exe"} {
			refs = append(refs, formats.Ref{Name: file[:i] + ending, Optional: true})
		}
	}
	for _, want := range append(refs, formats.Ref{ID: cfi.ImageID(canonical)}) {
		in, err := o.in.Companion(ctx, want)
		if !errors.Is(err, formats.ErrNoCompanion) {
			return in, err
		}
	}
	return nil, nil
}

// frame is code with one rule, before it was moved.
type frame struct {
	start, end uint32
	rules      unwind.Windows
}

const (
	frameBytes = 32
	fpoBytes   = 16
	maxProgram = 2 << 10 // bytes; the longest real ones have some hundred
)

// frameData adds the records of frame data.
func (o *object) frameData(ctx context.Context, t *cfi.Table) error {
	b, err := o.extra("frame data", extraNewFPO)
	if err != nil || len(b) == 0 {
		return err
	}
	if err := o.prepare(ctx); err != nil {
		return err
	}
	if len(b)%frameBytes == 4 { // some begin with a relocation
		b = b[4:]
	}
	list := make([]frame, 0, len(b)/frameBytes)
	programs := map[uint32]string{}
	for off := 0; len(b) >= frameBytes; off, b = off+frameBytes, b[frameBytes:] {
		f := frame{start: u32(b), end: u32(b) + u32(b[4:])}
		f.rules = unwind.Windows{Locals: u32(b[8:]), Params: u32(b[12:]), MaxStack: u32(b[16:]), Saved: uint32(u16(b[26:]))}
		at := u32(b[20:])
		program, known := programs[at]
		if !known {
			program = o.program(at)
			programs[at] = program
		}
		if t.Quality.Units++; f.end <= f.start || program == "" {
			t.Drop("frame data", uint64(off), "a function with a program")
			continue
		}
		f.rules.Program = program
		list = append(list, f)
	}
	return o.addFrames(ctx, t, list)
}

// program returns the program at an offset of the string table; "" if there is none.
func (o *object) program(off uint32) string {
	if uint64(off) >= uint64(len(o.texts)) {
		return ""
	}
	b := o.texts[off:]
	end := bytes.IndexByte(b[:min(len(b), maxProgram)], 0)
	if end < 0 {
		return ""
	}
	return strings.TrimSpace(string(b[:end]))
}

// fpo adds the older records.
func (o *object) fpo(ctx context.Context, t *cfi.Table) error {
	b, err := o.extra("FPO", extraFPO)
	if err != nil {
		return err
	}
	list := make([]frame, 0, len(b)/fpoBytes)
	for off := 0; len(b) >= fpoBytes; off, b = off+fpoBytes, b[fpoBytes:] {
		f := frame{start: u32(b), end: u32(b) + u32(b[4:])}
		locals, flags := u32(b[8:]), u16(b[14:])
		if t.Quality.Units++; f.end <= f.start || locals >= 1<<30 {
			t.Drop("FPO", uint64(off), "a function with fewer locals")
			continue
		}
		f.rules = unwind.Windows{Locals: 4 * locals, Params: 4 * uint32(u16(b[12:])), Saved: 4 * uint32(flags>>8&7), UsesBase: flags>>12&1 != 0}
		list = append(list, f)
	}
	return o.addFrames(ctx, t, list)
}

// extra reads a further stream of DBI; nothing if there is none.
func (o *object) extra(what string, which int) ([]byte, error) {
	n := o.dbi.stream(which)
	if n == noStream {
		return nil, nil
	}
	var s msf.Stream
	s, err := o.file.Stream(what, n)
	if err != nil {
		return nil, err
	}
	return s.All(nil)
}

// addFrames adds records. Where records overlap, the last to begin counts.
func (o *object) addFrames(ctx context.Context, t *cfi.Table, list []frame) error {
	slices.SortStableFunc(list, func(a, b frame) int { return cmp.Compare(a.start, b.start) })
	var open []int
	pos := uint32(0)
	until := func(limit uint32) error {
		for len(open) > 0 && pos < limit {
			f := &list[open[len(open)-1]]
			if to := min(f.end, limit); pos < to {
				if err := o.addFrame(t, pos, to, &f.rules); err != nil {
					return err
				}
				pos = to
			}
			if f.end <= pos {
				open = open[:len(open)-1]
			}
		}
		return nil
	}
	for i := range list {
		if i&0xffff == 0 {
			if err := ctx.Err(); err != nil {
				return err
			}
		}
		if err := until(list[i].start); err != nil {
			return err
		}
		pos = list[i].start
		open = append(open, i)
	}
	return until(^uint32(0))
}

// addFrame adds a rule where its code lies in the image.
func (o *object) addFrame(t *cfi.Table, start, end uint32, rules *unwind.Windows) error {
	r := &unwind.Rules{Windows: rules}
	if len(o.layout.moved) == 0 {
		return t.Add(uint64(start), uint64(end), r)
	}
	var err error
	o.layout.pieces(start, end, func(from, until, to uint32) {
		if err == nil {
			err = t.Add(uint64(to), uint64(to)+uint64(until-from), r)
		}
	})
	return err
}
