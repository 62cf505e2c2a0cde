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
	out := c.answer("text/plain; charset=utf-8")
	err = w.run(func(d *report.Report, answers [][]symbol.Answer) error {
		if err := report.Print(out, d, answers); err != nil || !o.explain {
			return err
		}
		return wire.Explain(c.ctx, out, s.o.Client, d, w.o)
	})
	if err == nil {
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

// records answers with a record a line.
func (s *Server) records(c *call, w *work) error {
	out := c.answer("application/x-ndjson")
	j := wire.NewJSON(out)
	err := w.run(func(d *report.Report, answers [][]symbol.Answer) error {
		if wire.Says(d, answers) {
			wire.WriteStack(j, d, answers, wire.Details{On: w.details})
			if j.Err() == nil {
				out.Write([]byte{'\n'})
			}
		}
		return j.Err()
	})
	if err == nil {
		return out.Finish()
	}
	if out.Begun() {
		why := c.reason(err)
		out.Fail(j.Closing(why), why)
	}
	return err
}
