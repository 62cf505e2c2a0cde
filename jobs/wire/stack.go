package wire

import (
	"github.com/symlake/symlake/formats/stack"
	"github.com/symlake/symlake/formats/symbol"
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
func NewStack(s *stack.Stack, answers [][]symbol.Answer) *Stack {
	out := Stack{Format: s.Format, Threads: []Thread{}}
	some := false
	for t, thread := range s.Threads {
		frames := []Answer{}
		for f, frame := range thread.Frames {
			if silent(&frame, &answers[t][f]) {
				continue
			}
			a := NewAnswer(answers[t][f])
			a.Raw = string(s.FrameText(&frame))
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

// silent: a line that may have named a class, and did not.
func silent(f *stack.Frame, a *symbol.Answer) bool {
	m := f.Managed
	return m != nil && m.Method == "" && m.Field == "" && a.Status == symbol.Hole
}
