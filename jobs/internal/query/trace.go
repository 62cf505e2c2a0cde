package query

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/symlake/symlake/formats"
	"github.com/symlake/symlake/formats/trace"
	"github.com/symlake/symlake/jobs/internal/collector"
	"github.com/symlake/symlake/jobs/internal/exit"
	"github.com/symlake/symlake/jobs/internal/session"
	"github.com/symlake/symlake/jobs/internal/tracenames"
	"github.com/symlake/symlake/sinks/answer"
)

// traceInput is a file that is a trace, or may be one.
type traceInput struct {
	name string // for messages
	path string // "": standard input
	r    io.Reader
}

// newTraceInput returns the input of a name; - is standard input.
func newTraceInput(path string) *traceInput {
	if path == "-" {
		return &traceInput{name: "standard input"}
	}
	return &traceInput{name: path, path: path}
}

// source returns the name of the input among sources.
func (i *traceInput) source() string { return cmp.Or(i.path, "-") }

// beside opens the file beside a trace.
func (i *traceInput) beside(suffix string, replace bool) (io.ReadCloser, error) {
	if i.path == "" {
		return nil, nil
	}
	path := i.path
	if replace {
		path = strings.TrimSuffix(path, filepath.Ext(path))
	}
	f, err := os.Open(path + suffix)
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	} else if err != nil {
		return nil, err
	}
	return f, nil
}

// isTrace reports whether a file is a trace, by its beginning and the files beside it.
func (i *traceInput) isTrace(from *sources) (bool, error) {
	head, err := from.head(i.source())
	if err != nil {
		return false, err
	}
	if trace.Sniff(head) != "" {
		return true, nil
	}
	f, err := i.beside(trace.SymbolsSuffix, true)
	if f == nil || err != nil {
		return false, err
	}
	return true, f.Close()
}

// traces converts the inputs, if they are traces; done is false if none of them is.
func (j *conversion) traces(p *session.Session, from *sources) (done bool, err error) {
	if err := j.traceFlags.check(); err != nil {
		return true, err
	}
	wanted := j.JankStack > 0 || traceOutput(j.output) != nil
	found, other := "", ""
	if len(j.files) == 0 {
		j.files = []string{"-"}
	}
	for _, path := range j.files {
		in := newTraceInput(path)
		is, err := in.isTrace(from)
		switch {
		case err != nil:
			return true, err
		case is && found == "":
			found = in.name
		case !is && other == "":
			other = in.name
		}
	}
	switch {
	case found == "" && !wanted:
		return false, nil
	case found == "":
		return true, exit.Usage("%s is no method trace", other)
	case other != "":
		return true, exit.Usage("%s is a method trace, %s is none: one after the other", found, other)
	case !wanted && filepath.Ext(j.output) != ".ndjson" && !j.json:
		return true, exit.Usage("%s is a method trace: give --output FILE.perfetto-trace, .speedscope.json or .ndjson, or --jank-stack", found)
	}
	return true, j.convert(p, from)
}

// traceMemoryBytes bound a conversion with the collector's room beside it: names, records to be sorted, the client's
// caches. The process stays below 128 MiB.
const traceMemoryBytes = 56 << 20

// convert reads the traces once and writes all that is wanted of them.
func (j *conversion) convert(p *session.Session, from *sources) (err error) {
	p.Collector.Use(collector.Trace, traceMemoryBytes)
	labels := tracenames.New(tracenames.Options{Ctx: p.Ctx, Artifacts: j.artifacts, App: j.app, All: j.exploded, Warn: p.Log.Warn,
		Open: func() (*answer.Client, func() error, error) { return j.client(tracenames.CacheBytes) }})
	defer func() { err = errors.Join(err, labels.Close()) }()
	out, err := j.traceWriter(p)
	if err != nil {
		return err
	}
	defer out.abort()
	var rejected []error
	short := false
	meter := newMeter(p, j.files, j.output)
	defer meter.stop()
	one := func(i *traceInput, pid int64) error {
		var jank *trace.Jank
		if j.JankStack > 0 {
			jank = trace.NewJank(int64(j.JankStack), int64(j.From), int64(j.To))
		}
		out.trace(labels.Label)
		o := trace.Options{Name: strings.TrimSuffix(filepath.Base(i.name), filepath.Ext(i.name)), PID: pid, Beside: i.beside, Scratch: traceScratch}
		var report trace.Report
		err := formats.Guard("trace", func() (err error) {
			report, err = trace.Read(p.Ctx, meter.reader(i.name, i.r), o, func(e *trace.Event) error {
				if jank != nil {
					if err := jank.Event(e); err != nil {
						return err
					}
				}
				return out.event(e)
			})
			return err
		})
		if err != nil && !formats.Rejects(err) {
			return fmt.Errorf("%s: %w", i.name, err)
		} else if err != nil {
			rejected = append(rejected, fmt.Errorf("%s: %w", i.name, err))
		}
		logTrace(p, i.name, &report)
		if report.Slices == 0 {
			p.Log.Warn("no call was recognized", "input", i.name)
		}
		short = short || report.Slices == 0 || report.Bad > 0 || report.TooDeep > 0
		if jank != nil {
			return printJank(p, j, labels, jank, i.name)
		}
		return nil
	}
	for n, path := range j.files {
		in := newTraceInput(path)
		f, closeFile, oerr := from.open(path)
		if oerr != nil {
			return oerr
		}
		in.r = f
		err = one(in, int64(n)+1)
		closeFile()
		if err != nil {
			break
		}
	}
	if err != nil {
		return err
	}
	if err := out.commit(); err != nil {
		return err
	}
	if len(rejected) > 0 {
		return &exit.Error{Code: exit.Rejected, Err: errors.Join(rejected...)}
	}
	if j.strict && short {
		return &exit.Error{Code: exit.Rejected, Err: errors.New("--strict: not every call of the traces was recognized")}
	}
	return nil
}

// logTrace logs the counts of a trace: as a warning, if the output lacks something of it.
func logTrace(p *session.Session, name string, r *trace.Report) {
	attrs := []any{"trace", name, "format", r.Format, "calls", r.Slices}
	lost := false
	for _, c := range []struct {
		key   string
		n     uint64
		warns bool
	}{
		{"exits_without_entry", r.Orphans, false}, {"unclosed", r.Unclosed, false}, {"without_exit", r.Lost, false},
		{"times_moved", r.Backward, true}, {"clipped", r.Clipped, true}, {"too_deep", r.TooDeep, true}, {"not_shown", r.Passed, true}, {"bad", r.Bad, true},
	} {
		if c.n > 0 {
			attrs = append(attrs, c.key, c.n)
			lost = lost || c.warns
		}
	}
	if r.FirstBad != nil {
		attrs = append(attrs, "first_bad", r.FirstBad.Error())
	}
	if len(r.Notes) > 0 {
		attrs = append(attrs, "notes", r.Notes)
		lost = true
	}
	if lost {
		p.Log.Warn("trace", attrs...)
	} else {
		p.Log.Info("trace", attrs...)
	}
}
