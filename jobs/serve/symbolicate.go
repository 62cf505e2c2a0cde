package serve

import (
	"bytes"
	"io"
	"net/http"

	"github.com/symlake/symlake/formats/report"
	"github.com/symlake/symlake/formats/symbol"
	"github.com/symlake/symlake/jobs/wire"
)

// symbolicate answers raw stacks: many as JSON, or one dump or log as text with options in the query.
func (s *Server) symbolicate(c *call) error {
	switch c.mediaType() {
	case "application/json":
		return s.symbolicateJSON(c)
	case "text/plain", "application/octet-stream", "application/x-www-form-urlencoded": // what curl --data-binary says
		return s.symbolicateText(c)
	}
	return failed(http.StatusUnsupportedMediaType, "want Content-Type application/json or text/plain")
}

// symbolicateText answers with the text, its frames replaced, or with a record a stack.
func (s *Server) symbolicateText(c *call) error {
	o, err := parseOptions(c)
	if err != nil {
		return err
	}
	text, err := c.text()
	if err != nil {
		return err
	}
	if err := c.enter(0); err != nil {
		return err
	}
	w, err := s.newWork(c, 0, &o.raw, len(text), func() io.Reader { return bytes.NewReader(text) })
	if err != nil {
		return err
	}
	c.stacks++
	if s.mayExceed(len(text)) {
		if _, err := w.countFrames(0); err != nil {
			return err
		}
	}
	if w.details = o.details; o.output == "records" {
		return s.records(c, w)
	}
	out := c.answerNoted("text/plain; charset=utf-8", wire.SummaryHeader)
	counts := new(wire.Summary)
	err = w.run(func(d *report.Report, answers [][]symbol.Answer) error {
		counts.Add(d, answers)
		if err := report.Print(out, d, answers); err != nil || !o.explain {
			return err
		}
		return wire.Explain(c.ctx, out, s.o.Client, d, w.o)
	})
	if err == nil {
		out.Annotate(described(counts).Header())
		return out.Finish()
	}
	if out.Begun() {
		why := c.reason(err)
		text := "symlake: error: " + why.reason + "\n"
		if !out.Ended() {
			text = "\n" + text
		}
		out.Fail([]byte(text), why)
	}
	return err
}

// records answers with a record a line. The last one has the counts if nothing was recognized or a part stayed unread.
func (s *Server) records(c *call, w *work) error {
	out := c.answerNoted("application/x-ndjson", wire.SummaryHeader)
	j := wire.NewJSON(out)
	counts := new(wire.Summary)
	err := w.run(func(d *report.Report, answers [][]symbol.Answer) error {
		counts.Add(d, answers)
		if wire.Says(d, answers) {
			wire.WriteStack(j, d, answers, wire.Details{On: w.details})
			if j.Err() == nil {
				out.Write([]byte{'\n'})
			}
		}
		return j.Err()
	})
	if err == nil && described(counts).Notable() {
		_, err = out.Write(counts.AppendRecord(nil))
	}
	if err == nil {
		out.Annotate(counts.Header())
		return out.Finish()
	}
	if out.Begun() {
		why := c.reason(err)
		out.Fail(j.Closing(why), why)
	}
	return err
}
