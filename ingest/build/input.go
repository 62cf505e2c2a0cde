package build

import (
	"context"
	"errors"
	"fmt"
	"io"
	"runtime/debug"

	"github.com/symlake/symlake/formats"
	"github.com/symlake/symlake/ingest/companions"
	"github.com/symlake/symlake/ingest/discover"
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
	in := &formats.Input{Name: b.URL(e.Key), File: e.File, Size: e.Size, Limits: o.Limits, Bytes: r, Mapped: r.Mapped(), Release: r.Close}
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

// Visit is called for each object and member that Walk opened: f is nil if no format knows it, err
// says why it could not be opened. in and obj are valid during the call.
type Visit func(in *formats.Input, f *formats.Format, obj *formats.Object, err error) error

// Walk opens every object of a source and, nested as ingest nests, its members. It stores nothing.
// Companions are found beside an object only. visit's error comes back unchanged.
func Walk(ctx context.Context, s discover.Source, list []*formats.Format, o Opener, visit Visit) error {
	src, err := discover.NewSource(s)
	if err != nil {
		return err
	}
	one := func(e bucket.Entry) error {
		in, err := o.Open(ctx, src.Bucket, e)
		if err != nil {
			return fmt.Errorf("open %s: %w", src.Bucket.URL(e.Key), err)
		}
		in.Companion = func(ctx context.Context, want formats.Ref) (*formats.Input, error) {
			return o.openBeside(ctx, src.Bucket, e.Key, want.Name, func(string) (bool, error) { return true, nil })
		}
		return errors.Join(walkInput(ctx, in, list, o.Limits, 0, visit), release(in))
	}
	if s.Key != "" {
		e, _, err := src.Bucket.Stat(ctx, s.Key)
		if err != nil {
			return err
		}
		return one(e)
	}
	return src.Bucket.List(ctx, "", "", one)
}

// walkInput visits an input and what it holds.
func walkInput(ctx context.Context, in *formats.Input, list []*formats.Format, limits *formats.Limits, depth int, visit Visit) (err error) {
	if in.Limits == nil {
		in.Limits = limits
	}
	f, obj, err := formats.Open(ctx, list, in)
	if err != nil && !formats.Rejects(err) {
		return err
	}
	if obj != nil {
		defer func() { err = errors.Join(err, closeObject(f, obj)) }()
	}
	if err := visit(in, f, obj, err); err != nil || obj == nil || obj.Members == nil {
		return err
	}
	if depth >= limits.Nesting {
		return visit(in, f, nil, &formats.Error{Format: f.Name, Want: fmt.Sprintf("at most %d archives inside each other", limits.Nesting), Err: formats.ErrLimit})
	}
	var ours error // an error of visit, or of reading a member: not the archive's fault
	err = formats.Guard(f.Name, func() error {
		return obj.Members(ctx, func(m *formats.Input) error {
			ours = walkInput(ctx, m, list, limits, depth+1, visit)
			return ours
		})
	})
	if ours == nil && err != nil && formats.Rejects(err) {
		return visit(in, f, nil, err)
	}
	return err
}
