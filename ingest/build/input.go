package build

import (
	"context"
	"errors"
	"fmt"
	"io"
	"runtime/debug"

	"github.com/symlake/symlake/formats"
	"github.com/symlake/symlake/ingest/companions"
	"github.com/symlake/symlake/sinks/bucket"
	"github.com/symlake/symlake/sinks/scratch"
)

// Opener opens objects. Inputs that are staged or spooled take memory and scratch files of its
// budgets.
type Opener struct {
	Budget  *scratch.Budget
	Disk    *scratch.Budget // nil: no bound
	Scratch string          // folder of scratch files
	Limits  *formats.Limits
}

// Open opens an entry of a bucket. A local file is mapped. Of a remote object the head is read, and
// Fetch brings the whole of it.
func (o *Opener) Open(ctx context.Context, b bucket.Bucket, e bucket.Entry) (*formats.Input, error) {
	r, err := b.Open(ctx, e)
	if err != nil {
		return nil, err
	}
	sp := &scratch.Spool{Budget: o.Budget, Dir: o.Scratch, Disk: o.Disk, Limits: o.Limits}
	in := &formats.Input{Name: b.URL(e.Key), Size: e.Size, Limits: o.Limits, Bytes: r, Mapped: r.Mapped(), Release: r.Close}
	in.Spool = spooler(in, sp)
	f, remote := b.(bucket.Fetcher)
	if in.Mapped != nil || !remote {
		return in, nil
	}
	in.Fetch = func(ctx context.Context) error {
		whole, err := sp.Stage(in.Name, e.Size, func(w io.WriterAt) error { return f.Fetch(ctx, e, w) })
		if err != nil {
			return err
		}
		in.Bytes, in.Mapped, in.Fetch = whole.Bytes, whole.Mapped, nil
		in.Release = func() error { return errors.Join(whole.Release(), r.Close()) }
		return nil
	}
	return in, nil
}

// openWhole opens a companion with all its bytes within reach. Companions have no companions.
func (o *Opener) openWhole(ctx context.Context, b bucket.Bucket, e bucket.Entry) (*formats.Input, error) {
	in, err := o.Open(ctx, b, e)
	if err != nil {
		return nil, changed(err)
	}
	in.Companion = func(context.Context, formats.Ref) (*formats.Input, error) { return nil, formats.ErrNoCompanion }
	if in.Fetch != nil {
		if err := in.Fetch(ctx); err != nil {
			return nil, errors.Join(changed(err), release(in))
		}
	}
	return in, nil
}

// openBeside opens the file called name, seen from key, if may allows its key.
func (o *Opener) openBeside(ctx context.Context, b bucket.Bucket, key, name string, may func(key string) (bool, error)) (*formats.Input, error) {
	e, err := companions.Beside(ctx, b, key, name, may)
	if err != nil {
		return nil, err
	}
	return o.openWhole(ctx, b, e)
}

// changed turns bucket.ErrNotFound into bucket.ErrChanged: the companion was there a moment ago. The
// object that asked for it is not gone, and asks again.
func changed(err error) error {
	if errors.Is(err, bucket.ErrNotFound) {
		return fmt.Errorf("%w: %v", bucket.ErrChanged, err)
	}
	return err
}

// spooler returns the Spool of an input. A spooled input can spool in turn, and asks for companions
// the same way.
func spooler(in *formats.Input, sp *scratch.Spool) func(string, int64, io.Reader) (*formats.Input, error) {
	return func(name string, size int64, r io.Reader) (*formats.Input, error) {
		s, err := sp.Read(name, size, r)
		if err != nil {
			return nil, err
		}
		s.Companion = in.Companion
		s.Spool = spooler(s, sp)
		return s, nil
	}
}

func release(in *formats.Input) error {
	if in.Release == nil {
		return nil
	}
	return in.Release()
}

// mapped calls f, which reads strings that may lie in a mapped file. The error is bucket.ErrChanged if
// the file became shorter meanwhile.
func mapped(f func() error) (err error) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer func() {
		v := recover()
		if fault, ok := v.(interface{ Addr() uintptr }); ok {
			err = fmt.Errorf("read a name at %#x: %w", fault.Addr(), bucket.ErrChanged)
		} else if v != nil {
			panic(v)
		}
	}()
	return f()
}
