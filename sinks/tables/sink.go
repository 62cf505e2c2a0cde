package tables

import (
	"context"
	"fmt"

	"github.com/symlake/symlake/sinks/bucket"
	"github.com/symlake/symlake/sinks/group"
	"github.com/symlake/symlake/sinks/internal/answers"
	"github.com/symlake/symlake/sinks/internal/opentable"
	"github.com/symlake/symlake/sinks/internal/snapshots"
)

// sinkInputs finds the files of the input's table that the output's table lacks.
func (j *job) sinkInputs(ctx context.Context) (all []*input, err error) {
	t, err := opentable.OpenWhole(ctx, j.o.Input, j.o.Snapshot)
	if err != nil {
		return nil, err
	}
	if t == nil {
		return nil, fmt.Errorf("%s: %w: it is no table of Delta or Iceberg, so the output can be none", j.o.Input.URL(""), opentable.ErrTable)
	}
	j.report.Table = &TableVersion{t.Format, t.Version}
	j.report.Files.Seen = len(t.Files)
	if len(t.Files) > 0 {
		in, err := j.input(ctx, t, &t.Files[0])
		if err != nil {
			return nil, err
		}
		first, err := openParquet(ctx, j, in)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", j.o.Input.URL(t.Files[0].Key), err)
		}
		j.ofStacks = first.shape() == stacks
		if err := first.close(); err != nil {
			return nil, err
		}
	}
	o := &j.o
	j.sink, err = snapshots.Open(ctx, snapshots.Options{Bucket: o.Output, Format: o.OutputTable, Source: t, From: o.Input, Added: answers.Columns(o.Prefix, j.ofStacks),
		Digest: fmt.Sprintf("%q %q %q %q %q %v %d", o.Prefix, o.Columns, o.App, o.Platform, o.Stack.Artifacts, o.Stack.Frame0, group.Version), Again: o.Force, Run: o.Run})
	if err != nil {
		return nil, err
	}
	there := map[string]bool{} // of an earlier run, which died
	if err := o.Output.List(ctx, j.sink.Prefix(), "", func(e bucket.Entry) error { there[e.Key] = true; return nil }); err != nil {
		return nil, fmt.Errorf("list %s: %w", o.Output.URL(""), err)
	}
	for _, f := range j.sink.Files() {
		if there[f.To] {
			continue
		}
		in, err := j.input(ctx, t, &f.File)
		if err != nil {
			return nil, err
		}
		in.to = f.To
		all = append(all, in)
	}
	j.report.Files.Done = j.report.Files.Seen - len(all)
	return all, nil
}

// input is a file of a table.
func (j *job) input(ctx context.Context, t *opentable.Table, f *opentable.File) (*input, error) {
	e, _, err := j.o.Input.Stat(ctx, f.Key)
	if err != nil {
		return nil, fmt.Errorf("a file of the table, %s: %w", j.o.Input.URL(f.Key), err)
	}
	in := &input{entry: e, kind: &kind{openParquet}, values: f.Values, file: f}
	in.to, in.names, in.label = t.Naming(f, j.o.OutputTable == "")
	return in, nil
}

// commit shows the files that were written as a snapshot of the output's table, all or none.
func (j *job) commit(ctx context.Context) error {
	if j.sink == nil {
		return nil
	}
	if n := j.report.Files.Rejected + j.report.Files.Failed; n > 0 {
		return fmt.Errorf("the table at %s stays as it was: %d files of the input could not be read or written", j.o.Output.URL(""), n)
	}
	version, err := j.sink.Commit(ctx)
	if err == nil {
		j.report.Output = &TableVersion{j.o.OutputTable, version}
	}
	return err
}
