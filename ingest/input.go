package ingest

import (
	"context"
	"errors"
	"io"

	"github.com/symlake/symlake/formats"
	"github.com/symlake/symlake/sinks/bucket"
	"github.com/symlake/symlake/sinks/scratch"
)

// openInput opens an entry of a bucket: mapped where it lies if it is a local
// file; else its head is read, and Fetch brings the whole of it.
func (j *job) openInput(ctx context.Context, b bucket.Bucket, e bucket.Entry) (*formats.Input, error) {
	r, err := b.Open(ctx, e)
	if err != nil {
		return nil, err
	}
	sp := &scratch.Spool{Budget: j.budget, Dir: j.o.Scratch, Disk: j.disk, Limits: &j.o.Limits}
	in := &formats.Input{Name: b.URL(e.Key), Size: e.Size, Limits: &j.o.Limits, Bytes: r, Mapped: r.Mapped(), Release: r.Close}
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

// spooler is the Spool of an input: what it spools can spool in turn, and asks
// for companions the same way.
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
