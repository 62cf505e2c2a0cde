package tables

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/symlake/symlake/sinks/bucket"
	"github.com/symlake/symlake/sinks/internal/jsonline"
)

// failed notes the fate of a file. It returns an error that is not the file's fault.
func (j *job) failed(ctx context.Context, in *input, err error) error {
	if err == nil {
		return nil
	}
	if ctx.Err() != nil {
		return ctx.Err()
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	url := j.o.Input.URL(in.entry.Key)
	list := &j.report.Failed
	switch {
	case errors.Is(err, ErrInput), errors.Is(err, jsonline.ErrLines):
		j.report.Files.Rejected++
		list = &j.report.Rejected
	case errors.Is(err, bucket.ErrChanged), errors.Is(err, bucket.ErrNotFound):
		j.report.Files.Failed++
	default:
		return fmt.Errorf("%s: %w", url, err)
	}
	if len(*list) < maxTold {
		*list = append(*list, Rejection{url, err.Error()})
	} else {
		j.report.Untold++
	}
	if j.o.Progress != nil {
		j.o.Progress(Event{Step: "write", URL: url, Files: j.report.Files.Written, Of: j.pending, Err: err})
	}
	return nil
}

// errAborted ends a file that lacks rows.
var errAborted = errors.New("the rows could not all be written")

// output writes the output of a file, whole or not at all.
func (j *job) output(ctx context.Context, in *input, write func(w *output) error) error {
	r, pipe := io.Pipe()
	w := &output{Writer: pipe, statuses: map[string]uint64{}}
	made := make(chan error, 1)
	etag := ""
	if in.old != nil {
		etag = in.old.ETag
	}
	go func() {
		err := j.o.Output.Create(ctx, in.to, etag, r)
		r.CloseWithError(err) // the writer must not wait for a reader that is gone
		made <- err
	}()
	err := write(w)
	if err != nil {
		pipe.CloseWithError(errAborted)
		if cerr := <-made; cerr != nil && !errors.Is(cerr, errAborted) {
			return createError(j, in, cerr)
		}
		return err
	}
	pipe.Close()
	if err := <-made; err != nil {
		return createError(j, in, err)
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	rep := j.report
	rep.Files.Written++
	rep.Rows += w.rows
	rep.Frames += w.frames
	rep.Again += w.again
	for s, n := range w.statuses {
		rep.Statuses[s] += n
	}
	rep.Bytes.Read += in.entry.Size
	rep.Bytes.Written += w.n
	if url := j.o.Output.URL(in.to); len(rep.Outputs) < maxTold {
		rep.Outputs = append(rep.Outputs, url)
	} else {
		rep.Untold++
	}
	if j.o.Progress != nil {
		j.o.Progress(Event{Step: "write", URL: j.o.Input.URL(in.entry.Key), Rows: w.rows, Files: rep.Files.Written, Of: j.pending})
	}
	return nil
}

func createError(j *job, in *input, err error) error {
	if j.sink != nil && errors.Is(err, bucket.ErrChanged) {
		return nil // another run wrote the same rows
	}
	if errors.Is(err, bucket.ErrChanged) {
		return fmt.Errorf("another process wrote %s meanwhile: %w", j.o.Output.URL(in.to), err)
	}
	return fmt.Errorf("write %s: %w", j.o.Output.URL(in.to), err)
}

// stacks writes the output of a file with a stack in each row.
func (j *job) stacks(ctx context.Context, in *input, t table) error {
	return j.output(ctx, in, func(w *output) error {
		return t.stacks(ctx, newStackAnswerer(ctx, j, in.entry.Key), w)
	})
}
