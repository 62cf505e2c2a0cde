package profiles

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/klauspost/compress/gzip"

	"github.com/symlake/symlake/formats"
	"github.com/symlake/symlake/formats/profile"
	"github.com/symlake/symlake/formats/profile/all"
	"github.com/symlake/symlake/formats/samples"
	"github.com/symlake/symlake/sinks/scratch"
)

// Keep keeps a stream, so that it can be read several times. release frees its room.
type Keep func(name string, r io.Reader) (in *profile.Input, release func() error, err error)

// Spool keeps streams, so that they can be read several times: in memory while they are small, then in sealed scratch.
type Spool struct{ s scratch.Spool }

// spoolMemory is what all streams of a Spool take of the memory; one takes a quarter at most.
const spoolMemory = 32 << 20

// NewSpool returns a spool with scratch files in dir. disk bounds them; nil: no bound.
func NewSpool(dir string, disk *scratch.Budget) *Spool {
	limits := formats.Limits{SpoolBytes: 1 << 62}.WithDefaults()
	return &Spool{scratch.Spool{Budget: scratch.NewBudget(spoolMemory), Disk: disk, Dir: dir, Limits: &limits}}
}

// Keep implements the type Keep.
func (s *Spool) Keep(name string, r io.Reader) (in *profile.Input, release func() error, err error) {
	kept, err := s.s.Read(name, -1, r)
	if err != nil {
		return nil, nil, err
	}
	return &profile.Input{Name: name, Open: func() (io.ReadCloser, error) {
		return io.NopCloser(io.NewSectionReader(kept.Bytes, 0, kept.Size)), nil
	}}, kept.Release, nil
}

// Write writes a profile with answers, in the form of to. room bounds the samples of a conversion, in bytes; 0:
// samples.RoomBytes. The error is of Answer, of Samples or of a form's Write.
func Write(ctx context.Context, in *profile.Input, out io.Writer, to Output, o *profile.Options, keep Keep, room int64) error {
	if to.Form != nil {
		return convert(ctx, in, out, to, o, keep, room)
	}
	return to.packed(in, out, func(w io.Writer) error { return profile.Answer(ctx, all.Formats, in, w, o) })
}

// Asked writes what ask gets from a server, which packs as Write does without Output.Pack.
func (o Output) Asked(in *profile.Input, out io.Writer, ask func(io.Writer) error) error {
	if o.Form != nil {
		return packed(out, o.Pack, ask)
	}
	return o.packed(in, out, ask)
}

// packed packs a profile in its own form, unless it came so.
func (o Output) packed(in *profile.Input, out io.Writer, write func(io.Writer) error) error {
	if !o.Pack {
		return write(out)
	}
	_, _, packing, err := profile.Unpack(in)
	if err != nil {
		return err
	}
	return packed(out, packing == profile.Plain, write)
}

// convert writes a profile in another form.
func convert(ctx context.Context, in *profile.Input, out io.Writer, to Output, o *profile.Options, keep Keep, room int64) error {
	plain, _, _, err := profile.Unpack(in) // the answered profile is not packed again
	if err != nil {
		return err
	}
	kept, release, err := answered(ctx, plain, o, keep)
	if err != nil {
		return err
	}
	from := samples.Profile{Room: room}
	err = profile.Samples(ctx, all.Formats, kept, &from)
	if err = errors.Join(err, release()); err != nil {
		return fmt.Errorf("read samples: %w", err)
	}
	return packed(out, to.Pack, func(w io.Writer) error {
		b := bufio.NewWriterSize(w, 64<<10)
		if err := to.Form.Write(b, &from); err != nil {
			return err
		}
		return b.Flush()
	})
}

// Memory returns a Keep that keeps so many bytes of a stream in memory. The error of a longer one is formats.ErrLimit.
func Memory(most int64) Keep {
	return func(name string, r io.Reader) (*profile.Input, func() error, error) {
		text, err := io.ReadAll(io.LimitReader(r, most+1))
		if err == nil && int64(len(text)) > most {
			err = &formats.Error{Format: "profile", Section: name, Offset: most, Want: "a smaller profile, or one without conversion", Err: formats.ErrLimit}
		}
		if err != nil {
			return nil, nil, err
		}
		return profile.Bytes(name, text), func() error { return nil }, nil
	}
}

// answered keeps a profile with its answers.
func answered(ctx context.Context, in *profile.Input, o *profile.Options, keep Keep) (*profile.Input, func() error, error) {
	r, w := io.Pipe()
	type kept struct {
		in      *profile.Input
		release func() error
		err     error
	}
	done := make(chan kept, 1)
	go func() {
		var k kept
		k.in, k.release, k.err = keep(in.Name, r)
		r.CloseWithError(k.err) // a writer that has no reader any more ends
		done <- k
	}()
	err := profile.Answer(ctx, all.Formats, in, w, o)
	w.CloseWithError(err)
	k := <-done
	switch {
	case k.err != nil && !errors.Is(k.err, err): // it ended the writer, too
		return nil, nil, k.err
	case err != nil && k.err == nil:
		return nil, nil, errors.Join(err, k.release())
	case err != nil:
		return nil, nil, err
	}
	return k.in, k.release, k.err
}

// packed packs what write writes, if it is to be packed.
func packed(out io.Writer, pack bool, write func(io.Writer) error) error {
	if !pack {
		return write(out)
	}
	z := gzip.NewWriter(out)
	if err := write(z); err != nil {
		return err
	}
	return z.Close()
}
