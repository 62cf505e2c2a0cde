package build

import (
	"context"
	"errors"
	"fmt"

	"github.com/symlake/symlake/formats"
	"github.com/symlake/symlake/ingest/discover"
	"github.com/symlake/symlake/sinks/bucket"
)

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
