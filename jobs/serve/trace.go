package serve

import (
	"bytes"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"

	"github.com/symlake/symlake/formats"
	"github.com/symlake/symlake/formats/trace"
	"github.com/symlake/symlake/jobs/internal/tracenames"
	"github.com/symlake/symlake/jobs/wire"
	"github.com/symlake/symlake/sinks/answer"
)

// Memory of a trace beside its body, in bytes: all of it, and the parts of names of mappings, of records to be sorted, and
// of steps that wait for others of their thread. The names of the trace itself are the largest part.
const (
	traceBytes      = 60 << 20
	traceNamesBytes = 8 << 20
	traceSortBytes  = 8 << 20
	traceStepsBytes = 4 << 20
)

const (
	stepsALine  = 2048  // steps of a thread that share a line
	stepsATurn  = 65536 // steps until others have a turn
	sniffTraces = 64 << 10
)

// trace answers a method trace with lines of JSON: names, threads, and what happened on them.
func (s *Server) trace(c *call) error {
	q, err := url.ParseQuery(c.r.URL.RawQuery)
	if err != nil {
		return failed(http.StatusBadRequest, "the query is not encoded as it should be")
	}
	for name, values := range q {
		if !slices.Contains([]string{"app", "artifact"}, name) || len(values) > 1 && name != "artifact" {
			return failed(http.StatusBadRequest, "want app at most once, and artifact")
		}
		for _, v := range values {
			if len(v) > maxNameBytes {
				return failed(http.StatusBadRequest, "a name of more than %d bytes", maxNameBytes)
			}
		}
	}
	text, err := c.text()
	if err != nil {
		return err
	}
	if trace.Sniff(text[:min(len(text), sniffTraces)]) == "" {
		return failed(http.StatusBadRequest, "no method trace: want ART's, Chrome's, Nanoscope's or a ring with its names")
	}
	if err := c.enter(0); err != nil {
		return err
	}
	if err := c.turn.take(traceBytes); err != nil {
		return err
	}
	labels := tracenames.New(tracenames.Options{Ctx: c.ctx, Artifacts: q["artifact"], App: q.Get("app"), Names: traceNamesBytes,
		Open: func() (*answer.Client, func() error, error) { return s.o.Client, nil, nil }})
	w := &traceLines{c: c, labels: labels, out: wire.NewJSON(c.answer("application/x-ndjson"))}
	var report trace.Report
	err = formats.Guard("trace", func() (err error) {
		report, err = trace.Read(c.ctx, bytes.NewReader(text), trace.Options{SortBytes: traceSortBytes}, w.event)
		return err
	})
	c.frames = int(min(report.Slices, 1<<31))
	if err == nil || formats.Rejects(err) {
		err = errors.Join(w.end(&report, err), c.done())
	}
	if err == nil {
		return c.out.Finish()
	}
	if c.out.Begun() {
		why := c.reason(err)
		c.out.Fail(w.out.Closing(why), why)
	}
	return err
}

// traceLines writes the events of a trace, a line of JSON for many steps.
type traceLines struct {
	c      *call
	labels *tracenames.Labeler
	out    *wire.JSON

	names   []int // by trace.Name.ID: number of the name in the answer, and 1; 0: not written yet
	written int   // names
	tracks  []*traceTrack
	steps   int
	held    int // bytes of steps that wait
}

// traceTrack is a thread on its way; nil: the track is not shown.
type traceTrack struct {
	index int
	last  int64  // nanoseconds
	steps []byte // numbers with commas: the time since the step before, and a name's number, -1 where a call ends
	n     int
}

// line ends a line of the answer.
func (w *traceLines) line() error {
	if w.out.Err() == nil {
		w.c.out.Write([]byte{'\n'})
	}
	return w.out.Err()
}

func (w *traceLines) event(e *trace.Event) error {
	switch e.Kind {
	case trace.NewTrack:
		return w.track(e.Track)
	case trace.Forget:
		w.names = w.names[:0]
	case trace.Begin:
		if t := w.tracks[e.Track.Index]; t != nil {
			n, err := w.name(e.Name)
			if err != nil {
				return err
			}
			return w.step(t, e.Time, n)
		}
	case trace.End:
		if t := w.tracks[e.Track.Index]; t != nil {
			return w.step(t, e.Time, -1)
		}
	}
	return nil
}

// track writes a thread.
func (w *traceLines) track(t *trace.Track) error {
	if t.Kind != trace.Thread {
		w.tracks = append(w.tracks, nil)
		return nil
	}
	w.tracks = append(w.tracks, &traceTrack{index: t.Index})
	w.out.Begin("", '{')
	w.out.Begin("thread", '{')
	w.number("index", int64(t.Index))
	w.number("pid", t.PID)
	w.number("tid", t.TID)
	w.out.String("name", t.Name)
	w.out.String("process", t.Process)
	w.out.End()
	w.out.End()
	return w.line()
}

func (w *traceLines) number(name string, n int64) {
	w.out.Value(name, func(to []byte) []byte { return strconv.AppendInt(to, n, 10) })
}

// name returns a name's number in the answer, and writes the name the first time.
func (w *traceLines) name(n *trace.Name) (int, error) {
	for int(n.ID) >= len(w.names) {
		w.names = append(w.names, 0)
	}
	if known := w.names[n.ID]; known > 0 {
		return known - 1, nil
	}
	label, err := w.labels.Label(n)
	if err != nil {
		return 0, err
	}
	w.out.Begin("", '{')
	w.out.Begin("name", '{')
	w.number("index", int64(w.written))
	w.out.String("text", label.Text)
	if label.Text != n.Text {
		w.out.String("raw", n.Text)
	}
	if label.File != "" {
		w.out.String("file", label.File)
		w.number("line", int64(label.Line))
	}
	for member, all := range map[string][]string{"alternatives": label.Or, "inlined": label.Inlined} {
		if len(all) == 0 {
			continue
		}
		w.out.Begin(member, '[')
		for _, one := range all {
			w.out.String("", one)
		}
		w.out.End()
	}
	w.out.End()
	w.out.End()
	w.written++
	w.names[n.ID] = w.written
	return w.written - 1, w.line()
}

// step notes what happened on a thread.
func (w *traceLines) step(t *traceTrack, at int64, name int) error {
	before := len(t.steps)
	if t.n > 0 {
		t.steps = append(t.steps, ',')
	}
	t.steps = strconv.AppendInt(t.steps, at-t.last, 10)
	t.steps = strconv.AppendInt(append(t.steps, ','), int64(name), 10)
	t.last = at
	w.held += len(t.steps) - before
	if t.n++; t.n >= stepsALine {
		if err := w.flush(t); err != nil {
			return err
		}
	}
	if w.held > traceStepsBytes { // many threads with few steps each
		if err := w.flushAll(); err != nil {
			return err
		}
	}
	if w.steps++; w.steps%stepsATurn == 0 {
		if err := w.c.done(); err != nil {
			return err
		}
		return w.c.turn.yield()
	}
	return nil
}

// flush writes the steps of a thread.
func (w *traceLines) flush(t *traceTrack) error {
	if t.n == 0 {
		return nil
	}
	w.out.Begin("", '{')
	w.number("on", int64(t.index))
	w.out.Value("steps", func(to []byte) []byte { return append(append(append(to, '['), t.steps...), ']') })
	w.out.End()
	w.held -= len(t.steps)
	t.steps, t.n = nil, 0
	return w.line()
}

// flushAll writes the steps of all threads.
func (w *traceLines) flushAll() error {
	for _, t := range w.tracks {
		if t == nil {
			continue
		}
		if err := w.flush(t); err != nil {
			return err
		}
	}
	return nil
}

// end writes the steps that wait, and what the trace was. why says why it could not be read to its end.
func (w *traceLines) end(r *trace.Report, why error) error {
	if err := w.flushAll(); err != nil {
		return err
	}
	w.out.Begin("", '{')
	w.out.Begin("trace", '{')
	w.out.String("format", r.Format)
	w.number("calls", int64(r.Slices))
	w.out.Begin("notes", '[')
	for _, n := range r.Notes {
		w.out.String("", n)
	}
	for _, note := range []struct {
		n    uint64
		text string
	}{{r.Lost, "calls have no exit"}, {r.TooDeep, "calls are too deep to be shown"}, {r.Bad, "records make no sense"}, {r.Clipped, "calls outlived the call around them"}} {
		if note.n > 0 {
			w.out.String("", fmt.Sprintf("%d %s", note.n, note.text))
		}
	}
	if why != nil {
		w.out.String("", "the trace ends early: "+why.Error())
	}
	w.out.End()
	w.out.End()
	w.out.End()
	return w.line()
}
