package wire

import (
	"context"

	"github.com/symlake/symlake/formats/report"
	"github.com/symlake/symlake/formats/symbol"
	"github.com/symlake/symlake/sinks/answer"
)

// Stack is a stack as --json prints it.
type Stack struct {
	Format  string   `json:"format"`
	Threads []Thread `json:"threads"`
}

// Thread is one thread of it, innermost frame first.
type Thread struct {
	Frames []Answer `json:"frames"`
}

// NewStack is a stack with its answers, [thread][frame]; nil if no frame of it says anything.
func NewStack(s *report.Report, answers [][]symbol.Answer) *Stack {
	out := Stack{Format: s.Format(), Threads: []Thread{}}
	some := false
	for t, thread := range s.Threads {
		frames := []Answer{}
		for f, frame := range thread.Frames {
			if Silent(&frame, &answers[t][f]) {
				continue
			}
			a := NewAnswer(answers[t][f])
			a.Raw, a.Trust = string(s.FrameText(&frame)), frame.Trust
			frames = append(frames, a)
		}
		out.Threads = append(out.Threads, Thread{frames})
		some = some || len(frames) > 0
	}
	if !some {
		return nil
	}
	return &out
}

// Excerpts adds the source of each frame, up to around lines before and behind its own, where there is any. s and
// answers are what NewStack was given, o is how they were answered.
func (x *Stack) Excerpts(ctx context.Context, client *answer.Client, s *report.Report, answers [][]symbol.Answer, o answer.Options, around uint32) error {
	at := 0 // the frame of the record at hand
	last := -1
	return client.Explain(ctx, s, o, func(t, f int, way *answer.Explanation) error {
		if t != last {
			at, last = 0, t
		}
		frame := &s.Threads[t].Frames[f]
		if Silent(frame, &answers[t][f]) {
			return nil
		}
		lines := x.Threads[t].Frames[at].Frames
		at++
		if frame.Script == nil {
			return nil
		}
		for i := range lines {
			e, err := client.Excerpt(ctx, way.Artifact, lines[i].File, lines[i].Line, around)
			if err != nil {
				return err
			}
			lines[i].Context = NewContext(e.First, e.Lines)
		}
		return nil
	})
}

// Silent reports whether a frame has no record: its line might have named a class, and did not.
func Silent(f *report.Frame, a *symbol.Answer) bool {
	m := f.Managed
	return m != nil && m.Method == "" && m.Field == "" && a.Status == symbol.Hole
}
