package query

import (
	"fmt"
	"time"

	"github.com/symlake/symlake/formats/trace"
	"github.com/symlake/symlake/jobs/internal/session"
	"github.com/symlake/symlake/jobs/internal/tracenames"
)

// jankJSON is the stack of a jank, innermost call first; times are nanoseconds on the trace's clock.
type jankJSON struct {
	Trace  string      `json:"trace"`
	PID    int64       `json:"pid"`
	TID    int64       `json:"tid"`
	Thread string      `json:"thread,omitempty"`
	Frames []frameJank `json:"frames"`
}

type frameJank struct {
	Name  string   `json:"name"`
	Raw   string   `json:"raw,omitempty"`
	Or    []string `json:"alternatives,omitempty"`
	Start int64    `json:"start"`
	End   int64    `json:"end"`
}

// printJank prints what took long on each thread, innermost call first, as stacks are printed.
func printJank(p *session.Session, j *conversion, l *tracenames.Labeler, found *trace.Jank, name string) error {
	any := false
	err := found.Threads(func(t *trace.Track, long *trace.Long) error {
		any = true
		out := jankJSON{Trace: name, PID: t.PID, TID: t.TID, Thread: t.Name}
		for ; long != nil; long = long.Inner {
			label, err := l.Label(long.Name)
			if err != nil {
				return err
			}
			f := frameJank{Name: label.Text, Or: label.Or, Start: long.Start, End: long.End}
			if label.Text != long.Name.Text {
				f.Raw = long.Name.Text
			}
			out.Frames = append(out.Frames, f)
		}
		if p.Flags.JSON {
			for i, k := 0, len(out.Frames)-1; i < k; i, k = i+1, k-1 {
				out.Frames[i], out.Frames[k] = out.Frames[k], out.Frames[i]
			}
			return p.PrintJSON(out)
		}
		if _, err := fmt.Fprintf(p.Out, "\"%s\" tid=%d of %s\n", t.Name, t.TID, name); err != nil {
			return err
		}
		for i := len(out.Frames) - 1; i >= 0; i-- {
			f := &out.Frames[i]
			if _, err := fmt.Fprintf(p.Out, "    at %s  %v from %v\n", f.Name, time.Duration(f.End-f.Start), time.Duration(f.Start)); err != nil {
				return err
			}
			for _, or := range f.Or {
				if _, err := fmt.Fprintf(p.Out, "    <OR> at %s\n", or); err != nil {
					return err
				}
			}
		}
		return nil
	})
	if err == nil && !any {
		p.Log.Info("no jank", "trace", name, "threshold", j.JankStack.String())
	}
	return err
}
