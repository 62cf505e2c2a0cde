package wire

import (
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/symlake/symlake/formats/report"
	"github.com/symlake/symlake/formats/symbol"
	"github.com/symlake/symlake/sinks/answer"
)

// Explain prints, for each frame of a stack, the way from its text to its row.
func Explain(ctx context.Context, w io.Writer, client *answer.Client, s *report.Report, o answer.Options) error {
	return client.Explain(ctx, s, o, func(t, f int, x *answer.Explanation) error {
		if _, err := fmt.Fprintf(w, "explain thread %d frame %d\n", t, f); err != nil {
			return err
		}
		return writeExplanation(w, x)
	})
}

// writeExplanation prints the way of one frame from its text to its row, a step a line.
func writeExplanation(w io.Writer, e *answer.Explanation) (err error) {
	line := func(what, format string, args ...any) {
		if err == nil {
			_, err = fmt.Fprintf(w, "  %-9s %s\n", what, fmt.Sprintf(format, args...))
		}
	}
	line("text", "%s", strings.TrimSpace(e.Text))
	for _, t := range e.Tried {
		line("tried", "%s: %s", t.Name, t.Status)
	}
	if e.Artifact != (symbol.ID{}) {
		line("artifact", "%s (%s)", e.Artifact, e.Canonical)
	}
	if e.Load != "" {
		line("load", "%s by %s parser %d", e.Load, e.Format, e.Parser)
		line("object", "%s %s", e.Object, e.Member)
	}
	for _, l := range e.Ledger {
		line("ledger", "%s: %s %s", l.URL, l.State, l.Reason)
	}
	for _, m := range e.Missing {
		line("missing", "%s", m)
	}
	for _, same := range e.SameFile {
		line("same file", "%s %s (%s) from %s", same.ID, same.Canonical, same.Arch, same.Object)
	}
	if e.Class != "" {
		line("class", "%s in row %d", e.Class, e.Row)
	} else {
		line("reported", "%#x", e.Raw)
		if e.Trust != "" {
			line("found by", "%s", e.Trust)
		}
		line("stepped", "%#x", e.Stepped.Value)
	}
	if e.Located {
		line("position", "+%#x in row %d, [+%#x, +%#x)", e.Position, e.Row, e.Start, e.End)
	}
	if e.Status == symbol.Found {
		line("status", "%s", e.Status)
	} else {
		line("status", "%s: %s", e.Status, symbol.Answer{Status: e.Status, Err: e.Err}.Reason())
	}
	return err
}
