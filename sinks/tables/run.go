package tables

import (
	"context"
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/symlake/symlake/sinks/bucket"
	"github.com/symlake/symlake/sinks/group"
	"github.com/symlake/symlake/sinks/internal/opentable"
	"github.com/symlake/symlake/sinks/scratch"
)

// Run answers the rows of every input without an output, or with an output older than the input. It returns the report of
// its work with an error too.
func Run(ctx context.Context, o Options) (*Report, error) {
	o = o.withDefaults()
	j := &job{o: o, report: &Report{Job: "symbolicate", Groups: group.Version, Run: o.Run, Shard: o.Shard, Started: time.Now().UTC(), Statuses: map[string]uint64{}, Outputs: []string{}, Rejected: []Rejection{}}}
	if o.DiskBytes > 0 {
		j.disk = scratch.NewBudget(o.DiskBytes)
	}
	err := j.run(ctx)
	j.report.Seconds = time.Since(j.report.Started).Seconds()
	j.report.Recognized, j.report.Unread = j.report.Rows-j.report.Statuses[string(invalid)], j.unread.Load()
	j.report.Bytes.Spilled, j.report.Distinct = j.spilled.Load(), j.distinct.Load()
	return j.report, err
}

func (j *job) run(ctx context.Context) error {
	todo, err := j.list(ctx)
	if err != nil {
		return err
	}
	j.pending = len(todo)
	for len(todo) > 0 {
		if todo, err = j.next(ctx, todo); err != nil {
			return err
		}
	}
	return j.commit(ctx)
}

// list finds the inputs that are to be answered, in the order of their keys.
func (j *job) list(ctx context.Context) ([]*input, error) {
	all, err := j.inputs(ctx)
	if err != nil || j.sink != nil {
		return all, err
	}
	return j.undone(ctx, all)
}

// inputs finds all inputs.
func (j *job) inputs(ctx context.Context) ([]*input, error) {
	var all []*input
	if j.o.OutputTable != "" {
		return j.sinkInputs(ctx)
	}
	if j.o.Tables && j.o.Key == "" {
		t, err := opentable.Open(ctx, j.o.Input, j.o.Snapshot)
		if t != nil {
			return j.tableInputs(ctx, t)
		}
		if err != nil {
			return nil, err
		}
	}
	add := func(e bucket.Entry) error {
		k := kindByName(e.Key)
		if j.o.Take != nil && !j.o.Take(e.Key) {
			return nil
		}
		j.report.Files.Seen++
		if k == nil {
			j.report.Files.Skipped++
			return nil
		}
		all = append(all, &input{entry: e, to: e.Key, kind: k})
		return nil
	}
	if j.o.Key != "" {
		e, _, err := j.o.Input.Stat(ctx, j.o.Key)
		if err != nil {
			return nil, err
		}
		if err := add(e); err != nil {
			return nil, err
		}
		if j.o.OutputKey != "" && len(all) > 0 {
			all[0].to = j.o.OutputKey
		}
	} else if err := j.o.Input.List(ctx, "", "", add); err != nil {
		return nil, fmt.Errorf("list %s: %w", j.o.Input.URL(""), err)
	}
	return all, nil
}

// tableInputs finds the files of a table.
func (j *job) tableInputs(ctx context.Context, t *opentable.Table) (all []*input, err error) {
	j.report.Table = &TableVersion{t.Format, t.Version}
	for _, f := range t.Files {
		if j.o.Take != nil && !j.o.Take(f.Key) {
			continue
		}
		in, err := j.input(ctx, t, &f)
		if err != nil {
			return nil, err
		}
		j.report.Files.Seen++
		all = append(all, in)
	}
	return all, nil
}

// undone leaves out inputs that have an output.
func (j *job) undone(ctx context.Context, all []*input) ([]*input, error) {
	there := map[string]bucket.Entry{}
	if j.o.OutputKey != "" {
		if e, _, err := j.o.Output.Stat(ctx, j.o.OutputKey); err == nil {
			there[e.Key] = e
		} else if !errors.Is(err, bucket.ErrNotFound) {
			return nil, err
		}
	} else if err := j.o.Output.List(ctx, "", "", func(e bucket.Entry) error { there[e.Key] = e; return nil }); err != nil {
		return nil, fmt.Errorf("list %s: %w", j.o.Output.URL(""), err)
	}
	todo := all[:0]
	for _, in := range all {
		if e, ok := there[in.to]; ok {
			if !j.o.Force && !e.Modified.Before(in.entry.Modified) {
				j.report.Files.Done++
				continue
			}
			in.old = &e
		}
		todo = append(todo, in)
	}
	slices.SortFunc(todo, func(a, b *input) int { return strings.Compare(a.entry.Key, b.entry.Key) })
	return todo, nil
}

// maxUnitFiles bounds the files of a unit, which are open together.
const maxUnitFiles = 256

// next does a file of stacks, or a unit of files of frames, and returns the files that are left.
func (j *job) next(ctx context.Context, todo []*input) ([]*input, error) {
	var files []*input
	var rows int64
	defer func() {
		for _, in := range files {
			in.close()
		}
	}()
	for len(todo) > 0 && rows < j.o.UnitRows && len(files) < maxUnitFiles {
		in := todo[0]
		t, err := in.kind.open(ctx, j, in)
		if err != nil {
			if err := j.failed(ctx, in, err); err != nil {
				return nil, err
			}
			todo = todo[1:]
			continue
		}
		if t.shape() == stacks {
			if len(files) > 0 { // first those before it
				t.close()
				break
			}
			err := errors.Join(j.stacks(ctx, in, t), t.close())
			return todo[1:], j.failed(ctx, in, err)
		}
		in.table = t
		files = append(files, in)
		rows += t.rows()
		todo = todo[1:]
	}
	if len(files) == 0 {
		return todo, nil
	}
	return todo, j.unit(ctx, files)
}

// unit takes files of frames through the three steps.
func (j *job) unit(ctx context.Context, files []*input) (err error) {
	u, err := j.newUnit()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, u.close()) }()
	if files, err = j.readAll(ctx, u, files); err != nil {
		return err
	}
	if err := u.answerAll(ctx); err != nil {
		return err
	}
	return j.writeAll(ctx, u, files)
}

// readAll takes the frames of files, and gives those files that could be read.
func (j *job) readAll(ctx context.Context, u *unit, files []*input) ([]*input, error) {
	type part struct {
		in   *input
		part int
	}
	work := make(chan part)
	bad := make(map[*input]bool)
	g, gctx := errgroup.WithContext(ctx)
	g.Go(func() error {
		defer close(work)
		for _, in := range files {
			n, err := in.table.parts(u, in)
			if err != nil {
				return err
			}
			for k := range n {
				select {
				case work <- part{in, k}:
				case <-gctx.Done():
					return gctx.Err()
				}
			}
		}
		return nil
	})
	for range j.o.Workers {
		l := u.newLane(gctx)
		g.Go(func() error {
			defer l.end()
			for w := range work {
				err := w.in.table.read(gctx, l, w.in, w.part)
				if err == nil {
					continue
				}
				j.mu.Lock()
				again := bad[w.in]
				bad[w.in] = true
				j.mu.Unlock()
				if again {
					continue
				}
				if err := j.failed(gctx, w.in, err); err != nil {
					return err
				}
			}
			return nil
		})
	}
	err := g.Wait()
	var good []*input
	for _, in := range files {
		if !bad[in] {
			good = append(good, in)
		}
	}
	return good, err
}

// writeAll writes the outputs of files: several at once, or of one file, its segments one ahead.
func (j *job) writeAll(ctx context.Context, u *unit, files []*input) error {
	g, gctx := errgroup.WithContext(ctx)
	g.SetLimit(j.o.Workers)
	for _, in := range files {
		g.Go(func() error {
			err := j.output(gctx, in, func(w *output) error { return in.table.write(gctx, u, in, w) })
			return j.failed(gctx, in, err)
		})
	}
	return g.Wait()
}

// kindByName finds the kind of a file by its extension; nil: none.
func kindByName(key string) *kind {
	name := strings.ToLower(path.Base(key))
	for _, compressed := range []string{".gz", ".zst"} {
		if cut, ok := strings.CutSuffix(name, compressed); ok && (strings.HasSuffix(cut, ".ndjson") || strings.HasSuffix(cut, ".jsonl")) {
			name = cut
			break
		}
	}
	switch path.Ext(name) {
	case ".parquet":
		return &kind{openParquet}
	case ".ndjson", ".jsonl":
		return &kind{openJSON}
	}
	return nil
}

// Known reports whether a file is read, by its name.
func Known(name string) bool { return kindByName(name) != nil }
