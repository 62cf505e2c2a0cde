package query

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"net/url"

	"github.com/symlake/symlake/formats/report"
	"github.com/symlake/symlake/formats/report/all"
	"github.com/symlake/symlake/formats/symbol"
	"github.com/symlake/symlake/jobs/internal/session"
	"github.com/symlake/symlake/jobs/remote"
	"github.com/symlake/symlake/jobs/wire"
	"github.com/symlake/symlake/sinks/lookup"
)

// symbolAnswer undoes wire.NewAnswer, as far as text forms need it.
func symbolAnswer(a *wire.Answer, demangle bool) (out symbol.Answer, excerpts []lookup.Excerpt) {
	out.Status = a.Status
	if a.Reason != "" {
		out.Err = errors.New(a.Reason)
	}
	for _, f := range a.Frames {
		if !demangle {
			f.Function = f.Linkage
		}
		out.Frames = append(out.Frames, symbol.Frame{Function: f.Function, Linkage: f.Linkage, File: f.File, Line: f.Line, Column: f.Column, Name: f.Name, Ignored: f.Ignored, Compiled: f.Compiled})
		var x lookup.Excerpt
		if f.Context != nil {
			x = lookup.Excerpt{First: f.Context.First, Lines: f.Context.Lines}
		}
		excerpts = append(excerpts, x)
	}
	return out, excerpts
}

// remoteText is how much text is sent at once: whole dumps, as they come.
const remoteText = 1 << 20

// sendStacks has a server symbolicate all of r, and counts its frames. Dumps are parted here, and not in their middle, so
// a log may be of any length.
func sendStacks(p *session.Session, client *remote.Client, q url.Values, o report.Options, r io.Reader, w *bufio.Writer) (*wire.Summary, error) {
	var text bytes.Buffer
	counts, part := new(wire.Summary), new(wire.Summary)
	flush := func() error {
		if text.Len() == 0 {
			return nil
		}
		out, said, err := client.Symbolicate(p.Ctx, text.Bytes(), q)
		if err != nil {
			return p.Refusal(err)
		}
		text.Reset()
		if q.Get("output") == "records" {
			out = withoutSummary(out)
		}
		if said == nil { // an older server counts nothing
			part.End()
			said = part
		}
		counts.Merge(said)
		part = new(wire.Summary)
		if _, err = w.Write(out); err != nil {
			return err
		}
		return w.Flush()
	}
	err := report.Split(p.Ctx, r, all.Dialects, o, func(s *report.Report) error {
		part.Add(s, nil)
		text.Write(s.Text)
		if text.Len() < remoteText {
			return nil
		}
		return flush()
	})
	if err != nil {
		return counts, err
	}
	return counts, flush()
}

// withoutSummary returns records without a summary behind them: the counts of a part are of no use.
func withoutSummary(records []byte) []byte {
	last := bytes.LastIndexByte(bytes.TrimSuffix(records, []byte{'\n'}), '\n') + 1
	var s struct{ Recognized *int }
	if json.Unmarshal(records[last:], &s) == nil && s.Recognized != nil {
		return records[:last]
	}
	return records
}
