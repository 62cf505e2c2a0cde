package serve

import (
	"bytes"
	"errors"
	"net/http"
	"net/url"
	"slices"

	"github.com/symlake/symlake/formats"
	"github.com/symlake/symlake/formats/trace"
	"github.com/symlake/symlake/jobs/internal/tracenames"
	"github.com/symlake/symlake/jobs/serve/tracelines"
	"github.com/symlake/symlake/sinks/answer"
)

// Memory of a trace beside its body, in bytes: all of it, and the parts of names of mappings and of records to be sorted.
// The names of the trace itself are the largest part.
const (
	traceBytes      = 60 << 20
	traceNamesBytes = 8 << 20
	traceSortBytes  = 8 << 20
)

const sniffTraces = 64 << 10

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
	w := tracelines.New(c.answer("application/x-ndjson"), labels, func() error {
		if err := c.done(); err != nil {
			return err
		}
		return c.turn.yield()
	})
	var report trace.Report
	err = formats.Guard("trace", func() (err error) {
		report, err = trace.Read(c.ctx, bytes.NewReader(text), trace.Options{SortBytes: traceSortBytes}, w.Event)
		return err
	})
	c.frames = int(min(report.Slices, 1<<31))
	if err == nil || formats.Rejects(err) {
		err = errors.Join(w.End(&report, err), c.done())
	}
	if err == nil {
		return c.out.Finish()
	}
	if c.out.Begun() {
		why := c.reason(err)
		c.out.Fail(w.Closing(why), why)
	}
	return err
}
