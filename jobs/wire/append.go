package wire

import (
	"github.com/symlake/symlake/formats/report"
	"github.com/symlake/symlake/formats/symbol"
)

// What follows writes the same JSON as encoding/json without HTML escapes, straight from answers: a server spends most of
// its time there, and reflection took six times as long.

// Says reports whether a stack with its answers, [thread][frame], has a record: some frame of it says something.
func Says(s *report.Report, answers [][]symbol.Answer) bool {
	for t := range s.Threads {
		for f := range s.Threads[t].Frames {
			if !Silent(&s.Threads[t].Frames[f], &answers[t][f]) {
				return true
			}
		}
	}
	return false
}

// WriteStack writes NewStack's JSON as an element, frame by frame, with details, and nothing where Says is false.
func WriteStack(j *JSON, s *report.Report, answers [][]symbol.Answer, d Details) {
	if !Says(s, answers) {
		return
	}
	j.Begin("", '{')
	j.String("format", s.Format())
	d.stack(j, s)
	j.Begin("threads", '[')
	for t := range s.Threads {
		j.Begin("", '{')
		d.thread(j, &s.Threads[t])
		j.Begin("frames", '[')
		for f := range s.Threads[t].Frames {
			frame, a := &s.Threads[t].Frames[f], &answers[t][f]
			if Silent(frame, a) {
				continue
			}
			j.Begin("", '{')
			if raw := s.FrameText(frame); len(raw) > 0 {
				j.Value("raw", func(to []byte) []byte { return AppendString(to, raw) })
			}
			if frame.Trust != "" {
				j.String("trust", string(frame.Trust))
			}
			j.Members(func(to []byte) []byte { return appendStatus(to, a) })
			d.frame(j, frame)
			writeChains(j, a, nil)
			j.End()
		}
		j.End()
		j.End()
	}
	j.End()
	j.End()
}

// appendStatus appends the members status, reason and retry.
func appendStatus(to []byte, a *symbol.Answer) []byte {
	to = AppendString(append(to, `"status":`...), string(a.Status))
	if a.Status != symbol.Found {
		if why := a.Reason(); why != "" {
			to = append(to, `,"reason":`...)
			to = AppendString(to, why)
		}
	}
	if a.Status.Retry() {
		to = append(to, `,"retry":true`...)
	}
	return to
}
