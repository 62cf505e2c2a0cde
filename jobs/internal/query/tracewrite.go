package query

import (
	"bufio"
	"fmt"
	"io"
	"strings"

	"github.com/symlake/symlake/formats/trace"
	"github.com/symlake/symlake/formats/trace/perfetto"
	"github.com/symlake/symlake/formats/trace/speedscope"
	"github.com/symlake/symlake/jobs/internal/session"
	"github.com/symlake/symlake/jobs/internal/term"
	"github.com/symlake/symlake/sinks/hostfile"
)

// labels says what a name of a trace is to be called.
type labels = func(*trace.Name) (trace.Label, error)

// traceFormat is a form that traces are written in.
type traceFormat interface {
	Trace(label labels)
	Event(e *trace.Event) error
	Close() error
}

// traceOutput makes the format that a file's name asks for; nil: it asks for none.
func traceOutput(file string) func(w io.Writer, p *session.Session) traceFormat {
	switch {
	case strings.HasSuffix(file, ".perfetto-trace"):
		return func(w io.Writer, _ *session.Session) traceFormat { return perfetto.New(w) }
	case strings.HasSuffix(file, ".speedscope.json"):
		return func(w io.Writer, p *session.Session) traceFormat { return speedscope.New(w, traceScratch) }
	}
	return nil
}

// traceFile is where the result goes: a file that is there when it is whole, or standard output; or nowhere.
type traceFile struct {
	format traceFormat // nil: nothing is converted
	file   *outFile    // nil: standard output
}

// traceWriter opens the output.
func (j *conversion) traceWriter(p *session.Session) (*traceFile, error) {
	made := traceOutput(j.output)
	switch {
	case made != nil:
	case j.JankStack > 0:
		return &traceFile{}, nil
	default:
		made = func(w io.Writer, _ *session.Session) traceFormat { return &sliceRecords{w: bufio.NewWriter(w)} }
	}
	if j.output == "" {
		return &traceFile{format: made(p.Out, p)}, nil
	}
	f, err := createOut(j.output)
	if err != nil {
		return nil, err
	}
	return &traceFile{format: made(f, p), file: f}, nil
}

func (t *traceFile) trace(label labels) {
	if t.format != nil {
		t.format.Trace(label)
	}
}

func (t *traceFile) event(e *trace.Event) error {
	if t.format == nil {
		return nil
	}
	return t.format.Event(e)
}

// commit ends the output and gives it its name.
func (t *traceFile) commit() error {
	if t.format == nil {
		return nil
	}
	if err := t.format.Close(); err != nil {
		return fmt.Errorf("write output: %w", err)
	}
	if t.file == nil {
		return nil
	}
	return t.file.commit()
}

// abort removes an uncommitted output; after commit it does nothing.
func (t *traceFile) abort() {
	if t.file != nil {
		t.file.abort()
	}
}

// sliceRecords writes a JSON record for each call when it ends, the inner before the outer.
type sliceRecords struct {
	w      *bufio.Writer
	label  labels
	tracks []*trace.Track
	open   [][]sliceJSON // by track
}

// sliceJSON is a call, or a stretch of a state or of waiting; times are nanoseconds on the trace's clock.
type sliceJSON struct {
	Process  string            `json:"process,omitempty"`
	PID      int64             `json:"pid"`
	TID      int64             `json:"tid"`
	Thread   string            `json:"thread,omitempty"`
	Track    string            `json:"track,omitempty"` // "state" or "blocked"; "": calls
	Name     string            `json:"name"`
	Raw      string            `json:"raw,omitempty"` // as the trace called it, where that is something else
	Or       []string          `json:"alternatives,omitempty"`
	Inlined  []string          `json:"inlined,omitempty"`
	File     string            `json:"file,omitempty"`
	Line     uint32            `json:"line,omitempty"`
	Start    int64             `json:"start"`
	End      int64             `json:"end"`
	Depth    int               `json:"depth"` // from 0
	Unclosed bool              `json:"unclosed,omitempty"`
	Args     map[string]string `json:"args,omitempty"`
}

func (s *sliceRecords) Trace(label labels) { s.label, s.tracks, s.open = label, nil, nil }

func (s *sliceRecords) Event(e *trace.Event) error {
	switch e.Kind {
	case trace.NewTrack:
		s.tracks, s.open = append(s.tracks, e.Track), append(s.open, nil)
	case trace.Begin:
		l, err := s.label(e.Name)
		if err != nil {
			return err
		}
		open := &s.open[e.Track.Index]
		r := sliceJSON{PID: e.Track.PID, Process: e.Track.Process, Name: l.Text, Or: l.Or, Inlined: l.Inlined, File: l.File, Line: l.Line, Start: e.Time, Depth: len(*open)}
		thread := e.Track
		if thread.Parent != nil {
			r.Track, thread = thread.Name, thread.Parent
		}
		r.TID, r.Thread, r.Process = thread.TID, thread.Name, thread.Process
		if l.Text != e.Name.Text {
			r.Raw = e.Name.Text
		}
		for _, a := range e.Name.Args {
			if r.Args == nil {
				r.Args = map[string]string{}
			}
			r.Args[a.Key] = a.Value
		}
		*open = append(*open, r)
	case trace.End:
		open := &s.open[e.Track.Index]
		top := len(*open) - 1
		r := (*open)[top]
		*open = (*open)[:top]
		r.End, r.Unclosed = e.Time, e.Unclosed
		return term.WriteJSON(s.w, r)
	}
	return nil
}

func (s *sliceRecords) Close() error { return s.w.Flush() }

// traceScratch is a file without a name for numbers of traces.
func traceScratch() (trace.Scratch, error) {
	f, err := hostfile.Nameless("")
	if err != nil {
		return nil, fmt.Errorf("make scratch file: %w", err)
	}
	return f, nil
}
