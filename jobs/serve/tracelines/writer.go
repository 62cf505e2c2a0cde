// Package tracelines writes a method trace as lines of JSON: names, threads, and what happened on them.
package tracelines

import (
	"fmt"
	"io"
	"strconv"

	"github.com/symlake/symlake/formats/trace"
	"github.com/symlake/symlake/jobs/internal/tracenames"
	"github.com/symlake/symlake/jobs/wire"
)

const (
	stepsALine = 2048    // steps of a thread that share a line
	stepsATurn = 65536   // steps until others have a turn
	stepsBytes = 4 << 20 // of steps that wait for others of their thread
)

// Writer writes the events of one trace, a line of JSON for many steps.
type Writer struct {
	labels *tracenames.Labeler
	to     io.Writer
	out    *wire.JSON
	turn   func() error // lets others have a turn

	names   []int // by trace.Name.ID: number of the name in the answer, and 1; 0: not written yet
	written int   // names
	tracks  []*track
	steps   int
	held    int // bytes of steps that wait
}

// track is a thread on its way; nil: the track is not shown.
type track struct {
	index int
	last  int64  // nanoseconds
	steps []byte // numbers with commas: the time since the step before, and a name's number, -1 where a call ends
	n     int
}

// New returns a writer to an answer. turn is called from time to time: it lets others have a turn.
func New(to io.Writer, labels *tracenames.Labeler, turn func() error) *Writer {
	return &Writer{labels: labels, to: to, out: wire.NewJSON(to), turn: turn}
}

// Closing returns the text that ends an answer under way, with the reason.
func (w *Writer) Closing(why error) []byte { return w.out.Closing(why) }

// line ends a line of the answer.
func (w *Writer) line() error {
	if w.out.Err() == nil {
		w.to.Write([]byte{'\n'})
	}
	return w.out.Err()
}

// Event writes an event. The error is of the writer, of a look-up, or of the turn.
func (w *Writer) Event(e *trace.Event) error {
	switch e.Kind {
	case trace.NewTrack:
		return w.thread(e.Track)
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

// thread writes a thread.
func (w *Writer) thread(t *trace.Track) error {
	if t.Kind != trace.Thread {
		w.tracks = append(w.tracks, nil)
		return nil
	}
	w.tracks = append(w.tracks, &track{index: t.Index})
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

func (w *Writer) number(name string, n int64) {
	w.out.Value(name, func(to []byte) []byte { return strconv.AppendInt(to, n, 10) })
}

// name returns a name's number in the answer, and writes the name the first time.
func (w *Writer) name(n *trace.Name) (int, error) {
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
func (w *Writer) step(t *track, at int64, name int) error {
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
	if w.held > stepsBytes { // many threads with few steps each
		if err := w.flushAll(); err != nil {
			return err
		}
	}
	if w.steps++; w.steps%stepsATurn == 0 {
		return w.turn()
	}
	return nil
}

// flush writes the steps of a thread.
func (w *Writer) flush(t *track) error {
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
func (w *Writer) flushAll() error {
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

// End writes the steps that wait, and what the trace was. why says why it could not be read to its end.
func (w *Writer) End(r *trace.Report, why error) error {
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
