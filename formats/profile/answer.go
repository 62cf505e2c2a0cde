package profile

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/klauspost/compress/gzip"

	"github.com/symlake/symlake/formats"
	"github.com/symlake/symlake/formats/samples"
)

// ErrFormat says that an input is no profile.
var ErrFormat = errors.New("no profile of a known form")

// Answer writes a profile with answers, in the form and packing that it came in. o.Counts tell what became of it. The error
// is ErrFormat if no format of the list knows the input; nothing was written then.
func Answer(ctx context.Context, list []*Format, in *Input, out io.Writer, o *Options) error {
	plain, head, packing, err := Unpack(in)
	if err != nil {
		return err
	}
	f := Find(list, head)
	if f == nil {
		return ErrFormat
	}
	o.Counts.Format = f.Name
	defer func() {
		if plain.damaged != nil {
			o.Counts.Keep(fmt.Sprintf("the packing of the profile is damaged (%v): what stands behind is not read", plain.damaged), "")
		}
	}()
	o.list = list
	if f.Appends {
		return appended(ctx, f, in, plain, packing, out, o)
	}
	w := bufio.NewWriterSize(out, 256<<10)
	to, end := io.Writer(w), w.Flush
	if packing == Gzip {
		z := fast(w)
		to, end = z, func() error { return errors.Join(z.Close(), w.Flush()) }
	}
	err = formats.Guard(f.Name, func() error { return f.Answer(ctx, plain, to, o) })
	return errors.Join(err, end())
}

// fast packs at a level that costs about as much as reading the profile.
func fast(w io.Writer) *gzip.Writer {
	z, _ := gzip.NewWriterLevel(w, gzip.BestSpeed) // no error: it is a level
	return z
}

// appended copies a profile as it came, and writes its answers behind it.
func appended(ctx context.Context, f *Format, in, plain *Input, packing Packing, out io.Writer, o *Options) error {
	w := bufio.NewWriterSize(out, 256<<10)
	if packing == Gzip { // a member of its own goes behind the others
		if err := in.copy(w); err != nil {
			return err
		}
		z := fast(w)
		err := formats.Guard(f.Name, func() error { return f.Answer(ctx, plain, z, o) })
		return errors.Join(err, z.Close(), w.Flush())
	}
	copied := &Input{Name: in.Name, Open: func() (io.ReadCloser, error) {
		r, err := in.Open()
		if err != nil {
			return nil, err
		}
		return &teed{io.TeeReader(r, w), r}, nil
	}}
	err := formats.Guard(f.Name, func() error { return f.Answer(ctx, copied, w, o) })
	return errors.Join(err, w.Flush())
}

// copy writes an input as it came.
func (in *Input) copy(to io.Writer) error {
	r, err := in.Open()
	if err != nil {
		return err
	}
	_, err = io.Copy(to, r)
	return errors.Join(err, r.Close())
}

// teed reads an input, and writes a copy of each byte that it reads.
type teed struct {
	io.Reader
	io.Closer
}

// Samples reads the samples of a profile, with the names that it has. The error is ErrFormat if no format of the list knows
// the input, or if its form has no samples.
func Samples(ctx context.Context, list []*Format, in *Input, to *samples.Profile) error {
	plain, head, _, err := Unpack(in)
	if err != nil {
		return err
	}
	f := Find(list, head)
	if f == nil || f.Samples == nil {
		return ErrFormat
	}
	return formats.Guard(f.Name, func() error { return f.Samples(ctx, plain, to) })
}

// Inside writes a profile that a profile of another form has inside, with answers. Its places and faults count as the outer
// one's. The error is ErrFormat if no form of Answer's list knows it, or if it stands inside of another one.
func (o *Options) Inside(ctx context.Context, b []byte, out io.Writer) error {
	inner := *o
	inner.list, inner.Memory = nil, o.Room()/2
	err := Answer(ctx, o.list, Bytes("", b), out, &inner)
	inner.Counts.Format, inner.Counts.Samples = o.Counts.Format, o.Counts.Samples
	o.Counts = inner.Counts
	return err
}
