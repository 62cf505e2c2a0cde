package tables

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/symlake/symlake/formats/symbol"
	"github.com/symlake/symlake/sinks/group"
	"github.com/symlake/symlake/sinks/internal/answers"
	"github.com/symlake/symlake/sinks/internal/arrowmeta"
	"github.com/symlake/symlake/sinks/internal/arrowstream"
	"github.com/symlake/symlake/sinks/internal/pqfile"
	"github.com/symlake/symlake/sinks/lookup"
)

// Keys in the metadata of a schema that Stream writes, as pqfile has them for files.
const (
	streamAnswersKey = "symlake.answers"
	streamGroupsKey  = "symlake.group_version"
)

// Stream answers the rows of Arrow streams, which follow each other in r, and writes a stream with the answers to w for
// each. A record batch of r is one of w, with the same rows, and is written before the next one is needed. A fault of the
// input is ErrInput: the output then ends without the mark of its end. Options of files are not for streams.
func Stream(ctx context.Context, o Options, r io.Reader, w io.Writer) (*Report, error) {
	o = o.withDefaults()
	report := &Report{Job: "symbolicate", Groups: group.Version, Run: o.Run, Started: time.Now().UTC(), Statuses: map[string]uint64{}, Outputs: []string{}, Rejected: []Rejection{}}
	j := &job{o: o, report: report}
	out := &output{Writer: w, statuses: report.Statuses}
	from := arrowstream.NewReader(r)
	var err error
	for err == nil {
		var s *arrowstream.Stream
		if s, err = from.Next(); err == nil {
			err = j.stream(ctx, s, out)
		}
	}
	if errors.Is(err, io.EOF) {
		err = nil
	}
	if errors.Is(err, arrowstream.ErrInput) {
		err = fmt.Errorf("%w: %w", ErrInput, err)
	}
	report.Rows, report.Frames, report.Again, report.Bytes.Written = out.rows, out.frames, out.again, out.n
	report.Seconds = time.Since(report.Started).Seconds()
	report.Recognized, report.Unread = report.Rows-report.Statuses[string(invalid)], j.unread.Load()
	report.Distinct = j.distinct.Load()
	return report, err
}

// stream answers one stream.
func (j *job) stream(ctx context.Context, s *arrowstream.Stream, w *output) error {
	ours := strings.Split(metaOf(s.Schema, streamAnswersKey), ",")
	keep := func(i int) bool { return !slices.Contains(ours, s.Schema.Fields[i].Name) }
	columns, err := findRoles(&j.o, slices.DeleteFunc(s.Leaves(), func(l pqfile.Leaf) bool {
		top, _, _ := strings.Cut(l.Path, ".")
		return slices.Contains(ours, top)
	}), nil)
	if err != nil {
		return err
	}
	all := pqfile.ArrowColumns(answers.Columns(j.o.Prefix, columns.form == stacks).Columns)
	added, err := answers.Choose(all, j.o.Prefix, j.o.Added)
	if err != nil {
		return err
	}
	var names []string
	for _, c := range added {
		names = append(names, c.Name)
	}
	for i, f := range s.Schema.Fields {
		if keep(i) && slices.Contains(names, f.Name) {
			return fmt.Errorf("%w: column %q exists; give --prefix", ErrInput, f.Name)
		}
	}
	s.Use(columns.leaf)
	x := &streamed{j: j, columns: columns, w: w}
	if columns.form == stacks {
		x.stacks = newStackAnswerer(ctx, j, "")
		x.stacks.emit = x.stack
	}
	meta := []arrowmeta.Pair{{Key: streamAnswersKey, Value: strings.Join(names, ",")}, {Key: streamGroupsKey, Value: strconv.Itoa(group.Version)}}
	return x.run(ctx, s, func(buffer *bufio.Writer) (*arrowstream.Writer, error) {
		return arrowstream.NewWriter(buffer, s, keep, added, meta...)
	}, func() *arrowstream.Rows { return arrowstream.NewRows(all, added) })
}

func metaOf(s *arrowmeta.Schema, key string) string {
	for _, p := range s.Meta {
		if p.Key == key {
			return p.Value
		}
	}
	return ""
}

// streamed answers the batches of one stream.
type streamed struct {
	j       *job
	columns roleColumns
	w       *output
	rows    *arrowstream.Rows // of the batch at hand
	stacks  *stackAnswerer    // nil: rows are frames
	frames  *frameCache

	status string // of the last rows
	count  uint64 // how many they are
}

// streamBatch is a batch on its way.
type streamBatch struct {
	*arrowstream.Batch
	rows *arrowstream.Rows
	err  error
}

// run reads a batch ahead, and writes one while the next is answered. It reads before it writes, so a caller may send a batch
// before it takes the schema, and another one before it takes the answer to the first.
func (x *streamed) run(ctx context.Context, s *arrowstream.Stream, begin func(*bufio.Writer) (*arrowstream.Writer, error), newRows func() *arrowstream.Rows) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	read := make(chan streamBatch)
	go func() { // it may still wait for the input when run returns
		defer close(read)
		for {
			b, err := s.Next()
			if errors.Is(err, io.EOF) {
				return
			}
			select {
			case read <- streamBatch{Batch: b, err: err}:
			case <-ctx.Done():
				return
			}
			if err != nil {
				return
			}
		}
	}()
	answered, written := make(chan streamBatch), make(chan error, 1)
	free := make(chan *arrowstream.Rows, 2)
	for range cap(free) {
		free <- newRows()
	}
	buffer := bufio.NewWriterSize(x.w, 1<<20)
	var to *arrowstream.Writer
	go func() {
		var err error
		if to, err = begin(buffer); err == nil {
			err = buffer.Flush()
		}
		for b := range answered {
			if err == nil {
				if err = to.Write(b.Batch, b.rows); err == nil {
					err = buffer.Flush()
				}
			}
			if err != nil {
				cancel()
			}
			if b.rows != nil {
				free <- b.rows
			}
		}
		written <- err
	}()
	err := x.answerAll(ctx, read, answered, free)
	close(answered)
	werr := <-written
	if werr == nil && err == nil {
		werr = errors.Join(to.Close(), buffer.Flush())
	}
	if werr != nil {
		return fmt.Errorf("write the output: %w", werr)
	}
	return err
}

func (x *streamed) answerAll(ctx context.Context, read <-chan streamBatch, answered chan<- streamBatch, free <-chan *arrowstream.Rows) error {
	for {
		var b streamBatch
		var ok bool
		select {
		case b, ok = <-read:
		case <-ctx.Done():
			return ctx.Err()
		}
		if !ok {
			return ctx.Err()
		}
		if b.err != nil {
			return b.err
		}
		if !b.IsDictionary() {
			b.rows = <-free
			b.rows.Reset()
			x.rows = b.rows
			if err := x.answer(ctx, b.Batch); err != nil {
				return err
			}
		}
		answered <- b
	}
}

// answer fills x.rows with the answers of a batch.
func (x *streamed) answer(ctx context.Context, b *arrowstream.Batch) error {
	defer x.told()
	if x.stacks == nil {
		return x.frameRows(ctx, b)
	}
	if x.stacks.table.bytes > batchBytes {
		x.stacks.table.reset()
	}
	r := x.columns.rowNames(b.Cells)
	for i := range b.Rows {
		if err := x.columns.stackRow(x.stacks, &r, b.Cells, i); err != nil {
			return err
		}
	}
	return x.stacks.flush()
}

// tell counts a row.
func (x *streamed) tell(status string, frames uint64) {
	if status != x.status {
		x.told()
		x.status = status
	}
	x.count++
	x.w.frames += frames
}

func (x *streamed) told() {
	if x.count > 0 {
		x.w.count(x.status, x.count, !isFinal(x.status))
	}
	x.count = 0
}

// stack takes the answer of the next row that is a stack.
func (x *streamed) stack(a *answers.Answer) error {
	texts := x.stacks.table.list
	frames := uint64(0)
	if n := len(a.Lines); n > 0 {
		frames = uint64(a.Lines[n-1].Frame) + 1
	}
	x.tell(texts[a.Status], frames)
	return answers.StreamStack(x.rows, a, texts)
}

// frameCache holds answers of places, so a place that comes again is looked up once while there is room.
type frameCache struct {
	places  places
	placer  *placer
	known   map[frameKey]uint32
	answers []answers.Frame
	table   textTable
	namer   group.Namer
	bytes   int
}

type frameKey struct {
	value uint64
	place uint32
}

// frameBytes is about what an answer takes beside its texts, with its key.
const frameBytes = 200

func newFrameCache(ctx context.Context, o *Options) *frameCache {
	c := &frameCache{known: map[frameKey]uint32{}}
	c.places.known = map[placeKey]uint32{}
	c.placer = newPlacer(ctx, o, &c.places)
	c.table.reset()
	return c
}

// frameRows answers a batch of frames.
func (x *streamed) frameRows(ctx context.Context, b *arrowstream.Batch) error {
	c := x.frames
	if c == nil || int64(c.bytes+c.table.bytes) > x.j.o.MemoryBytes {
		c = newFrameCache(ctx, &x.j.o)
		x.frames = c
	}
	r := x.columns.rowNames(b.Cells)
	address, frame := x.columns.cells(RoleAddress, b.Cells), x.columns.cells(RoleFrame, b.Cells)
	of := make([]uint32, b.Rows)
	var asked []frameKey
	first := len(c.answers)
	for i := range of {
		place, value, err := c.placer.frame(r.one(i), address, frame, i)
		if err != nil {
			return err
		}
		key := frameKey{value, place}
		at, ok := c.known[key]
		if !ok {
			at = uint32(first + len(asked))
			c.known[key] = at
			asked = append(asked, key)
		}
		of[i] = at
	}
	if err := x.ask(ctx, c, asked); err != nil {
		return err
	}
	for _, at := range of {
		a := &c.answers[at]
		x.tell(a.Status, 1)
		if err := answers.StreamFrame(x.rows, a); err != nil {
			return err
		}
	}
	return nil
}

// ask looks up places, and appends their answers to the cache.
func (x *streamed) ask(ctx context.Context, c *frameCache, asked []frameKey) error {
	found := make([]*symbol.Answer, len(asked))
	var queries []lookup.Query
	var of []int // by query: its answer
	for i, key := range asked {
		p := &c.places.all[key.place]
		if p.answer != nil {
			found[i] = p.answer
			continue
		}
		queries, of = append(queries, p.query(key.value)), append(of, i)
	}
	if err := x.j.o.Client.Frames(ctx, queries, func(i int, a symbol.Answer) { found[of[i]] = &a }); err != nil {
		return err
	}
	x.j.distinct.Add(uint64(len(queries)))
	text := func(s string) string { return c.table.list[c.table.number(pqfile.Printable(s))] }
	for _, a := range found {
		f := answers.Frame{Status: string(a.Status)}
		if a.Status != symbol.Found {
			f.Reason = text(a.Reason())
		}
		if final(a.Status) {
			var s group.Stack
			s.Add(&c.namer, nil, a, true)
			f.Group = text(s.Group())
		}
		for i := range a.Frames {
			l := &a.Frames[i]
			f.Lines = append(f.Lines, answers.FrameLine{Function: text(l.Readable()), File: text(l.File), Line: pqfile.LineNumber(l.Line), Col: pqfile.LineNumber(l.Column)})
		}
		c.bytes += frameBytes + 40*len(f.Lines)
		c.answers = append(c.answers, f)
	}
	return nil
}
